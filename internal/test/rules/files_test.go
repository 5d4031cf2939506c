package rules_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
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

// Only sources are kept here, and no file is large. git says what is kept: also a file that was added by force, or
// before its name was ignored.
func TestNoProgramAndNoLargeFileIsKept(t *testing.T) {
	tier.Long(t, "starts git")
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("needs a clone, whose index says what is kept; make check in a clone runs it")
	}
	kept, err := exec.CommandContext(t.Context(), "git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z").Output()
	require.NoError(t, err)
	names := strings.Split(strings.TrimSuffix(string(kept), "\x00"), "\x00")
	require.Greater(t, len(names), 1_000, "git lists next to nothing")
	for _, name := range names {
		problem, err := whyNotKept(os.DirFS(root), name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was removed, and that is not committed yet
		}
		require.NoError(t, err)
		assert.Empty(t, problem, name)
	}
}

// whyNotKept returns what is wrong with a file of a tree, or "".
func whyNotKept(tree fs.FS, name string) (problem string, err error) {
	file, err := tree.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
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
	const runs = "executable, and no script that begins with #!"
	tests := map[string]struct {
		content string
		mode    fs.FileMode
		want    string
	}{
		"a source":                {"package a\n", 0o644, ""},
		"a script":                {"#!/bin/sh\n", 0o755, ""},
		"an empty file":           {"", 0o644, ""},
		"ELF":                     {"\x7fELF\x02", 0o644, "a built program"},
		"PE":                      {"MZ\x90", 0o755, "a built program"},
		"Mach-O":                  {"\xcf\xfa\xed\xfe\x07", 0o755, "a built program"},
		"Mach-O, universal":       {"\xca\xfe\xba\xbe\x00", 0o755, "a built program"},
		"a source that runs":      {"package a\n", 0o755, runs},
		"an empty file that runs": {"", 0o700, runs},
		"as large as can be":      {strings.Repeat("a", maxBytes), 0o644, ""},
		"too large":               {strings.Repeat("a", maxBytes+1), 0o644, "more than 1 MB"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{"a/a": {Data: []byte(test.content), Mode: test.mode}}
			found, err := whyNotKept(tree, "a/a")
			require.NoError(t, err)
			assert.Equal(t, test.want, found)
		})
	}
}
