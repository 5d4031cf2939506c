package contrary_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// world is an embedded host in a bubble of its own time, and a contrary one in front of it. A flow meets the contrary
// one; what has to be there before, and what is looked at after, goes past it.
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
	w.key.Store = &kept{}
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

// waited is ok for a wait. One for what the answers do not say any more ends with its context, and says how it last
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
	_, unknown := errors.AsType[*errors.InDoubt](second)
	if moved == 1 && !(unknown && w.lenient && kind == "deposit") { // a response may never show a credit
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
