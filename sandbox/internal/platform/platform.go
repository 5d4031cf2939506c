package platform

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Platform serves the operations of the platform API, except the login. It is safe for concurrent use.
type Platform struct {
	clock      *clock.Clock
	settings   func() *deployment.Settings
	integrator Integrators
	audit      *Audit // nil without one

	mu    sync.Mutex
	state *state
}

// SetAudit makes the platform count its payments. Call it before the first request.
func (p *Platform) SetAudit(a *Audit) { p.audit = a }

// state is everything that Reset deletes.
type state struct {
	books  books
	filled decimal.Decimal // the faucet setting that the ledger has
	kept   kept

	holders map[holderKey]*holder
	emails  map[emailKey]*holder
	wallets map[string]*holder // by address in lower case

	contacts  map[string]*contact
	byDetails map[detailsKey]*contact

	payouts   map[string]*payout
	approvals map[string]*payout // by approval id, with expired ones
	inFlight  steps              // of funded payouts
	returning steps              // of refunded payouts, with money on its way back
	unmatched unmatched          // refunded payouts without attributed money
	finished  queue[finished]    // payouts, in the order in which they finished
	sequence  int                // of the last transaction
	finishes  int                // of payouts
	refunds   int                // of payouts
	recorded  int                // transactions of all accounts

	payins map[string]*payin
	quoted map[payinKey]*payin // the latest payin of each terms
	deals  map[string]*deal

	actionApprovals int // of escrow deals
	particulars     int // of applicants

	bookings    *records[string] // of payouts
	deposits    *records[platformwire.Transaction]
	moves       *records[platformwire.Payout]
	completions *records[platformwire.Payin]
	agreements  *records[string] // of deals
	actions     *records[string] // of deals
}

func newState(k *store.Keeper) *state {
	made := &state{
		books:     newBooks(),
		holders:   map[holderKey]*holder{},
		emails:    map[emailKey]*holder{},
		wallets:   map[string]*holder{},
		contacts:  map[string]*contact{},
		byDetails: map[detailsKey]*contact{},
		payouts:   map[string]*payout{},
		unmatched: unmatched{},
		approvals: map[string]*payout{},
		payins:    map[string]*payin{},
		quoted:    map[payinKey]*payin{},
		deals:     map[string]*deal{},
	}
	made.open(k)
	return made
}

// Integrators finds the account of an integrator by its email. It must be safe for concurrent use.
type Integrators func(email string) (owner string, ok bool)

// New returns a platform with the stored records. It reads the settings at the start of each request, before it takes a
// lock. They must be safe for concurrent use.
func New(clk *clock.Clock, settings func() *deployment.Settings, integrator Integrators, kept store.Store) *Platform {
	return &Platform{clock: clk, settings: settings, integrator: integrator, state: newState(store.NewKeeper(kept))}
}

// Reset returns to the initial state.
func (p *Platform) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	keeper := p.state.kept.keeper
	p.state.clear()
	keeper.Commit()
	p.state = newState(keeper)
}

// Ledger returns a copy of the ledger, up to date.
func (p *Platform) Ledger() Ledger {
	t := p.enter()
	defer p.leave()
	return t.books.view()
}

// HasClient reports whether the integrator has a client with this id, ready or not.
func (p *Platform) HasClient(owner, clientID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.state.holders[holderKey{owner, clientID}]
	return ok && clientID != wire.Self
}

// turn is one request's time with the state, while it holds the lock.
type turn struct {
	*state
	settings   *deployment.Settings
	integrator Integrators
	audit      *Audit
	now        time.Time
}

// enter takes the lock and does everything that is due. leave releases the lock.
func (p *Platform) enter() *turn {
	settings := p.settings()
	p.mu.Lock()
	t := &turn{state: p.state, settings: settings, integrator: p.integrator, audit: p.audit,
		now: p.clock.Now().Truncate(time.Millisecond)}
	t.fillFaucet()
	t.settleDue()
	t.receiveReturned()
	t.forgetFinished()
	return t
}

// leave stores what has changed, and releases the lock.
func (p *Platform) leave() {
	defer p.mu.Unlock()
	p.state.commit()
}

// newID returns a random id with a prefix.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// newHash returns a random transaction hash.
func newHash() string {
	var hash [32]byte
	_, _ = rand.Read(hash[:]) // never fails
	return "0x" + hex.EncodeToString(hash[:])
}

// Records returns how many records there are: everything that a caller can make the platform store.
func (p *Platform) Records() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.records()
}

func (s *state) records() int {
	return len(s.holders) + len(s.contacts) +
		len(s.payouts) + len(s.approvals) + len(s.payins) + len(s.quoted) + len(s.deals) + s.actionApprovals +
		s.particulars +
		s.recorded + s.books.entries +
		s.bookings.size() + s.deposits.size() + s.moves.size() + s.completions.size() + s.agreements.size() +
		s.actions.size()
}
