// Package fleettest holds the tests that every store of package fleet must pass.
package fleettest

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/fleet"
)

// SameAsMemory draws sequences of questions, with clocks that jump and slots that come back, and fails if the store
// gives another answer than fleet.Memory. ask asks the store as if its clock showed the time.
//
// So the scripts of the stores do what the one implementation in Go does. That many processes on it do what one process
// does alone is the model test of package fleet.
func SameAsMemory(t *testing.T, ask func(now time.Time, ask fleet.Ask) (fleet.Answer, error)) {
	t.Helper()
	sequences := 0
	rapid.Check(t, func(rt *rapid.T) {
		sequences++ // each has a key of its own
		s := sequence{key: fmt.Sprint("same:", sequences), now: time.UnixMicro(1_800_000_000_000_000)}
		memory := &fleet.Memory{Now: func() time.Time { return s.now }}
		calls := rapid.SampledFrom([]int{1, 2, 5, 20, 120}).Draw(rt, "calls")
		for range rapid.IntRange(1, 90).Draw(rt, "questions") {
			s.now = s.now.Add(passes.Draw(rt, "passes"))
			s.compare(rt, s.question(rt, calls), memory, ask)
		}
	})
}

// passes draws how much time passes before a question. The clock can be set back.
var passes = rapid.OneOf(
	rapid.Just[time.Duration](0),
	rapid.Just[time.Duration](0),
	rapid.Map(rapid.Int64Range(0, 300_000), microseconds),
	rapid.Map(rapid.Int64Range(0, 20_000_000), microseconds),
	rapid.Map(rapid.Int64Range(-5_000_000, 65_000_000), microseconds),
)

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

type sequence struct {
	key   string
	now   time.Time
	given []int64 // marks
	log   string  // of the store
	known string  // of the memory
}

// compare asks both, and compares what they answer. The names of their logs differ.
func (s *sequence) compare(
	rt *rapid.T, q fleet.Ask, memory *fleet.Memory, ask func(time.Time, fleet.Ask) (fleet.Answer, error),
) {
	inMemory := q
	if q.Log == before {
		q.Log, inMemory.Log = s.log, s.known
	}
	want, err := memory.Ask(context.Background(), inMemory)
	if err != nil {
		rt.Fatal(err)
	}
	got, err := ask(s.now, q)
	if err != nil {
		rt.Fatal(err)
	}
	if s.log != "" && (got.Log == s.log) != (want.Log == s.known) {
		rt.Fatalf("log %s after %s, and in memory %s after %s", got.Log, s.log, want.Log, s.known)
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
		rt.Fatalf("%+v\ngot  %+v\nwant %+v", q, got, want)
	}
}

// before stands for the log of the answer before.
const before = "the one before"

func (s *sequence) question(rt *rapid.T, calls int) fleet.Ask {
	rarely := func(what string, n int) bool { return rapid.IntRange(1, n).Draw(rt, what) == n }
	q := fleet.Ask{
		Key: s.key, Process: fmt.Sprint("p", rapid.IntRange(0, 5).Draw(rt, "process")), Calls: calls,
		Held: 61 * time.Second, Ahead: 250 * time.Millisecond,
		Pressed: rarely("pressed", 8), Overdue: rarely("overdue", 60),
	}
	for r := range q.Waiting {
		if rarely("waits", 3) {
			q.Waiting[r] = rapid.IntRange(0, 1+calls/2).Draw(rt, "waiting")
		}
	}
	for len(s.given) > 0 && rarely("gives back", 4) {
		q.Unused = append(q.Unused, rapid.SampledFrom(s.given).Draw(rt, "unused"))
	}
	switch {
	case rarely("knows another log", 40):
		q.Log = "another"
	case s.log != "" && rarely("knows the log", 2):
		q.Log = before
	}
	for rarely("was without the log", 8) {
		q.Past = append(q.Past, microseconds(rapid.Int64Range(-1_000_000, 89_000_000).Draw(rt, "age")))
	}
	return q
}
