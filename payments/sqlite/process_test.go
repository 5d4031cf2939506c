package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/tier"
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

// child works with a store until it is killed, and prints what was confirmed.
func child(path string) {
	s, err := Open(context.Background(), path)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	fmt.Println("open")
	lines := make(chan string, 64)
	for worker := range 4 {
		go func() {
			for i := 0; ; i++ {
				key := moneymovement.Key(fmt.Sprintf("w%d-%d-%d", worker, os.Getpid(), i))
				if err := payAndSay(s, key, lines); err != nil {
					lines <- "error " + err.Error()
				}
			}
		}()
	}
	for line := range lines {
		fmt.Println(line)
	}
}

func payAndSay(s *Store, key moneymovement.Key, lines chan<- string) error {
	ctx := context.Background()
	if _, _, err := s.Insert(ctx, due(key, 0)); err != nil {
		return err
	}
	lines <- fmt.Sprint(key, " ", 0)
	claimed, _, err := s.Claim(ctx, payments.Claim{Owner: "child", Key: key, Now: time.Now(), For: time.Hour})
	if err != nil {
		return err
	}
	for n := 1; n <= 3; n++ {
		claimed[0].Record = record(key, n, moneymovement.PaymentPaid)
		if _, err := s.Save(ctx, claimed[0], n == 3); err != nil {
			return err
		}
		lines <- fmt.Sprint(key, " ", n)
	}
	return nil
}

// start starts a process that works with a store.
func start(t *testing.T, path string) (process *exec.Cmd, output *bufio.Scanner) {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	process = exec.Command(program)
	process.Env = append(os.Environ(), childOf+"="+path)
	pipe, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	t.Cleanup(func() { _ = process.Process.Kill() })
	output = bufio.NewScanner(pipe)
	require.True(t, output.Scan(), "the process says that it has opened the store")
	require.Equal(t, "open", output.Text())
	return process, output
}

// A process is killed at any moment, and another one goes on with its file. All that was confirmed is there.
func TestKilledProcesses(t *testing.T) {
	tier.Long(t, "starts processes and kills them")
	path := filepath.Join(t.TempDir(), "p.db")
	confirmed := map[moneymovement.Key]int{}
	random := rand.New(rand.NewPCG(3, 3))
	for range tier.Size(10, 2000) {
		process, output := start(t, path)
		for range 1 + random.IntN(200) {
			if !output.Scan() {
				break
			}
			enter(t, confirmed, output.Text())
		}
		require.NoError(t, process.Process.Kill())
		for output.Scan() { // what it had printed before
			enter(t, confirmed, output.Text())
		}
		_ = process.Wait()
		require.False(t, t.Failed())
	}
	require.NotEmpty(t, confirmed)
	assert.Empty(t, lost(t, path, confirmed))
}

func enter(t *testing.T, confirmed map[moneymovement.Key]int, line string) {
	t.Helper()
	key, number, found := strings.Cut(line, " ")
	n, err := strconv.Atoi(number)
	if !found || err != nil {
		t.Errorf("the process said %q", line)
		return
	}
	confirmed[moneymovement.Key(key)] = n
}

// A second process is refused, and says who has the store. When the first one is killed, the next can begin at once.
func TestSecondProcess(t *testing.T) {
	tier.Long(t, "starts processes")
	path := filepath.Join(t.TempDir(), "p.db")
	process, _ := start(t, path)
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
