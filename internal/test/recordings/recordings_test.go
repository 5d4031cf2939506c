package recordings_test

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

var write = flag.Bool("write", false, "write the recordings instead of comparing them")

const (
	root = "../../.."
	kept = root + "/internal/recorded/testdata"
)

// Each example has the same output against the host and against its recording, and the recording is what the host
// returns.
func TestTheRecordingsAreTheHostsAnswers(t *testing.T) {
	r, address := newRecorder(t)
	test := []string{"test", "-count=1", "-vet=off", "-timeout=1m", "-run=^Example"}
	examples := exec.CommandContext(t.Context(), "go",
		append(test, ".", "./dapi", "./appapi", "./refapi", "./public")...)
	examples.Dir = root
	examples.Env = append(os.Environ(), recorded.RecorderVariable+"="+address)
	said, err := examples.CombinedOutput()
	require.NoError(t, err, "the examples against the host:\n%s", said)

	found := map[string]string{}
	for example, host := range r.hosts {
		text, err := recorded.Marshal(host.recording)
		require.NoError(t, err)
		found[example+".json"] = string(text)
	}
	require.NotEmpty(t, found, "no example asked for a host")
	index, err := recorded.Marshal(indexOf(r.hosts))
	require.NoError(t, err)
	found[recorded.IndexName] = string(index)
	if *write {
		keep(t, found)
	}
	want := readKept(t)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if difference := firstDifference(want[name], found[name]); difference != "" {
			t.Errorf("internal/recorded/testdata/%s differs from what the host responds now; if the host is right, "+
				"run make recordings\n%s", name, difference)
		}
	}
	for name := range want {
		assert.Contains(t, found, name, "this recording is of no example: make recordings")
	}
}

// firstDifference shows where two texts begin to differ, with the lines before it, or returns "" for equal ones.
func firstDifference(want, got string) string {
	if want == got {
		return ""
	}
	const before, after = 12, 6
	wanted, gotten := strings.Split(want, "\n"), strings.Split(got, "\n")
	at := 0
	for at < min(len(wanted), len(gotten)) && wanted[at] == gotten[at] {
		at++
	}
	var shown strings.Builder
	show := func(mark string, lines []string) {
		for _, line := range lines {
			fmt.Fprintf(&shown, "%s %s\n", mark, line)
		}
	}
	show(" ", wanted[max(0, at-before):at])
	show("-", wanted[at:min(at+after, len(wanted))])
	show("+", gotten[at:min(at+after, len(gotten))])
	return shown.String()
}

// keep replaces the recordings.
func keep(t *testing.T, recordings map[string]string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(kept))
	for name, text := range recordings {
		path := filepath.Join(kept, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func readKept(t *testing.T) map[string]string {
	t.Helper()
	recordings := map[string]string{}
	tree := os.DirFS(kept)
	require.NoError(t, fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".json") {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		recordings[name] = string(text)
		return err
	}))
	return recordings
}
