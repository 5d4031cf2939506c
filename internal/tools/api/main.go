// Command api writes the exported API of modules as text, one file for each package that programs can import. The
// files are committed, so that a review shows each change of the API. With -w it writes the files (`make api-write`).
// Without it, it compares them (`make api`).
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"log"
	"maps"
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
	write := flag.Bool("w", false, "write the files")
	folder := flag.String("o", "internal/tools/api", "folder of the files")
	flag.Parse()
	texts, err := describe(flag.Args())
	if err == nil && *write {
		err = save(*folder, texts)
	} else if err == nil {
		err = compare(*folder, texts)
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

// save writes the files, and removes those of deleted packages.
func save(folder string, texts map[string][]byte) error {
	old, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if texts[filepath.Base(name)] == nil {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compare fails if the files differ, and prints the lines that differ.
func compare(folder string, texts map[string][]byte) error {
	written := map[string][]byte{}
	old, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if written[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	names := slices.Concat(slices.Collect(maps.Keys(texts)), slices.Collect(maps.Keys(written)))
	slices.Sort(names)
	differs := false
	for _, name := range slices.Compact(names) {
		lines := difference(written[name], texts[name])
		if len(lines) == 0 && (written[name] == nil) == (texts[name] == nil) {
			continue
		}
		differs = true
		fmt.Printf("%s:\n%s", filepath.Join(folder, name), strings.Join(lines, ""))
	}
	if differs {
		return errors.New("the exported API differs from the files. If the change is meant, run 'make api-write', " +
			"commit the files, and name the change in CHANGELOG.md")
	}
	fmt.Printf("The exported API of %d packages is as %s says.\n", len(texts), folder)
	return nil
}

// difference returns the removed lines, with a minus, and the added lines, with a plus. Each line appears once.
func difference(before, after []byte) (lines []string) {
	had, has := bytes.SplitAfter(before, []byte("\n")), bytes.SplitAfter(after, []byte("\n"))
	in := func(all [][]byte, line []byte) bool {
		return slices.ContainsFunc(all, func(other []byte) bool { return bytes.Equal(line, other) })
	}
	for _, line := range had {
		if !in(has, line) {
			lines = append(lines, "-"+string(line))
		}
	}
	for _, line := range has {
		if !in(had, line) {
			lines = append(lines, "+"+string(line))
		}
	}
	return lines
}
