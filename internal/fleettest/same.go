// Package fleettest holds the tests that every store of package fleet must pass.
package fleettest

import (
	"context"
	"fmt"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/moneymovement/moneymovement-go/fleet"
)

// SameAsMemory asks a random sequence of questions, with a clock that jumps and slots that come back, and fails if the
// store gives another answer than fleet.Memory. ask asks the store as if its clock showed the time. draw returns a
// number from 0 to n-1.
//
// So the scripts of the stores do what the one implementation in Go does. That many processes on it do what one process
// does alone is the model test of package fleet.
func SameAsMemory(
	t interface{ Fatal(args ...any) }, draw func(n int) int,
	ask func(now time.Time, ask fleet.Ask) (fleet.Answer, error),
) {
	s := sequence{draw: draw, key: fmt.Sprint("same:", sequences.Add(1)), now: time.UnixMicro(1_800_000_000_000_000)}
	memory := &fleet.Memory{Now: func() time.Time { return s.now }}
	calls := []int{1, 2, 5, 20, 120}[draw(5)]
	for range 1 + draw(80) {
		s.pass()
		if difference := s.compare(s.question(calls), memory, ask); difference != "" {
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
	given []int64 // marks
	log   string  // of the store
	known string  // of the memory
}

// compare asks both, and returns how the answers differ. The names of their logs may differ.
func (s *sequence) compare(
	q fleet.Ask, memory *fleet.Memory, ask func(time.Time, fleet.Ask) (fleet.Answer, error),
) string {
	inMemory := q
	if q.Log == before {
		q.Log, inMemory.Log = s.log, s.known
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
	return ""
}

// before stands for the log of the answer before.
const before = "the one before"

// pass lets time pass, or sets the clock.
func (s *sequence) pass() {
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

func (s *sequence) question(calls int) fleet.Ask {
	q := fleet.Ask{
		Key: s.key, Process: fmt.Sprint("p", s.draw(6)), Calls: calls, Held: 61 * time.Second,
		Ahead: 250 * time.Millisecond, Pressed: s.rarely(8), Overdue: s.rarely(60),
	}
	for r := range q.Waiting {
		if s.rarely(3) {
			q.Waiting[r] = s.draw(2 + calls/2)
		}
	}
	for s.rarely(4) && len(s.given) > 0 {
		q.Unused = append(q.Unused, s.given[s.draw(len(s.given))])
	}
	if s.rarely(2) && s.log != "" {
		q.Log = before
	}
	if s.rarely(40) {
		q.Log = "another"
	}
	for s.rarely(8) {
		q.Past = append(q.Past, time.Duration(s.draw(90_000_000)-1_000_000)*time.Microsecond)
	}
	return q
}
