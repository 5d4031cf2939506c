package rules_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// maxBytes of a file stay in the history of the repository, and everybody fetches them.
const maxBytes = 1_000_000

// programs begin with one of these: ELF, PE, and Mach-O for one processor or more of either byte order.
var programs = []string{
	"\x7fELF", "MZ", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe",
	"\xbe\xba\xfe\xca",
}

// Only sources are kept here, and no file is large.
func TestNoProgramAndNoLargeFileIsKept(t *testing.T) {
	found, files := unkept(t, os.DirFS(root))
	require.Greater(t, files, 1_000, "the walk found next to nothing")
	assert.Empty(t, found)
}

// unkept returns which files of a tree do not belong into the repository, and how many it looked at. It skips what git
// ignores.
func unkept(t *testing.T, tree fs.FS) (found []string, files int) {
	t.Helper()
	ignored := map[string][]string{} // the lines of a folder's .gitignore
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		folder := entry != nil && entry.IsDir()
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git" || entry.Name() == "node_modules" || ignores(ignored, name, folder):
			if folder {
				return fs.SkipDir
			}
			return nil
		case folder:
			list, err := fs.ReadFile(tree, path.Join(name, ".gitignore"))
			if ignored[name] = strings.Fields(string(list)); errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		files++
		problem, err := whyNotKept(tree, name, entry)
		if problem != "" {
			found = append(found, name+": "+problem)
		}
		return err
	}))
	return found, files
}

// ignores reports whether git ignores a file or a folder.
func ignores(ignored map[string][]string, name string, folder bool) bool {
	for at, lines := range ignored {
		inside, is := strings.CutPrefix(name, strings.TrimPrefix(at+"/", "./"))
		if is && slices.ContainsFunc(lines, func(line string) bool { return names(line, "/"+inside, folder) }) {
			return true
		}
	}
	return false
}

// names reports whether a line of .gitignore names a path. It knows the forms of lines that are in use here.
func names(line, inside string, folder bool) bool {
	line, onlyFolders := strings.CutSuffix(line, "/")
	if onlyFolders && !folder {
		return false
	}
	if deep, is := strings.CutPrefix(line, "**"); is {
		return strings.HasSuffix(inside, deep)
	}
	if !strings.HasPrefix(line, "/") {
		inside = path.Base(inside)
	}
	matched, _ := path.Match(line, inside)
	return matched
}

func whyNotKept(tree fs.FS, name string, entry fs.DirEntry) (problem string, err error) {
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	file, err := tree.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	head, err := io.ReadAll(io.LimitReader(file, 4))
	begins := func(with string) bool { return bytes.HasPrefix(head, []byte(with)) }
	switch {
	case slices.ContainsFunc(programs, begins):
		return "a built program", err
	case info.Mode()&0o111 != 0 && !begins("#!"):
		return "executable, and no script that begins with #!", err
	case info.Size() > maxBytes:
		return "more than 1 MB", err
	}
	return "", err
}

func TestFilesThatAreNotKeptAreFound(t *testing.T) {
	tree := func(name string, file *fstest.MapFile) fstest.MapFS {
		return fstest.MapFS{name: file, ".gitignore": {Data: []byte("/bin/\n/moneymove\n**/testdata/rapid/\n*.test\n")},
			"c/.gitignore": {Data: []byte("/build/\n")}}
	}
	tests := map[string]struct {
		name, content string
		mode          fs.FileMode
		want          []string
	}{
		"a source":          {"a/a.go", "package a\n", 0o644, nil},
		"a script":          {"a/run", "#!/bin/sh\n", 0o755, nil},
		"an empty file":     {"a/a.txt", "", 0o644, nil},
		"ELF":               {"a/testdata/a", "\x7fELF\x02", 0o644, []string{"a/testdata/a: a built program"}},
		"PE":                {"a/a.exe", "MZ\x90", 0o755, []string{"a/a.exe: a built program"}},
		"Mach-O":            {"a/a", "\xcf\xfa\xed\xfe\x07", 0o755, []string{"a/a: a built program"}},
		"Mach-O, universal": {"a/a", "\xca\xfe\xba\xbe\x00", 0o755, []string{"a/a: a built program"}},
		"a source that runs": {"a/a.go", "package a\n", 0o755,
			[]string{"a/a.go: executable, and no script that begins with #!"}},
		"an empty file that runs": {"a/a", "", 0o700,
			[]string{"a/a: executable, and no script that begins with #!"}},
		"as large as can be": {"a/a.txt", strings.Repeat("a", maxBytes), 0o644, nil},
		"too large": {"a/a.txt", strings.Repeat("a", maxBytes+1), 0o644,
			[]string{"a/a.txt: more than 1 MB"}},
		"ignored at the root":    {"moneymove", "\x7fELF", 0o755, nil},
		"not ignored below it":   {"cmd/moneymove", "\x7fELF", 0o755, []string{"cmd/moneymove: a built program"}},
		"ignored by its ending":  {"a/b/b.test", "\x7fELF", 0o755, nil},
		"in an ignored folder":   {"bin/a", "\x7fELF", 0o755, nil},
		"in such a folder below": {"a/bin/a", "\x7fELF", 0o755, []string{"a/bin/a: a built program"}},
		"not a folder":           {"bin", "\x7fELF", 0o755, []string{"bin: a built program"}},
		"ignored anywhere":       {"a/testdata/rapid/a", "\x7fELF", 0o755, nil},
		"a name that ends so": {"a/mytestdata/rapid/a", "\x7fELF", 0o755,
			[]string{"a/mytestdata/rapid/a: a built program"}},
		"ignored by a folder": {"c/build/a", "\x7fELF", 0o755, nil},
		"deeper in it":        {"c/c/build/a", "\x7fELF", 0o755, []string{"c/c/build/a: a built program"}},
		"in another folder":   {"cbuild/a", "\x7fELF", 0o755, []string{"cbuild/a: a built program"}},
		"what npm installed":  {"a/node_modules/a", "\x7fELF", 0o755, nil},
		"what git keeps":      {".git/a", "\x7fELF", 0o755, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			found, _ := unkept(t, tree(test.name, &fstest.MapFile{Data: []byte(test.content), Mode: test.mode}))
			assert.Equal(t, test.want, found)
		})
	}
}

// A file that was added before its name was ignored, or by force, stays tracked. The walk above does not look at it.
func TestNothingThatGitIgnoresIsTracked(t *testing.T) {
	tier.Long(t, "starts git")
	tracked, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "--cached", "--ignored",
		"--exclude-standard").Output()
	if err != nil {
		t.Skipf("needs git and a clone that it accepts (%v); make check runs it there", err)
	}
	assert.Empty(t, string(tracked))
}
