package rules_test

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	// root is the folder of the repository.
	root = "../../.."
	// module is the path of the root module. Those of the others of this repository begin with it.
	module = "github.com/moneymovement/moneymovement-go"
)

// generated is the line that the Go tools know generated code by.
var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// skipped reports a folder without files that people write here. build and heyapi are what interop makes.
func skipped(folder string) bool {
	return slices.Contains([]string{".git", "bin", "build", "dist", "heyapi", "node_modules", "testdata"}, folder)
}

// handWritten picks the kinds of file that people write here. Generated Go is among them, and told apart later.
func handWritten(name string) bool {
	return slices.Contains([]string{".go", ".md", ".tmpl", ".ts", ".yaml", ".yml"}, path.Ext(name)) ||
		path.Base(name) == "Makefile" || path.Dir(name) == ".ci"
}

// eachFile reads the files of a tree that people write, and returns how many there are.
func eachFile(t *testing.T, tree fs.FS, look func(name string, content []byte)) (files int) {
	t.Helper()
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && skipped(entry.Name()):
			return fs.SkipDir
		case entry.IsDir() || !handWritten(name):
			return nil
		}
		files++
		content, err := fs.ReadFile(tree, name)
		look(name, content)
		return err
	}))
	return files
}
