package testkit

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/fleet"
)

// SameAsMemory asks a random sequence of questions, with a clock that jumps and slots that come back, and fails if the
// store gives another response than fleet.Memory. ask asks the store as if its clock showed the time. draw returns a
// number from 0 to n-1.
//
// So the scripts of the stores do what the one implementation in Go does. That many processes on it do what one process
// does alone is the model test of package fleet.
func SameAsMemory(
	t interface{ Fatal(args ...any) }, draw func(n int) int,
	ask func(now time.Time, ask fleet.Request) (fleet.Reservation, error),
) {
	s := sequence{draw: draw, key: fmt.Sprint("same:", sequences.Add(1)), now: time.UnixMicro(1_800_000_000_000_000)}
	memory := &fleet.Memory{Now: func() time.Time { return s.now }}
	calls := []int{1, 2, 5, 20, 120}[draw(5)]
	for range 1 + draw(80) {
		s.advance()
		if difference := s.compare(s.request(calls), memory, ask); difference != "" {
			t.Fatal(difference)
		}
	}
}

// sequences counts them: each has a key of its own.
var sequences atomic.Int64

type sequence struct {
	draw  func(n int) int
	key   string
	now   time.Time
	marks []int64
	log   string // of the store
	known string // of the memory
}

// compare asks both, and returns how the responses differ. The names of their logs may differ.
func (s *sequence) compare(
	q fleet.Request, memory *fleet.Memory, ask func(time.Time, fleet.Request) (fleet.Reservation, error),
) string {
	inMemory := q
	if q.WindowID == before {
		q.WindowID, inMemory.WindowID = s.log, s.known
	}
	want, err := memory.Reserve(context.Background(), inMemory)
	if err != nil {
		return err.Error()
	}
	got, err := ask(s.now, q)
	if err != nil {
		return err.Error()
	}
	if s.log != "" && (got.WindowID == s.log) != (want.WindowID == s.known) {
		return fmt.Sprintf("log %s after %s, and in memory %s after %s", got.WindowID, s.log, want.WindowID, s.known)
	}
	s.log, s.known = got.WindowID, want.WindowID
	got.WindowID = want.WindowID
	for _, slot := range want.Slots {
		s.marks = append(s.marks, slot.Mark)
	}
	if len(got.Slots) == 0 && len(want.Slots) == 0 {
		got.Slots = want.Slots
	}
	if len(got.Free) == 0 && len(want.Free) == 0 {
		got.Free = want.Free
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("%+v\ngot  %+v\nwant %+v", q, got, want)
	}
	return ""
}

// before stands for the log of the response before.
const before = "the one before"

// advance lets time pass, or sets the clock.
func (s *sequence) advance() {
	switch s.draw(30) {
	case 29:
		s.now = s.now.Add(time.Duration(s.draw(70)-5) * time.Second)
	case 28, 27, 26:
		s.now = s.now.Add(time.Duration(s.draw(20_000)) * time.Millisecond)
	case 25, 24, 23, 22, 21, 20, 19, 18, 17:
		s.now = s.now.Add(time.Duration(s.draw(300_000)) * time.Microsecond)
	default:
	}
}

// rarely returns true once in n times.
func (s *sequence) rarely(n int) bool { return s.draw(n) == n-1 }

func (s *sequence) request(calls int) fleet.Request {
	q := fleet.Request{
		Key: s.key, Process: fmt.Sprint("p", s.draw(6)), Calls: calls, Span: 61 * time.Second,
		Ahead: 250 * time.Millisecond, Pressed: s.rarely(8), Overdue: s.rarely(60),
	}
	for r := range q.Waiting {
		if s.rarely(3) {
			q.Waiting[r] = s.draw(2 + calls/2)
		}
	}
	for s.rarely(4) && len(s.marks) > 0 {
		q.Unused = append(q.Unused, s.marks[s.draw(len(s.marks))])
	}
	if s.rarely(2) && s.log != "" {
		q.WindowID = before
	}
	if s.rarely(40) {
		q.WindowID = "another"
	}
	for s.rarely(8) {
		q.Past = append(q.Past, time.Duration(s.draw(90_000_000)-1_000_000)*time.Microsecond)
	}
	return q
}

// Session returns a session with a token.
func Session(token string) dapi.Session {
	now := time.Now().Truncate(time.Millisecond).UTC()
	return dapi.Session{
		AccessToken: moneymovement.NewSecret(token), RefreshToken: moneymovement.NewSecret(token + "-refresh"),
		ExpiresAt: now.Add(time.Hour), RefreshExpiresAt: now.Add(24 * time.Hour), Credential: "credential",
	}
}

