package report

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// WriteFiles writes both forms of the report into a folder, which it makes: summary.txt for people, report.json for
// programs.
func (r *Report) WriteFiles(folder string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	return errors.Join(writeFile(filepath.Join(folder, "summary.txt"), r.WriteText),
		writeFile(filepath.Join(folder, "report.json"), r.WriteJSON))
}

func writeFile(name string, write func(io.Writer) error) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}
