// Package done ends the minimal programs.
package done

import (
	"fmt"
	"io"
	"os"
)

// With prints that a program has read its resource, or ends the program with an error. Then it waits until standard
// input ends, so that whoever started the program can look at it.
func With(read any, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("%T\n", read)
	_, _ = io.Copy(io.Discard, os.Stdin)
}
