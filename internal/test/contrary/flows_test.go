package contrary_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// exchange is what passed between a flow and the host, as described.
type exchange struct {
	operation *wire.Operation
	query     url.Values
	header    http.Header
	sent      []byte
	status    int
	answer    any // the body as a tree
	answered  http.Header
}

// Every flow goes through as described, and then with one thing of the host other, for each thing that the flow meets.
func TestFlowsOfAContraryHost(t *testing.T) {
	d := describe(t)
	met := make([][]exchange, len(flows))
	for i, f := range flows {
		require.True(t, t.Run(f.name+" as described", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, d)
				w.contrary.observed = func(x exchange) { met[i] = append(met[i], x) }
				f.run(w)
			})
		}))
	}
	needed := &necessity{}
	t.Cleanup(func() { needed.check(t) })
	for _, mark := range derive(t) {
		for _, c := range flowCases(mark) {
			for _, f := range touched(met, c) {
				t.Run(fmt.Sprintf("%s/%s %s/%s", mark.Name(), c[0].Class, c[0].Case.Name(), f.name),
					func(t *testing.T) {
						t.Parallel()
						synctest.Test(t, func(t *testing.T) { needed.note(c[0].Case, runContrary(t, d, f, c)) })
					})
			}
		}
	}
}

// flowCases are the changes of each of the mark's cases, at all their sites. Of the kinds that come to the same for a
// flow, one is enough: what is read of each, the operations alone show.
func flowCases(mark *contrary.Mark) (cases [][]contrary.Change) {
	type same struct {
		class  contrary.Class
		member string
		kind   any
	}
	index := map[same]int{}
	for _, change := range mark.Changes() {
		key := same{change.Class, change.Member, change.Kind}
		switch effect := contrary.EffectOf(change.Kind); effect {
		case contrary.Missing:
			key.kind = effect
			if change.Kind == contrary.Null {
				continue
			}
		case contrary.Unread:
			key.kind = effect
			if change.Kind != contrary.AsBoolean && change.Kind != contrary.AsText {
				continue
			}
		}
		if change.Class == contrary.ClassBehaviour || change.Class == contrary.ClassConstraint &&
			change.Kind == contrary.Looser {
			// a value beyond a bound is another value, which this host would not know again; these have tests of their
			// own
			continue
		}
		if change.Kind == contrary.AnotherForm {
			continue // nor would it know an id or an address of another form
		}
		i, known := index[key]
		if !known {
			i = len(cases)
			index[key] = i
			cases = append(cases, nil)
		}
		cases[i] = append(cases[i], change)
	}
	return cases
}

// mostFlows is in how many flows a case is run: those that move money come first, and of the others one is enough.
const mostFlows = 2

// touched are the flows that meet the thing.
func touched(met [][]exchange, changes []contrary.Change) (found []flow) {
	for i, f := range flows {
		if (len(found) == 0 || f.money && len(found) < mostFlows) && slices.ContainsFunc(met[i], func(x exchange) bool {
			return x.has(changes)
		}) {
			found = append(found, f)
		}
	}
	return found
}

// has reports that the thing that is other occurs in an exchange.
func (x exchange) has(changes []contrary.Change) bool {
	return slices.ContainsFunc(changes, func(c contrary.Change) bool {
		switch {
		case c.Site.Operation == nil || c.Site.Operation != x.operation:
			return false
		case c.Class == contrary.ClassRequest, c.Class == contrary.ClassConstraint && c.Site.Side == contrary.Request:
			_, _, sent := whereSent(bounded(c), x.operation,
				&http.Request{URL: &url.URL{RawQuery: x.query.Encode()}, Header: x.header}, x.sent)
			return sent
		case c.Class == contrary.ClassOperation:
			return true
		case !concerns(c, x.operation.Name(), x.status):
			return false
		case c.Site.In == "header":
			return x.answered.Get(c.Site.Name()) != ""
		case c.Site.In != "body" || len(c.Site.Path) == 0:
			return true
		}
		return slices.ContainsFunc(resolve(x.answer, c.Site), func(p pointer) bool {
			value, there := at(x.answer, p)
			_, _, differs := otherValue(c, value, there)
			return there && differs
		})
	})
}

// necessity knows of each exception whether a flow came to an end for it.
type necessity struct {
	mu    sync.Mutex
	ended map[string]bool
}

func (n *necessity) note(c contrary.Case, failed error) {
	if _, is := contrary.ExceptionOf(c); !is {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended == nil {
		n.ended = map[string]bool{}
	}
	n.ended[c.Mark.Name()] = n.ended[c.Mark.Name()] || failed != nil
}

func (n *necessity) check(t *testing.T) {
	t.Helper()
	for name, ended := range n.ended {
		assert.True(t, ended, "%s needs no exception: every flow does without it", name)
	}
}

// runContrary runs a flow against a host that differs in one thing, and gives the error that it ended with, if it did.
func runContrary(t *testing.T, d *wire.Description, f flow, changes []contrary.Change) error {
	w := newWorld(t, d)
	class := changes[0].Class
	if class == contrary.ClassAnswer {
		w.contrary.changes = changes
		w.lenient = slices.ContainsFunc(changes, mayStop)
	} else {
		w.contrary.refuses = anyOf(changes)
		w.lenient = true
	}
	w.other = true
	f.run(w)
	times, _ := w.contrary.occurred()
	require.Positive(t, times, "the case did not occur")
	if class != contrary.ClassAnswer && w.failed != nil {
		assert.True(t,
			slices.ContainsFunc(changes, func(c contrary.Change) bool {
				return strings.Contains(w.failed.Error(), c.Site.Operation.ID)
			}),
			"the error says which operation's assumption fell: %v", w.failed)
	}
	return w.failed
}

// mayStop reports that a flow may end at a change, with a typed error: something that proves a write is not there, or
// one of the exceptions.
func mayStop(c contrary.Change) bool {
	_, except := contrary.ExceptionOf(c.Case)
	return except || (c.Site.Success() || c.Site.Side == "") && contrary.Promised(c).Outcome != contrary.Passes
}

// anyOf refuses whatever one of the changes is about.
func anyOf(changes []contrary.Change) func(*wire.Operation, *http.Request, []byte) *answered {
	var refusers []func(*wire.Operation, *http.Request, []byte) *answered
	for _, c := range changes {
		if c.Class == contrary.ClassOperation {
			refusers = append(refusers, lacking(c))
		} else {
			refusers = append(refusers, refuser(bounded(c)))
		}
	}
	return func(o *wire.Operation, r *http.Request, body []byte) *answered {
		for _, refuse := range refusers {
			if a := refuse(o, r, body); a != nil {
				return a
			}
		}
		return nil
	}
}
