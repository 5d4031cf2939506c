package sessionfile_test

import (
	"bytes"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/sessionfile"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// secret is a session.
var secret = []byte(`{"accessToken":"access-token-of-everything"}`)

func TestFileKeepsASession(t *testing.T) {
	store := sessionfile.New(filepath.Join(t.TempDir(), "session"))
	none, err := store.Load(t.Context())
	require.NoError(t, err, "a file that is not there holds no session")
	assert.Nil(t, none)

	require.NoError(t, store.Save(t.Context(), secret))
	got, err := store.Load(t.Context())
	require.NoError(t, err)
	assert.Equal(t, string(secret), string(got))
}

func TestFileIsReadableByItsOwnerOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, sessionfile.New(path).Save(t.Context(), secret))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
}

func TestEmptyFileHoldsNoSession(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	none, err := sessionfile.New(path).Load(t.Context())
	require.NoError(t, err)
	assert.Nil(t, none)
}

// A later version finds what this one stored: two slots of 320 KiB, each with a mark, 44 bytes that show whether it is
// complete, and the session.
func TestFormatOfASessionFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	store := sessionfile.New(path)
	for range 2 {
		require.NoError(t, store.Save(t.Context(), secret))
	}
	written, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, at := range []int{0, 320 << 10} {
		require.Greater(t, len(written), at+52)
		assert.Equal(t, "session1", string(written[at:at+8]))
		assert.True(t, bytes.HasPrefix(written[at+52:], secret))
	}
}

// requireKept saves a session where something else was, and loads it.
func requireKept(t *testing.T, store *sessionfile.File) {
	t.Helper()
	require.NoError(t, store.Save(t.Context(), secret))
	got, err := store.Load(t.Context())
	require.NoError(t, err)
	require.Equal(t, string(secret), string(got))
}

func TestInvalidPathsOfASessionFile(t *testing.T) {
	t.Run("no such directory", func(t *testing.T) {
		store := sessionfile.New(filepath.Join(t.TempDir(), "none", "session"))
		require.ErrorIs(t, store.Save(t.Context(), secret), fs.ErrNotExist)
	})
	t.Run("a directory in its place", func(t *testing.T) {
		directory := t.TempDir()
		store := sessionfile.New(directory)
		_, err := store.Load(t.Context())
		require.Error(t, err)
		require.Error(t, store.Save(t.Context(), secret))
		left, err := os.ReadDir(filepath.Dir(directory))
		require.NoError(t, err)
		assert.Len(t, left, 1, "nothing is left behind")
	})
}

// A file with other content is neither read nor overwritten, even if it begins like a session's file.
func TestForeignFileIsNotOverwritten(t *testing.T) {
	whole := sessionFile(t)
	for name, content := range map[string][]byte{
		"a token":                  []byte("access-token-of-everything"),
		"zeros, then text":         append(make([]byte, 16), "access-token-of-everything"...),
		"the beginning of a mark":  []byte("sessions of-everything"),
		"longer than two sessions": append(whole, make([]byte, 1<<20)...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			store := sessionfile.New(path)
			_, err := store.Load(t.Context())
			require.ErrorContains(t, err, path+": it holds something else than a session: use another path")
			assert.NotContains(t, err.Error(), "of-everything")
			require.EqualError(t, store.Save(t.Context(), secret), err.Error())
			kept, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(content, kept))
		})
	}
}

// A session's file without a complete session is written again in place, so that a link or a mount stays.
func TestDamagedSessionFileIsWrittenAgain(t *testing.T) {
	whole := sessionFile(t)
	wrong, long := bytes.Clone(whole), bytes.Clone(whole)
	wrong[60]++
	copy(long[16:], "\xff\xff\xff\xff") // the length
	for name, content := range map[string][]byte{
		"cut off in the mark": whole[:5], "cut off in the header": whole[:30], "cut off": whole[:70],
		"zeros": make([]byte, 100), "another byte": wrong, "a length of 4 GiB": long,
		"zeros before an incomplete one": append(make([]byte, 320<<10), whole[:70]...),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			require.NoError(t, os.WriteFile(path, content, 0o600))
			before, err := os.Stat(path)
			require.NoError(t, err)
			store := sessionfile.New(path)
			_, err = store.Load(t.Context())
			require.ErrorContains(t, err, path+": it has no complete session: the next login writes one")
			requireKept(t, store)
			after, err := os.Stat(path)
			require.NoError(t, err)
			assert.True(t, os.SameFile(before, after))
		})
	}
}

