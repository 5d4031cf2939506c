package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/account"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/card"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/gate"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/paperwork"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Host is the sandbox host. Make one with [New]. It is safe for concurrent use.
type Host struct {
	clock    *clock.Clock
	settings *settingsStore
	state    *state
	seed     seed

	registry   *session.KeyRegistry
	tokens     *session.Tokens
	challenges *session.Challenges
	windows    *clock.Counters
	appKeys    *session.AppKeys
	access     *session.AccessTokens
	platform   *platform.Platform
	*surfaces

	recordCounters recordCounters
	faults         *fault.Set
	log            *gate.Log
	audit          *platform.Audit // nil without [WithAudit]
	gate           *gate.Gate
	handler        http.Handler
	// operations are what faults can be armed for.
	operations fault.Operations

	resetMu sync.Mutex
}

// New returns a host with its first account, an integrator's. The account has a developer key, an app key and an access
// token ([Host.Credentials]) and no money. Deposits are paid from the host's faucet, which is full.
//
// For ease of use in tests, New panics if an option is invalid, and says which.
func New(options ...Option) *Host {
	setup := defaults()
	for _, option := range options {
		option(&setup)
	}
	if err := errors.Join(setup.invalid...); err != nil {
		panic(fmt.Errorf("sandbox: New: %w", err))
	}
	clk := clock.New(setup.now)
	stored := newState(clk, setup.store)
	settings, err := newSettingsStore(setup, stored)
	if err != nil {
		panic(fmt.Errorf("sandbox: New: %w", err))
	}
	h := &Host{
		clock:      clk,
		settings:   settings,
		state:      stored,
		registry:   session.NewKeyRegistry(clk, setup.store),
		tokens:     session.NewTokens(clk, setup.store),
		challenges: session.NewChallenges(clk, setup.store),
		faults:     fault.NewSet(setup.store),
		log:        gate.NewLog(setup.logged),
		appKeys:    session.NewAppKeys(clk, setup.store),
		access:     session.NewAccessTokens(setup.store),
	}
	h.windows = clock.NewCounters(clk, h.rateMinute)
	h.platform = platform.New(clk, h.settings.get, h.registry.OwnerOf, setup.store)
	if setup.audit {
		h.audit = platform.NewAudit()
		h.platform.SetAudit(h.audit)
	}
	h.seed = newSeed(setup, h.state, h.registry, h.appKeys, h.access)
	h.tokens.AddOtherSurfaces(h.seed.otherSurfaceTokens()...)
	h.surfaces = newSurfaces(clk, h.settings.get, h.platform, h.appKeys, h.seed.credentials.Wallet.Address(),
		setup.logger, setup.store, h.state.started())
	h.recordCounters = recordCounters{
		h.registry, h.tokens, h.appKeys, h.platform, h.account, h.paperwork, h.cards, h.faults,
	}
	h.gate = h.newGate(setup)
	h.handler, h.operations = h.gate, h.gate.Operations()
	if h.state.resetUnfinished() {
		h.Reset()
	}
	if setup.control != nil {
		h.log.Record(gate.DefaultRecorded)
		h.handler = setup.control(h, setup.names, h.handler)
	}
	return h
}

// newGate panics if the built-in descriptions cannot be read. This package's tests would have found that.
func (h *Host) newGate(setup setup) *gate.Gate {
	login := &session.Login{
		Clock: h.clock, Registry: h.registry, Tokens: h.tokens, Challenges: h.challenges, Windows: h.windows,
		Settings: h.settings.get,
	}
	g, err := gate.New(gate.Config{
		Platform: platformOperations{login, h.platform},
		App:      appOperations{h.account, paperworkApp{Service: h.paperwork}, cards{Cards: h.cards}},
		Reference: referenceOperations{accountReference{Service: h.account}, paperworkReference{Service: h.paperwork},
			cardsReference{Cards: h.cards}, h.products},
		Public:   publicOperations{accountPublic{Service: h.account}, paperworkPublic{Service: h.paperwork}},
		Registry: h.registry, Tokens: h.tokens, Windows: h.windows, IsClient: h.platform.HasClient,
		AppKeys: h.appKeys, AccessTokens: h.access,
		Clock: h.clock, Faults: h.faults, Log: h.log, Audit: h.audit, Names: setup.names,
		DatabaseAvailable: func() bool { return h.settings.get().DatabaseAvailable },
		Room:              h.checkRecordLimit,
		Violation:         setup.violation,
		Observe:           setup.observe,
		Logger:            setup.logger,
	})
	if err != nil {
		panic(err)
	}
	return g
}

// ServeHTTP serves every surface of the service and, with [WithControl], the host's controls.
//
// A scripted fault that closes the connection panics with [http.ErrAbortHandler]. [http.Server] and httptest.Server
// handle that: they close the connection. An [httptest.ResponseRecorder] does not.
//
// A caller has one minute to send a body and one minute to receive the response, unless the server has its own
// timeouts.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.handler.ServeHTTP(withDeadlines(w, r))
}

