package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/credential"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/window"
)

// Host is the sandbox host. Make one with [New]. It is safe for concurrent use.
type Host struct {
	clock      *clock.Clock
	configured *configured
	seed       seed

	registry   *session.Registry
	tokens     *session.Tokens
	challenges *session.Challenges
	windows    *window.Counters
	appKeys    *credential.AppKeys
	access     *credential.AccessTokens
	platform   *platform.Platform
	*surfaces

	keepers keepers
	faults  *fault.Set
	log     gate.Log
	handler http.Handler
	// operations are what faults can be armed for.
	operations fault.Operations

	resetting sync.Mutex
}

// New returns a host in its first state: one integrator's account with a
// developer key, an app key and an access token ([Host.Credentials]), a full
// faucet, the live chains, and the settings' defaults. Options that make no sense are as if not given.
func New(options ...Option) *Host {
	setup := defaults()
	for _, option := range options {
		option(&setup)
	}
	if err := errors.Join(setup.invalid...); err != nil {
		panic(fmt.Errorf("sandbox: New: %w", err))
	}
	clk := clock.New(setup.now)
	h := &Host{
		clock:      clk,
		configured: newConfigured(setup.settings),
		registry:   session.NewRegistry(clk, setup.store),
		tokens:     session.NewTokens(clk, setup.store),
		challenges: session.NewChallenges(clk, setup.store),
		faults:     fault.NewSet(setup.store),
		appKeys:    credential.NewAppKeys(clk, setup.store),
		access:     credential.NewAccessTokens(setup.store),
	}
	h.windows = window.New(clk, func() bool { return h.configured.get().RateLimits })
	h.platform = platform.New(clk, h.configured.get, h.registry.OwnerOf, setup.store)
	h.seed = newSeed(setup, h.registry, h.appKeys, h.access)
	h.tokens.AddForeign(h.seed.foreign()...)
	h.surfaces = newSurfaces(clk, h.configured.get, h.platform, h.appKeys, h.seed.credentials.Wallet.Address(),
		setup.logger, setup.store)
	h.keepers = keepers{h.registry, h.tokens, h.appKeys, h.platform, h.app, h.billing, h.cards, h.faults}
	service := h.newGate(setup)
	h.handler, h.operations = service, service.Operations()
	if setup.control != nil {
		h.handler = setup.control(h, setup.names, h.handler)
	}
	return h
}

// newGate panics if the description that is built in cannot be read, which this
// package's tests would have found.
func (h *Host) newGate(setup setup) *gate.Gate {
	login := &session.Login{
		Clock: h.clock, Registry: h.registry, Tokens: h.tokens, Challenges: h.challenges, Windows: h.windows,
		Settings: h.configured.get,
	}
	g, err := gate.New(gate.Config{
		Platform: platformOperations{login, h.platform},
		App:      appOperations{h.app, paperwork{Billing: h.billing}, cards{Cards: h.cards}},
		Reference: referenceOperations{accountReference{App: h.app}, paperworkReference{Billing: h.billing},
			cardsReference{Cards: h.cards}, h.products},
		Public:   publicOperations{accountPublic{App: h.app}, paperworkPublic{Billing: h.billing}},
		Registry: h.registry, Tokens: h.tokens, Windows: h.windows, IsClient: h.platform.HasClient,
		AppKeys: h.appKeys, AccessTokens: h.access,
		Clock: h.clock, Faults: h.faults, Log: &h.log, Names: setup.names,
		DatabaseAvailable: func() bool { return h.configured.get().DatabaseAvailable },
		Room:              h.room,
		Violation:         setup.violation,
		Logger:            setup.logger,
	})
	if err != nil {
		panic(err)
	}
	return g
}

// ServeHTTP answers every surface of the service, and the host's controls if asked for.
//
// A scripted fault that closes the connection panics with
// [http.ErrAbortHandler], which [http.Server] and httptest.Server take for just
// that.
//
// A caller has a minute to send a body and a minute to take an answer in, unless
// the server has timeouts of its own.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.handler.ServeHTTP(withDeadlines(w, r))
}

// Now is the host's time, in UTC.
func (h *Host) Now() time.Time { return h.clock.Now() }

// Advance moves the host's clock forward by d and answers the new time. A
// negative d moves nothing.
func (h *Host) Advance(d time.Duration) time.Time { return h.clock.Advance(d) }

// Credentials answers what the first account logs in with. They stay the same
// after [Host.Reset].
func (h *Host) Credentials() Credentials { return h.seed.credentials }

// Settings answers a copy of the current settings.
func (h *Host) Settings() Settings { return h.configured.get().Clone() }

// Configure changes the settings in one step. Settings that make no sense are
// not taken over, and the error says which.
func (h *Host) Configure(change func(*Settings)) error {
	_, err := h.configured.change(func(s *Settings) error {
		change(s)
		return nil
	})
	return err
}

// Records is how many records the host keeps: accounts and their keys, sessions,
// clients, contacts, payouts with their approvals, payins, deals, transactions,
// entries of the ledger, idempotency keys, quotes, transfers, documents,
// contracts, invoices, cards, events and armed faults, counted one by one. The
// request log and the challenges of logins have bounds of their own.
func (h *Host) Records() int { return h.keepers.records() }

// room refuses what would make the host keep more than it may.
func (h *Host) room() error { return h.keepers.room(h.configured.get().MaxRecords) }

// Reset goes back to the first state, with the same credentials: sessions,
// clients, money, records, faults, counters, the request log, settings and the
// clock. Requests that are under way may end in either state.
func (h *Host) Reset() {
	h.resetting.Lock()
	defer h.resetting.Unlock()
	h.clock.Reset()
	h.configured.reset()
	h.registry.Reset(h.seed.key)
	h.appKeys.Reset(h.seed.appKey)
	h.tokens.Reset()
	h.tokens.AddForeign(h.seed.foreign()...)
	h.challenges.Reset()
	h.windows.Reset()
	h.platform.Reset()
	h.surfaces.reset()
	h.faults.Clear()
	h.log.Clear()
}
