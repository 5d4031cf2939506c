package transport

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/errors"
)

// modelTerms does what terms does, with a value for each key and no places.
type modelTerms struct {
	limit int
	sent  map[string]*modelKey
	order []*modelKey
}

type modelKey struct {
	key, amount, owner       string
	since                    time.Time
	underway                 int
	settled, queued, outdate bool
}

// claim returns whether the key is free for the amount, and what the key belongs to.
func (m *modelTerms) claim(key, amount string) (known *modelKey, ok bool) {
	known = m.sent[key]
	if known != nil && known.underway == 0 && time.Since(known.since) > termsLifetime {
		known.outdate, known = true, nil
	}
	if known == nil {
		known = &modelKey{key: key, amount: amount, since: time.Now()}
		m.sent[key] = known
	}
	if known.amount != amount {
		return known, false
	}
	known.underway++
	return known, true
}

func (m *modelTerms) over(known *modelKey, id string, free bool) {
	known.underway--
	known.settled = known.settled || !free
	if known.owner == "" {
		known.owner = id
	}
	switch {
	case known.underway > 0:
	case !known.settled:
		delete(m.sent, known.key)
	case !known.queued:
		known.queued = true
		m.order = append(m.order, known)
	}
	for len(m.order) > m.limit {
		oldest := m.order[0]
		m.order, oldest.queued = m.order[1:], false
		if oldest.underway == 0 && !oldest.outdate {
			delete(m.sent, oldest.key)
		}
	}
}

// termsStep is a claim, the end of a call, or time that passes.
type termsStep struct {
	what   int // below 5 a claim, below 9 an end, else time
	key    string
	amount string
	long   bool // the body is too long to be kept
	call   int
	end    int
	hours  int
}

func drawTermsStep(rt *rapid.T) termsStep {
	return termsStep{
		what:   rapid.IntRange(0, 9).Draw(rt, "what"),
		key:    rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(rt, "key"),
		amount: rapid.SampledFrom([]string{"25", "25.0", "25", "24"}).Draw(rt, "amount"),
		long:   rapid.Bool().Draw(rt, "long"),
		call:   rapid.IntRange(0, 9).Draw(rt, "call"),
		end:    rapid.IntRange(0, 4).Draw(rt, "end"),
		hours:  rapid.SampledFrom([]int{1, 80, 7 * 24, 8 * 24}).Draw(rt, "hours"),
	}
}

// termsCall is a write that is under way.
type termsCall struct {
	over  func(any, error)
	known *modelKey
}

// termsEnds are how a write ends: its id, its error, and whether the key is free again.
var termsEnds = []struct {
	id   string
	err  error
	free bool
}{
	{id: "po_1"}, {id: "po_" + strings.Repeat("2", 60)}, {err: &errors.OutcomeUnknown{}},
	{err: &errors.NotDelivered{}, free: true},
	{err: &errors.NotFound{Refusal: errors.Refusal{Code: errors.CodeNotFound, Status: 404}}, free: true},
}

// compareTerms takes steps with the terms and with the model, and returns how they differ.
func compareTerms(steps []termsStep) (difference string) {
	m, model := newTerms(), &modelTerms{limit: 3, sent: map[string]*modelKey{}}
	m.limit = model.limit
	var calls []termsCall
	for i, step := range steps {
		switch {
		case step.what < 5:
			body := asking(step.amount)
			if step.long {
				body = []byte(`{"amount":"` + step.amount + `","note":"` + strings.Repeat("x", 300) + `"}`)
			}
			over, err := m.claim(keyed(step.key), body)
			known, free := model.claim(step.key, strings.TrimSuffix(step.amount, ".0"))
			if (err == nil) != free {
				return fmt.Sprintf("step %d: the key is refused with %v, but free is %t", i, err, free)
			}
			if reused, ok := errors.AsType[*errors.IdempotencyKeyReused](err); ok && reused.PayoutID != known.owner {
				return fmt.Sprintf("step %d: the owner is %q, and should be %q", i, reused.PayoutID, known.owner)
			}
			if free {
				calls = append(calls, termsCall{over, known})
			}
		case step.what < 9 && len(calls) > 0:
			at, end := step.call%len(calls), termsEnds[step.end]
			calls[at].over(&booked{ID: end.id}, end.err)
			model.over(calls[at].known, end.id, end.free)
			calls = slices.Delete(calls, at, at+1)
		case step.what == 9:
			time.Sleep(time.Duration(step.hours) * time.Hour)
		}
		if len(m.at) != len(model.sent) {
			return fmt.Sprintf("step %d: %d keys are remembered, and should be %d", i, len(m.at), len(model.sent))
		}
		if wrong := wrongPlaces(m); wrong != "" {
			return fmt.Sprintf("step %d: %s", i, wrong)
		}
	}
	return ""
}

// wrongPlaces says which place does not have exactly one use.
func wrongPlaces(m *terms) string {
	uses := make([]int, len(m.sent))
	for _, place := range m.free {
		uses[place]++
		if m.sent[place] != (sentTerms{}) {
			return fmt.Sprintf("place %d is free and keeps something", place)
		}
	}
	for key, place := range m.at {
		uses[place]++
		if m.sent[place].key != key || m.sent[place].replaced {
			return fmt.Sprintf("place %d belongs to another key", place)
		}
	}
	for _, place := range m.order {
		if m.sent[place].replaced {
			uses[place]++
		}
	}
	for place, times := range uses {
		if times != 1 {
			return fmt.Sprintf("place %d has %d uses", place, times)
		}
	}
	if len(m.long) > len(m.at) {
		return "an id is kept without its key"
	}
	return ""
}

// Whatever programs do with a few keys, for weeks, the terms are those of a simple model. No place is used twice.
func TestTermsAreThoseOfASimpleModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawTermsStep), 1, 80).Draw(rt, "steps")
		var difference string
		synctest.Test(t, func(*testing.T) { difference = compareTerms(steps) })
		if difference != "" {
			rt.Fatal(difference)
		}
	})
}
