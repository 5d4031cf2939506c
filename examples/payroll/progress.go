package main

import (
	"fmt"
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
)

// progress draws a bar that moves each time done is called; end ends its line. It draws nothing into a file or a pipe.
func progress(out io.Writer, people int, terminal bool) (done, end func()) {
	if !terminal {
		return func() {}, func() {}
	}
	bar := progressbar.NewOptions(people, progressbar.OptionSetWriter(out), progressbar.OptionSetDescription("paying"),
		progressbar.OptionShowCount(), progressbar.OptionSetWidth(30), progressbar.OptionSetPredictTime(true))
	return func() { _ = bar.Add(1) }, func() { fmt.Fprintln(out) }
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