// Client returns an HTTP client whose requests go straight to the host, whatever their address: without a port, a
// socket or a goroutine. Pass it to moneymovement.WithHTTPClient. In a bubble of testing/synctest, the time of your own
// code and that of the host then pass together, at once when all wait.
func (h *Host) Client() *http.Client {
	return &http.Client{Transport: &inprocess.Transport{Handler: h}}
}

// Now returns the host's time, in UTC.
func (h *Host) Now() time.Time { return h.clock.Now() }

// Advance moves the host's clock forward by d and returns the new time. Everything that lasts ends on this clock:
// sessions, quotes, approvals, idempotency keys, rate windows, and what the [Settings] say about progress. A negative d
// changes nothing.
//
// Clients of the SDK have the machine's clock. They learn the host's time from the Date header of its responses. Times
// that they return, such as RetryAt of an error, are on the machine's clock, and Advance does not bring them nearer. If
// your program waits until such a time, give it a clock that the test sets: for example, [Host.Now] in place of
// time.Now.
func (h *Host) Advance(d time.Duration) time.Time {
	now := h.state.advance(d)
	h.gate.DeliverDue()
	return now
}

// Credentials returns what the first account logs in with. They stay the same after [Host.Reset].
func (h *Host) Credentials() Credentials { return h.seed.credentials }

// Settings returns a copy of the current settings.
func (h *Host) Settings() Settings { return h.settings.get().Clone() }

// Configure changes the settings. It calls change with the current settings. What change sets applies from the next
// request on. If a setting is invalid, nothing changes, and the error names every invalid setting.
func (h *Host) Configure(change func(*Settings)) error {
	_, err := h.settings.change(func(s *Settings) error {
		change(s)
		return nil
	})
	return err
}

// Records returns how many records the host keeps, see [deployment.Settings.MaxRecords]. It counts accounts, keys,
// sessions, clients, contacts, payouts and their approvals, payins, escrows, transactions, ledger entries, idempotency
// keys, quotes, transfers, documents, contracts, invoices, cards, events and armed faults. It does not count the
// request log and login challenges, which have their own bounds.
func (h *Host) Records() int { return h.recordCounters.records() }

// checkRecordLimit refuses a request if the host has as many records as it may.
func (h *Host) checkRecordLimit() error {
	return h.recordCounters.checkLimit(h.settings.get().MaxRecords)
}

// rateMinute returns how long a minute of the rate windows lasts, or 0 if the host does not count requests.
func (h *Host) rateMinute() time.Duration {
	if settings := h.settings.get(); settings.RateLimits {
		return time.Duration(settings.RateMinute)
	}
	return 0
}

// ForgetKeys forgets every idempotency key of payouts, escrows, transfers and sandbox money, as a service does that
// loses its table of keys in a failover. Money and resources stay as they are: only the next request with a key counts
// as the first one. A test can show with it that a program pays once nevertheless.
func (h *Host) ForgetKeys() {
	h.platform.ForgetKeys()
	h.surfaces.account.ForgetKeys()
}

// Reset goes back to the start: it forgets sessions, clients, money, records, faults, counters and the request log, and
// restores the settings and the clock. The credentials stay the same. A request that is under way may end before or
// after the reset. With [WithStore], a reset that a crash ends is done again at the next start.
func (h *Host) Reset() {
	h.resetMu.Lock()
	defer h.resetMu.Unlock()
	h.state.beginReset()
	h.settings.reset()
	h.registry.Reset(h.seed.key)
	h.appKeys.Reset(h.seed.appKey)
	h.tokens.Reset()
	h.tokens.AddOtherSurfaces(h.seed.otherSurfaceTokens()...)
	h.challenges.Reset()
	h.windows.Reset()
	h.platform.Reset()
	h.surfaces.reset()
	h.faults.Clear()
	h.gate.Reset()
	h.log.Clear()
	h.audit.Reset()
	h.state.endReset()
}

// MovePayout moves a funded payout to another status, as its partner would report: processing, completed, failed or
// refunded. It then no longer moves by itself. It is what the service's own sandbox call does, without a session, and
// without the rate window of that call. The settings FailOneIn and RefundOneIn choose payouts in place of the test.
//
// For an unknown id, the error contains not_found. For a payout that nobody funded, it contains quote_not_submitted or
// payout_not_fundable, and for a move that is not possible, conflict.
func (h *Host) MovePayout(id, status string) error {
	return h.platform.Move(id, platformwire.PayoutStatus(status))
}

