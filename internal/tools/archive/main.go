// Command archive writes archives whose bytes depend on nothing but the names and the content of their files, and
// checksums:
//
//	archive -o moneymove.tar.gz moneymove LICENSE    # or a name that ends in .zip
//	archive -sums dist                               # writes dist/SHA256SUMS, of all files of the folder
//
// Times are those of the first day of 1980, the owner is nobody in particular, and the first file can be run.
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// epoch is the earliest time that a zip archive can hold.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

const sums = "SHA256SUMS"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "archive:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("archive", flag.ContinueOnError)
	archive := flags.String("o", "", "archive to write, .tar.gz or .zip")
	folder := flags.String("sums", "", "folder to write "+sums+" for")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case *folder != "" && flags.NArg() == 0:
		return writeSums(*folder)
	case strings.HasSuffix(*archive, ".tar.gz") && flags.NArg() > 0:
		return write(*archive, flags.Args(), tarball)
	case strings.HasSuffix(*archive, ".zip") && flags.NArg() > 0:
		return write(*archive, flags.Args(), zipped)
	}
	return errors.New("usage: archive -o archive file... | archive -sums folder")
}

// entry is a file of an archive.
type entry struct {
	name    string
	mode    os.FileMode
	content []byte
}

func write(archive string, files []string, form func(io.Writer, []entry) error) error {
	var entries []entry
	for i, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if i == 0 {
			mode = 0o755
		}
		entries = append(entries, entry{filepath.Base(name), mode, content})
	}
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	return errors.Join(form(file, entries), file.Close())
}

func tarball(w io.Writer, entries []entry) error {
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	for _, e := range entries {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: e.name, Mode: int64(e.mode), Size: int64(len(e.content)),
			ModTime: epoch, Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(e.content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func zipped(w io.Writer, entries []entry) error {
	archive := zip.NewWriter(w)
	for _, e := range entries {
		header := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: epoch}
		header.SetMode(e.mode)
		file, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := file.Write(e.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// writeSums writes the file that `sha256sum -c` reads.
func writeSums(folder string) error {
	files, err := os.ReadDir(folder) // sorted
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, file := range files {
		if file.Name() == sums || file.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(folder, file.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), file.Name())
	}
	return os.WriteFile(filepath.Join(folder, sums), []byte(lines.String()), 0o644)
}
