// Command api writes the exported API of modules as text, one file for each package that programs can import. The files
// beside it are committed, so that a review shows each change of the API: `make api-write` writes them, and `make api`
// compares.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// root is the module whose path begins the paths of the others.
const root = "github.com/moneymovement/moneymovement-go"

func main() {
	log.SetFlags(0)
	folder := flag.String("o", ".", "folder for the files")
	flag.Parse()
	texts, err := describe(flag.Args())
	for name, text := range texts {
		err = errors.Join(err, os.WriteFile(filepath.Join(*folder, name), text, 0o644))
	}
	if err != nil {
		log.Fatal("api: ", err)
	}
}

// describe returns the text of each package below the folders, by the name of its file. It reads the compiler's export
// data.
func describe(folders []string) (map[string][]byte, error) {
	list := exec.CommandContext(context.Background(), "go", "list", "-buildvcs=false", "-deps", "-export", "-f",
		"{{.ImportPath}}|{{.Name}}|{{.Export}}|{{.DepOnly}}")
	for _, folder := range folders {
		list.Args = append(list.Args, "./"+folder+"/...")
	}
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	exports := map[string]string{}
	var paths []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		exports[fields[0]] = fields[2]
		if fields[1] != "main" && fields[3] == "false" && !internal(fields[0]) {
			paths = append(paths, fields[0])
		}
	}
	if len(paths) == 0 {
		return nil, errors.New("found no package")
	}
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	texts := map[string][]byte{}
	for _, path := range paths {
		pkg, err := from.Import(path)
		if err != nil {
			return nil, err
		}
		texts[fileName(path)] = textOf(pkg)
	}
	return texts, nil
}

// internal reports a package that programs cannot import.
func internal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// fileName returns dapi.txt for package dapi, and signing.wallet.txt for signing/wallet.
func fileName(path string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
	if name == "" {
		name = filepath.Base(root)
	}
	return strings.ReplaceAll(name, "/", ".") + ".txt"
}