// The servers of the surfaces. Each embeds the state machines that serve its operations.
type (
	platformOperations struct {
		*session.Login
		*platform.Platform
	}
	appOperations struct {
		*account.Service
		paperworkApp
		cards
	}
	referenceOperations struct {
		accountReference
		paperworkReference
		cardsReference
		*paperwork.Products
	}
	publicOperations struct {
		accountPublic
		paperworkPublic
	}
)

// Aliases with different names, so that one struct can embed all of them.
type (
	accountReference   = account.ReferenceAPI
	accountPublic      = account.PublicAPI
	paperworkApp       = paperwork.AppAPI
	paperworkReference = paperwork.ReferenceAPI
	paperworkPublic    = paperwork.PublicAPI
	cards              = card.AppAPI
	cardsReference     = card.ReferenceAPI
)

// surfaces has the state machines of the other surfaces. They act for the integrator's own account.
type surfaces struct {
	account   *account.Service
	paperwork *paperwork.Service
	cards     *card.Cards
	products  *paperwork.Products
	logger    *slog.Logger
}

func newSurfaces(
	clk *clock.Clock, settings func() *deployment.Settings, p *platform.Platform, keys *session.AppKeys,
	wallet string, logger *slog.Logger,
	backend store.Store, started time.Time,
) *surfaces {
	s := &surfaces{logger: logger, products: paperwork.NewProducts(started.Truncate(time.Millisecond))}
	s.paperwork = paperwork.New(paperwork.Config{Clock: clk, Settings: settings, Profile: s.partyOf, Store: backend})
	s.account = account.New(account.Config{Clock: clk, Settings: settings, Platform: p, Keys: keys,
		Invoices: s.paperwork, Wallet: wallet, Store: backend})
	s.cards = card.New(card.Config{Clock: clk, Settings: settings, Holder: s.holderOf, WalletAddress: wallet,
		Store: backend})
	return s
}

func (s *surfaces) reset() {
	s.account.Reset()
	s.paperwork.Reset()
	s.cards.Reset()
}

// profileOf returns the caller's profile. It always exists, because the first request creates the account.
func (s *surfaces) profileOf(ctx context.Context) appwire.UserProfile {
	profile, err := s.account.Profile(ctx)
	if err != nil {
		s.logger.Error("a profile cannot be read", "error", err)
	}
	return profile
}

// partyOf returns the caller as a party of contracts and invoices.
func (s *surfaces) partyOf(ctx context.Context) paperwork.Profile {
	profile := s.profileOf(ctx)
	party := paperwork.Profile{
		ID: profile.ID, Email: profile.Email, DisplayName: profile.DisplayName,
		FirstName: profile.FirstName, LastName: profile.LastName, EntityName: profile.EntityName,
		IsBusiness: profile.EntityName != "", WalletAddress: profile.WalletAddress,
	}
	if address := profile.Address; address != nil {
		party.Address = &commonwire.PostalAddress{
			StreetAddress: address.StreetAddress, City: address.City, Country: address.Country, Zip: address.Zip,
		}
	}
	return party
}

// holderOf returns the caller as the holder of cards.
func (s *surfaces) holderOf(ctx context.Context) card.Holder {
	profile := s.profileOf(ctx)
	holder := card.Holder{Name: profile.DisplayName}
	if address := profile.Address; address != nil {
		holder.Address = commonwire.BillingAddress{StreetAddress: address.StreetAddress, City: address.City,
			Zip: address.Zip}
	}
	return holder
}

// How long a caller may take to send a body, and to receive the response. Neither includes the wait of a scripted
// fault.
const (
	bodyTimeout     = time.Minute
	responseTimeout = time.Minute
)

// withDeadlines limits how long a slow caller can hold a connection. Timeouts of the server win over these deadlines. A
// request without a connection has none.
func withDeadlines(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request) {
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return w, r
	}
	connection := http.NewResponseController(w)
	if server.ReadTimeout <= 0 && r.Body != nil && r.Body != http.NoBody {
		_ = connection.SetReadDeadline(time.Now().Add(bodyTimeout)) // fails for a writer without a connection
		limited := *r                                               // net/http looks at its own copy of the request
		limited.Body = &timedBody{r.Body, connection}
		r = &limited
	}
	if server.WriteTimeout <= 0 {
		w = &timedWriter{w, connection}
	}
	return w, r
}

// timedBody has a read deadline until its end. After that net/http reads on, to notice that the caller has closed the
// connection.
type timedBody struct {
	io.ReadCloser
	connection *http.ResponseController
}

func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		_ = b.connection.SetReadDeadline(time.Time{})
	}
	return n, err
}

// timedWriter sets a write deadline when the response begins.
type timedWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
}

// WriteHeader implements http.ResponseWriter.
func (w *timedWriter) WriteHeader(status int) {
	_ = w.connection.SetWriteDeadline(time.Now().Add(responseTimeout))
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap is for [http.ResponseController].
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
