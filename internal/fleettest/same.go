// Package fleettest holds the tests that every store of package fleet must pass.
package fleettest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/fleet"
)

// SameAsMemory makes random sequences of questions, with clocks that jump and slots that come back, and fails if the
// store gives another answer than fleet.Memory. ask asks the store as if its clock showed the time. Each sequence has a
// key of its own.
func SameAsMemory(t *testing.T, sequences int, ask func(now time.Time, ask fleet.Ask) (fleet.Answer, error)) {
	t.Helper()
	for seed := range sequences {
		s := sequence{random: rand.New(rand.NewPCG(uint64(seed), 1))} //gosec:disable G404 -- a test repeats its seeds
		if difference := s.run(seed, ask); difference != "" {
			t.Fatalf("seed %d, after %d questions: %s", seed, s.asked, difference)
		}
	}
}

type sequence struct {
	random *rand.Rand
	asked  int
	now    time.Time
	given  []int64 // marks
	log    string  // of the store
	known  string  // of the memory
}

const questions = 60

func (s *sequence) run(seed int, ask func(time.Time, fleet.Ask) (fleet.Answer, error)) string {
	s.now = time.UnixMicro(1_800_000_000_000_000)
	memory := &fleet.Memory{Now: func() time.Time { return s.now }}
	calls := []int{1, 2, 5, 20, 120}[s.random.IntN(5)]
	for ; s.asked < questions; s.asked++ {
		s.pass()
		q := s.question(fmt.Sprintf("same:%d", seed), calls)
		inMemory := q
		if q.Log != "" {
			q.Log, inMemory.Log = s.log, s.known
		}
		if s.random.IntN(40) == 0 {
			q.Log, inMemory.Log = "another", "another"
		}
		want, err := memory.Ask(context.Background(), inMemory)
		if err != nil {
			return err.Error()
		}
		got, err := ask(s.now, q)
		if err != nil {
			return err.Error()
		}
		if s.log != "" && (got.Log == s.log) != (want.Log == s.known) {
			return fmt.Sprintf("log %s after %s, and in memory %s after %s", got.Log, s.log, want.Log, s.known)
		}
		s.log, s.known = got.Log, want.Log
		got.Log = want.Log
		for _, slot := range want.Slots {
			s.given = append(s.given, slot.Mark)
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
	}
	return ""
}

// pass lets time pass, or sets the clock.
func (s *sequence) pass() {
	switch s.random.IntN(30) {
	case 0:
		s.now = s.now.Add(time.Duration(s.random.IntN(70)-5) * time.Second)
	case 1, 2, 3:
		s.now = s.now.Add(time.Duration(s.random.IntN(20_000)) * time.Millisecond)
	case 4, 5, 6, 7, 8, 9, 10, 11, 12:
		s.now = s.now.Add(time.Duration(s.random.IntN(300_000)) * time.Microsecond)
	default:
	}
}

func (s *sequence) question(key string, calls int) fleet.Ask {
	q := fleet.Ask{
		Key: key, Process: fmt.Sprint("p", s.random.IntN(6)), Calls: calls, Held: 61 * time.Second,
		Ahead: 250 * time.Millisecond, Pressed: s.random.IntN(8) == 0, Overdue: s.random.IntN(60) == 0,
	}
	for r := range q.Waiting {
		if s.random.IntN(3) == 0 {
			q.Waiting[r] = s.random.IntN(2 + calls/2)
		}
	}
	for s.random.IntN(4) == 0 && len(s.given) > 0 {
		q.Unused = append(q.Unused, s.given[s.random.IntN(len(s.given))])
	}
	if s.random.IntN(2) == 0 && s.log != "" {
		q.Log = "the one before"
	}
	for s.random.IntN(8) == 0 {
		q.Past = append(q.Past, time.Duration(s.random.IntN(90_000_000)-1_000_000)*time.Microsecond)
	}
	return q
}
