package contrary_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// exchange is what passed between a flow and the host, as described.
type exchange struct {
	operation      *wire.Operation
	query          url.Values
	header         http.Header
	sent           []byte
	status         int
	response       any // the body as a tree
	responseHeader http.Header
}

// Every flow goes through as described, and then with one thing of the host other, for each thing that the flow meets.
func TestFlowsAgainstAContraryHost(t *testing.T) {
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
			return x.responseHeader.Get(c.Site.Name()) != ""
		case c.Site.In != "body" || len(c.Site.Path) == 0:
			return true
		}
		return slices.ContainsFunc(resolve(x.response, c.Site), func(p pointer) bool {
			value, there := at(x.response, p)
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
	if class == contrary.ClassResponse {
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
	if class != contrary.ClassResponse && w.failed != nil {
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
func anyOf(changes []contrary.Change) func(*wire.Operation, *http.Request, []byte) *response {
	var refusers []func(*wire.Operation, *http.Request, []byte) *response
	for _, c := range changes {
		if c.Class == contrary.ClassOperation {
			refusers = append(refusers, withoutOperation(c))
		} else {
			refusers = append(refusers, refuser(bounded(c)))
		}
	}
	return func(o *wire.Operation, r *http.Request, body []byte) *response {
		for _, refuse := range refusers {
			if a := refuse(o, r, body); a != nil {
				return a
			}
		}
		return nil
	}
}

// world is an embedded host in a bubble of its own time, and a contrary one in front of it. A flow meets the contrary
// one; what has to be there before, and what is read after, goes past it.
type world struct {
	*worlds.World
	host     *sandbox.Host // that of World
	contrary *contraryHost
	clients          // of the contrary host
	plain    clients // of the host itself
	key      dapi.Developer

	other   bool  // the host differs in something
	lenient bool  // a step may fail, with an error that says what of
	failed  error // the first that did
}

// clients are those of all surfaces.
type clients struct {
	platform  *dapi.Integrator
	self      *dapi.Account
	app       *appapi.Client
	reference *refapi.Client
	public    *public.Client
}

func newWorld(t *testing.T, d *wire.Description) *world {
	t.Helper()
	key, err := developerKey()
	require.NoError(t, err)
	w := &world{World: worlds.New(t, sandbox.WithDeveloperKey(key), sandbox.WithSettings(func(s *sandbox.Settings) {
		// longer than the longest pause of a wait, so that each status is seen
		s.PayoutStepAfter = sandbox.Duration(20 * time.Second)
	}))}
	w.host = w.Host
	w.contrary = &contraryHost{next: w.host, description: d, everywhere: true}
	w.key = w.Developer()
	w.key.Store = &memoryStore{}
	w.plain = w.open(&inprocess.Transport{Handler: w.host}, w.key)
	_, err = w.plain.self.Chains.List(t.Context(), dapi.ListChainsParams{}) // logs in, for the others as well
	require.NoError(t, err)
	w.clients = w.open(&inprocess.Transport{Handler: w.contrary}, w.key)
	return w
}

// open makes clients of what a transport leads to.
func (w *world) open(transport *inprocess.Transport, developer dapi.Developer) (c clients) {
	w.Helper()
	to, unpaced := *w.World, moneymovement.WithoutPacing()
	to.URL, to.Wire = baseURL, transport
	c.platform = to.Integrator(developer, unpaced)
	c.self = c.platform.Self()
	c.app, c.reference = to.App(to.AppKey(), unpaced), to.Reference(to.AccessToken(), unpaced)
	c.public = to.Public(unpaced)
	return c
}

// Context bounds a step, in the bubble's time.
func (w *world) Context() context.Context {
	ctx, cancel := context.WithTimeout(w.World.Context(), 20*time.Minute)
	w.Cleanup(cancel)
	return ctx
}

// pass lets time pass, for client and host.
func (w *world) pass(d time.Duration) { <-time.After(d) }

// ok reports a step that succeeded. Where the flow has to go through, any other fails the test. Where it need not, the
// error has to be one of the SDK's own.
func (w *world) ok(err error) bool {
	w.Helper()
	if err == nil {
		return true
	}
	if !w.lenient {
		require.NoError(w, err)
	}
	w.typed(err)
	if w.failed == nil {
		w.failed = err
	}
	return false
}

// waited is ok for a wait. One for what the responses do not say any more ends with its context, and says how it last
// was.
func (w *world) waited(err error) bool {
	w.Helper()
	_, pending := errors.AsType[*moneymovement.StillPending](err)
	_, unlisted := errors.AsType[*dapi.RailNotListed](err)
	if w.other && (pending || unlisted) {
		return false
	}
	return w.ok(err)
}

// typed: the error says what it means for the money, and which operation it is about.
func (w *world) typed(err error) {
	w.Helper()
	_, is := errors.AsType[errors.Failure](err)
	assert.True(w, is, "%T: %v", err, err)
}

// must unwraps what has to be there for the flow, past the contrary host.
func must[T any](value T, err error) func(*world) T {
	return func(w *world) T {
		w.Helper()
		require.NoError(w, err)
		return value
	}
}

// from reads what is asked into the type that the SDK takes.
func from[T any](w *world, text string) (value T) {
	w.Helper()
	require.NoError(w, json.Unmarshal([]byte(text), &value))
	return value
}

// movements counts those of a kind in the host's books, and checks that the books add up.
func (w *world) movements(kind string) int {
	w.Helper()
	found := map[string]bool{}
	for _, entry := range w.Books() {
		if entry.Kind == kind {
			found[entry.Movement] = true
		}
	}
	return len(found)
}

// approvalWindows is longer than any approval or price is good for.
const approvalWindows = 3 * time.Minute

// once makes a payment, and makes it again with the same key: whatever the first call said, the money moved at most
// once, the second call does not leave open what was carried out, and says that it was.
func (w *world) once(kind string, pay func() error) bool {
	w.Helper()
	before := w.movements(kind)
	first := pay()
	if first != nil {
		w.typed(first)
		w.pass(approvalWindows)
	}
	second := pay()
	moved := w.movements(kind) - before
	assert.LessOrEqual(w, moved, 1, "the money moved more than once: %v, then %v", first, second)
	if _, funded := errors.AsType[*errors.AlreadyFunded](second); funded && moved == 1 {
		second = nil // success in disguise
	}
	_, inDoubt := errors.AsType[*errors.InDoubt](second)
	if moved == 1 && !(inDoubt && w.lenient && kind == "deposit") { // a response may never show a credit
		assert.NoError(w, second, "the money moved, and the same call made again does not say so")
	}
	if second == nil {
		assert.Equal(w, 1, moved, "it says success, and no money moved")
	}
	if w.lenient {
		return w.ok(second)
	}
	return w.ok(first)
}