// sessionFile returns the content of a file with one session.
func sessionFile(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session")
	requireKept(t, sessionfile.New(path))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return content
}

func TestSessionIsReplacedAsAWhole(t *testing.T) {
	directory := t.TempDir()
	path := filepath.Join(directory, "session")
	short, long := secret, bytes.Repeat([]byte("long"), 2_500)
	require.NoError(t, sessionfile.New(path).Save(t.Context(), short))

	var processes sync.WaitGroup
	for i := range 16 {
		processes.Go(func() {
			store := sessionfile.New(path) // each process has its own
			for range 10 {
				session := short
				if i%2 == 0 {
					session = long
				}
				assert.NoError(t, store.Save(t.Context(), session))
				got, err := store.Load(t.Context())
				assert.NoError(t, err)
				assert.True(t, bytes.Equal(got, short) || bytes.Equal(got, long), "one session or the other")
			}
		})
	}
	processes.Wait()
	left, err := os.ReadDir(directory)
	require.NoError(t, err)
	assert.Len(t, left, 1, "no temporary file is left behind")
}

// A file that is longer than two sessions is not read, and neither is a slot with a wrong length.
func TestFileIsReadOnlyAsFarAsSessionsReach(t *testing.T) {
	whole := sessionFile(t)
	lying := bytes.Clone(whole)
	copy(lying[16:], "\xff\xff\xff\xff") // the length
	for name, file := range map[string]struct {
		data []byte
		size int64
	}{"1 GiB": {whole, 1 << 30}, "a length of 4 GiB": {lying, int64(len(lying))}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "session")
			require.NoError(t, os.WriteFile(path, file.data, 0o600))
			require.NoError(t, os.Truncate(path, file.size))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := sessionfile.New(path).Load(t.Context())
			runtime.ReadMemStats(&after)
			require.Error(t, err)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20))
		})
	}
}

// saveUntilKilled is the environment variable with the file in which TestSaveUntilKilled saves sessions of many
// lengths. The test prints a dot for each.
const saveUntilKilled = "MONEYMOVEMENT_SAVE_UNTIL_KILLED"

func TestSaveUntilKilled(t *testing.T) {
	path := os.Getenv(saveUntilKilled)
	if path == "" {
		t.Skip("needs " + saveUntilKilled +
			": TestKilledProcessesLeaveASession sets it in the processes that it starts " +
			"and kills, and make check runs that")
	}
	for i := 0; ; i++ {
		if err := sessionfile.New(path).Save(t.Context(), sessionOfLength(i*7919%60_000)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stdout.WriteString("."); err != nil {
			return
		}
	}
}

// sessionOfLength returns a session that names its own length.
func sessionOfLength(n int) []byte {
	return append([]byte(strconv.Itoa(n)+" "), bytes.Repeat([]byte("a"), n)...)
}

func TestKilledProcessesLeaveASession(t *testing.T) {
	testkit.Long(t, "kills processes for five seconds")
	if runtime.GOARCH == "wasm" {
		t.Skip("needs processes, which wasm does not have; make check on any other system runs it")
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "session")
	store := sessionfile.New(path)
	require.NoError(t, store.Save(t.Context(), sessionOfLength(1)))
	started := time.Now()
	for kills := 0; kills < 10 || kills < 300 && time.Since(started) < 5*time.Second; kills++ {
		process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSaveUntilKilled$")
		process.Env = append(os.Environ(), saveUntilKilled+"="+path)
		told, err := process.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, process.Start())
		_, err = io.ReadFull(told, make([]byte, 1+rand.IntN(20)))
		require.NoError(t, err)
		require.NoError(t, process.Process.Kill())
		require.Error(t, process.Wait())

		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, left, 1, "no file but the session's")
		kept, err := store.Load(t.Context())
		require.NoError(t, err)
		number, _, _ := strings.Cut(string(kept), " ")
		length, err := strconv.Atoi(number)
		require.NoError(t, err)
		require.Equal(t, string(sessionOfLength(length)), string(kept), "one whole session")
	}
}
