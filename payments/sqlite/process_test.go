package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
)

// childOf names the store with which a process of this test is to work, instead of running tests.
const childOf = "MONEYMOVEMENT_SQLITE_CHILD_OF"

func TestMain(m *testing.M) {
	if path := os.Getenv(childOf); path != "" {
		child(path)
		return
	}
	m.Run()
}

// child opens a store, and holds it until it is killed.
func child(path string) {
	if _, err := Open(context.Background(), path); err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("open")
	<-time.After(time.Hour)
}

// start starts a process that holds a store.
func start(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	process := exec.Command(program)
	process.Env = append(os.Environ(), childOf+"="+path)
	pipe, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill() })
	output := bufio.NewScanner(pipe)
	require.True(t, output.Scan(), "the process says that it has opened the store")
	require.Equal(t, "open", output.Text())
	return process
}

// A second process is refused, and says who has the store. When the first one is killed, the next can begin at once.
func TestSecondProcess(t *testing.T) {
	testkit.Long(t, "starts processes")
	path := filepath.Join(t.TempDir(), "p.db")
	process := start(t, path)
	for range 3 {
		_, err := Open(t.Context(), path)
		var inUse *InUse
		require.ErrorAs(t, err, &inUse)
		assert.Equal(t, &InUse{Path: path, Process: process.Process.Pid}, inUse)
	}
	require.NoError(t, process.Process.Kill())
	_ = process.Wait()
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	defer s.Close()

	_, err = Open(t.Context(), path) // in the same process, too
	var inUse *InUse
	require.ErrorAs(t, err, &inUse)
	assert.Equal(t, os.Getpid(), inUse.Process)
	link := filepath.Join(t.TempDir(), "link.db")
	require.NoError(t, os.Symlink(path, link))
	_, err = Open(t.Context(), link)
	require.ErrorAs(t, err, &inUse, "by another name")
	assert.Equal(t, path, inUse.Path)
}

// Nothing of a store outlives Close: no goroutine, and no open file.
func TestNothingOutlivesClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	synctest.Test(t, func(t *testing.T) { // which fails while a goroutine is left
		for range 3 {
			s, err := Open(t.Context(), path)
			require.NoError(t, err)
			work(t, s, &books{confirmed: map[moneymovement.Key]int{}}, 2, 0)
			_, err = s.Check(t.Context())
			require.NoError(t, err)
			require.NoError(t, s.Close())
			require.NoError(t, s.Close(), "a second time")
		}
	})
	before := openFiles(t)
	for range 20 {
		s, err := Open(t.Context(), path)
		require.NoError(t, err)
		_, err = s.Summary(t.Context())
		require.NoError(t, err)
		require.NoError(t, s.Close())
		_, err = Open(t.Context(), t.TempDir())
		require.Error(t, err)
	}
	assert.InDelta(t, before, openFiles(t), 5)
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Skip("needs /dev/fd, which lists the open files of a process; make check on Linux runs it")
	}
	return len(files)
}

func TestClosedStore(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "p.db"))
	require.NoError(t, err)
	_, _, err = s.Insert(t.Context(), due("w0", 0))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	var errs []error
	_, _, err = s.Insert(t.Context(), due("w1", 0))
	errs = append(errs, err)
	_, err = s.Load(t.Context(), "w0")
	errs = append(errs, err)
	_, err = s.List(t.Context(), payments.List{Limit: 1})
	errs = append(errs, err)
	_, err = s.Changes(t.Context(), "", 1)
	errs = append(errs, err)
	_, _, err = s.Claim(t.Context(), payments.Claim{Key: "w0"})
	errs = append(errs, err)
	_, err = s.Extend(t.Context(), nil, time.Second)
	errs = append(errs, err)
	_, err = s.Save(t.Context(), payments.Claimed{Record: due("w0", 1)}, true)
	errs = append(errs, err, s.Postpone(t.Context(), payments.Claimed{Record: due("w0", 1)}))
	_, err = s.Summary(t.Context())
	errs = append(errs, err)
	_, err = s.Check(t.Context())
	errs = append(errs, err, s.Backup(t.Context(), filepath.Join(t.TempDir(), "copy.db")))
	for i, err := range errs {
		var closed *Closed
		assert.ErrorAs(t, err, &closed, "call %d", i)
	}
}

// Writes that wait when a store is closed are made.
func TestCloseWaitsForWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.db")
	s, err := Open(t.Context(), path)
	require.NoError(t, err)
	b := &books{confirmed: map[moneymovement.Key]int{}}
	began, ended := make(chan struct{}, 64), make(chan struct{})
	for worker := range 64 {
		go func() {
			defer func() { ended <- struct{}{} }()
			for i := 0; ; i++ {
				key := moneymovement.Key(fmt.Sprintf("w%d-%d", worker, i))
				if i == 1 {
					began <- struct{}{}
				}
				if _, _, err := s.Insert(context.Background(), due(key, 0)); err != nil {
					var closed *Closed
					assert.ErrorAs(t, err, &closed)
					return
				}
				b.confirm(key, 0)
			}
		}()
	}
	for range 64 {
		<-began
	}
	require.NoError(t, s.Close())
	for range 64 {
		<-ended
	}
	assert.Empty(t, lost(t, path, b.confirmed))
}

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