// TokenStore tests a store that is empty: sessions are replaced, and the lock has one owner at a time and an end.
func TokenStore(t *testing.T, store dapi.SessionLocker) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	locked := func(owner string, lasts time.Duration, want bool) {
		t.Helper()
		got, err := store.Lock(ctx, owner, lasts)
		check(err)
		if got != want {
			t.Fatalf("lock of %s: %v", owner, got)
		}
	}
	stored, err := store.Load(ctx)
	check(err)
	if !stored.AccessToken.IsZero() {
		t.Fatal("the store is not empty")
	}
	for _, token := range []string{"one", "two"} {
		want := Session(token)
		check(store.Save(ctx, want))
		stored, err = store.Load(ctx)
		check(err)
		same := stored.AccessToken.Equal(want.AccessToken) && stored.RefreshToken.Equal(want.RefreshToken) &&
			stored.ExpiresAt.Equal(want.ExpiresAt) && stored.RefreshExpiresAt.Equal(want.RefreshExpiresAt) &&
			stored.Credential == want.Credential
		if !same {
			t.Fatalf("stored %v, want %v", stored, want)
		}
	}

	locked("a", time.Minute, true)
	locked("b", time.Minute, false)
	check(store.Unlock(ctx, "b"))
	locked("b", time.Minute, false)
	locked("a", time.Minute, true) // extends it
	check(store.Unlock(ctx, "a"))
	locked("b", 50*time.Millisecond, true)
	if stored, err = store.Load(ctx); err != nil || !stored.AccessToken.Equal(moneymovement.NewSecret("two")) {
		t.Fatal("the lock changed the session", err)
	}
	began := time.Now()
	for free := false; !free; { // b died
		free, err = store.Lock(ctx, "c", time.Minute)
		check(err)
		if time.Since(began) > 30*time.Second {
			t.Fatal("the lock does not end")
		}
	}
	check(store.Unlock(ctx, "c"))

	var all sync.WaitGroup
	var owners atomic.Int32
	for i := range 16 {
		all.Go(func() {
			if got, err := store.Lock(ctx, fmt.Sprint("owner ", i), time.Minute); err == nil && got {
				owners.Add(1)
			}
		})
	}
	all.Wait()
	if owners.Load() != 1 {
		t.Fatalf("%d owners", owners.Load())
	}
}

// Allowance is the short window of a [Load]. A call is held for 100 ms longer.
func Allowance() moneymovement.Allowance {
	return moneymovement.Allowance{Calls: 120, Per: 6 * time.Second}
}

// Load makes calls in real time.
type Load struct {
	Processes int // limiters, each with a connection of its own
	Callers   int // of each
	For       time.Duration
	Calls     int // ends the load when as many calls were admitted; 0 ends it after the time alone
	Options   []fleet.Option
	Open      func() fleet.Windows // a connection
}

// Result is what a [Load] did.
type Result struct {
	At          []time.Duration // when each call was admitted, since the start
	Unavailable int             // calls that failed because the store was away
}

// Run makes calls until the time is over. A call that fails because the store is away is made again after a moment.
func (l Load) Run(t *testing.T) (result Result) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), l.For)
	defer cancel()
	began := time.Now()
	for range l.Processes {
		limiter, err := fleet.NewLimiter(l.Open(), "load", append(l.Options, fleet.WithWindow("w", Allowance()))...)
		if err != nil {
			t.Fatal(err)
		}
		for range l.Callers {
			all.Go(func() {
				for {
					err := limiter.Wait(ctx, moneymovement.RateCall{Window: "w", Class: moneymovement.ClassWrite})
					at := time.Since(began)
					_, away := errors.AsType[*fleet.StoreUnavailable](err)
					if err != nil && !away {
						return // the time is over, or there is no room before
					}
					mu.Lock()
					if err == nil {
						result.At = append(result.At, at)
						if len(result.At) == l.Calls {
							cancel()
						}
					} else {
						result.Unavailable++
					}
					mu.Unlock()
					if away {
						pause(ctx, 50*time.Millisecond)
					}
				}
			})
		}
	}
	all.Wait()
	slices.Sort(result.At)
	return result
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// Most returns the largest number of calls within any window as the service counts it.
func (r Result) Most() (largest int) {
	first := 0
	for i := range r.At {
		for r.At[i]-r.At[first] >= Allowance().Per {
			first++
		}
		largest = max(largest, i-first+1)
	}
	return largest
}

// KilledStore runs 16 processes over a store that is killed after 5 seconds and comes back after 9. Calls must fail in
// between and go on afterwards. The loss of the log may let through at most one more window.
func KilledStore(t *testing.T, kill, restart func(), open func() fleet.Windows) {
	t.Helper()
	const periods = 4
	held := Allowance().Span()
	began := time.Now()
	load := Load{Processes: 16, Callers: 5, For: (periods-1)*held + held/2, Open: open,
		Options: []fleet.Option{fleet.WithPatience(300 * time.Millisecond)}}
	done := make(chan Result, 1)
	go func() { done <- load.Run(t) }()
	<-time.After(time.Until(began.Add(5 * time.Second)))
	kill()
	<-time.After(time.Until(began.Add(9 * time.Second)))
	restart()
	result := <-done
	late := 0
	for _, at := range result.At {
		if at > 13*time.Second {
			late++
		}
	}
	t.Logf("%d calls, at most %d in a window, %d failed", len(result.At), result.Most(), result.Unavailable)
	if late < 100 || result.Most() > 2*Allowance().Calls || result.Unavailable == 0 {
		t.Errorf("%d calls after the restart, at most %d in a window, %d failed", late, result.Most(),
			result.Unavailable)
	}
}
