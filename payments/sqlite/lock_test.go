package sqlite

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Who only wanted to look at a file finds the folder as it was. Only a store that was open has a lock.
func TestAStoreThatIsNotOpenedLeavesNoLock(t *testing.T) {
	store := closed(t, 4)
	require.NoError(t, os.Remove(store+".lock"))
	whole, err := os.ReadFile(store)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		make   func(path string) error
		option Option
	}{
		"missing":   {func(string) error { return nil }, MustExist()},
		"a folder":  {func(path string) error { return os.Mkdir(path, 0o700) }, MustExist()},
		"empty":     {func(path string) error { return os.WriteFile(path, nil, 0o600) }, MustExist()},
		"truncated": {func(path string) error { return os.WriteFile(path, whole[:3000], 0o600) }, MustExist()},
		"not of this schema": {func(path string) error { return os.WriteFile(path, whole, 0o600) },
			later("no SQL")},
		"of a later version": {func(path string) error {
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				return err
			}
			s, err := Open(t.Context(), path, later("CREATE TABLE more (id INTEGER)"))
			require.NoError(t, err)
			require.NoError(t, s.Close())
			return os.Remove(path + ".lock")
		}, MustExist()},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "p.db")
			require.NoError(t, c.make(path))
			before := contents(t, filepath.Dir(path))
			_, err := Open(t.Context(), path, c.option)
			require.Error(t, err)
			assert.Equal(t, before, contents(t, filepath.Dir(path)))

			require.NoError(t, os.WriteFile(path+".lock", []byte("1"), 0o600)) // of an earlier process
			_, err = Open(t.Context(), path, c.option)
			require.Error(t, err)
			assert.FileExists(t, path+".lock")
		})
	}
}

// Two processes never have the lock at once, also if others remove its file all the time.
func TestALockThatOthersRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	var holders atomic.Int32
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for taken := 0; taken < 20; {
				l, err := lockFor(path)
				if err != nil {
					if !assert.ErrorAs(t, err, new(*InUse)) {
						return
					}
					continue
				}
				taken++
				assert.EqualValues(t, 1, holders.Add(1))
				l.made = taken%2 == 0 // as if this one had made it
				holders.Add(-1)
				assert.NoError(t, l.release())
			}
		})
	}
	wait.Wait()
}
