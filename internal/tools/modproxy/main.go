// Modproxy writes the modules of this repository, as its files are now, to a folder that works as GOPROXY. So a version
// can be tried the way users get it, before it is tagged.
//
//	modproxy -root ../.. -version v0.1.0 -o /tmp/proxy . sandbox signing/wallet
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	root := flag.String("root", ".", "the folder of the repository")
	version := flag.String("version", "", "the version to serve, such as v0.1.0")
	out := flag.String("o", "", "the folder to write to")
	flag.Parse()
	if *version == "" || *out == "" || flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	for _, folder := range flag.Args() {
		if err := serve(context.Background(), *root, folder, *version, *out); err != nil {
			fmt.Fprintf(os.Stderr, "modproxy: %s: %v\n", folder, err)
			os.Exit(1)
		}
	}
}

// serve writes the files of one version of one module.
func serve(ctx context.Context, root, folder, version, out string) (err error) {
	source := filepath.Join(root, folder)
	text, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return err
	}
	m := module.Version{Path: modfile.ModulePath(text), Version: version}
	escaped, err := module.EscapePath(m.Path)
	if err != nil {
		return err
	}
	files, err := filesOf(ctx, root, folder)
	if err != nil {
		return err
	}
	versions := filepath.Join(out, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := zip.Create(&archive, m, files); err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Now().UTC().Format(time.RFC3339))
	for name, content := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": []byte(info), version + ".mod": text,
		version + ".zip": archive.Bytes(),
	} {
		err = errors.Join(err, os.WriteFile(filepath.Join(versions, name), content, 0o644))
	}
	return err
}

// filesOf lists the files below a folder that git would commit. The zip package leaves out files of modules below it.
func filesOf(ctx context.Context, root, folder string) ([]zip.File, error) {
	// In a container, the tree may belong to another user. With these settings, git runs no program that the tree
	// names.
	list := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "-c", "core.fsmonitor=false",
		"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder)
	list.Dir = root
	list.Stderr = os.Stderr
	names, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	if len(names) == 0 {
		return nil, errors.New("git would commit no file of it")
	}
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimRight(string(names), "\x00"), "\x00") {
		path := filepath.Join(root, filepath.FromSlash(name))
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			continue // removed, but not committed yet
		}
		inside, err := filepath.Rel(filepath.FromSlash(folder), filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		files = append(files, file{path: filepath.ToSlash(inside), source: path})
	}
	return files, nil
}

// file implements zip.File.
type file struct{ path, source string }

func (f file) Path() string                 { return f.path }
func (f file) Lstat() (os.FileInfo, error)  { return os.Lstat(f.source) }
func (f file) Open() (io.ReadCloser, error) { return os.Open(f.source) }
