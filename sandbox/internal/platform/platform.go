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
	ledger     ledger
	faucetFill decimal.Decimal // the faucet setting that the ledger has
	store      recordStore

	holders map[holderKey]*holder
	emails  map[emailKey]*holder
	wallets map[string]*holder // by address in lower case

	contacts  map[string]*contact
	byDetails map[detailsKey]*contact

	payouts          map[string]*payout
	approvals        map[string]*payout // by approval id, with expired ones
	inFlight         schedule           // of funded payouts
	returning        schedule           // of refunded payouts, with money on its way back
	unmatchedReturns unmatchedReturns   // refunded payouts without attributed money
	finished         queue[finished]    // payouts, in the order in which they finished
	sequence         int                // of the last transaction
	finishCount      int                // of payouts
	refundCount      int                // of payouts
	transactionCount int                // transactions of all accounts

	payins        map[string]*payin
	payinsByTerms map[payinKey]*payin // the latest payin of each terms
	escrows       map[string]*escrow

	actionApprovals int // of escrows
	applicantFields int // of applicants

	bookings        *idempotencyRecords[string] // of payouts
	deposits        *idempotencyRecords[platformwire.Transaction]
	moves           *idempotencyRecords[platformwire.Payout]
	completions     *idempotencyRecords[platformwire.Payin]
	escrowCreations *idempotencyRecords[string] // of escrows
	actions         *idempotencyRecords[string] // of escrows
}

func newState(k *store.Keeper) *state {
	created := &state{
		ledger:           newLedger(),
		holders:          map[holderKey]*holder{},
		emails:           map[emailKey]*holder{},
		wallets:          map[string]*holder{},
		contacts:         map[string]*contact{},
		byDetails:        map[detailsKey]*contact{},
		payouts:          map[string]*payout{},
		unmatchedReturns: unmatchedReturns{},
		approvals:        map[string]*payout{},
		payins:           map[string]*payin{},
		payinsByTerms:    map[payinKey]*payin{},
		escrows:          map[string]*escrow{},
	}
	created.load(k)
	return created
}

// Integrators finds the account of an integrator by its email. It must be safe for concurrent use.
type Integrators func(email string) (owner string, ok bool)

// New returns a platform with the stored records. It reads the settings at the start of each request, before it takes a
// lock. They must be safe for concurrent use.
func New(
	clk *clock.Clock, settings func() *deployment.Settings, integrator Integrators, backend store.Store,
) *Platform {
	return &Platform{clock: clk, settings: settings, integrator: integrator, state: newState(store.NewKeeper(backend))}
}

// Reset returns to the initial state.
func (p *Platform) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	keeper := p.state.store.keeper
	p.state.clear()
	keeper.Commit()
	p.state = newState(keeper)
}

// Ledger returns a copy of the ledger, up to date.
func (p *Platform) Ledger() Ledger {
	t := p.begin()
	defer p.commit()
	return t.ledger.view()
}

// HasClient reports whether the integrator has a client with this id, ready or not.
func (p *Platform) HasClient(owner, clientID string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.state.holders[holderKey{owner, clientID}]
	return ok && clientID != wire.Self
}

// txn is one request's access to the state. It lasts as long as the lock is held.
type txn struct {
	*state
	settings   *deployment.Settings
	integrator Integrators
	audit      *Audit
	now        time.Time
}

// begin takes the lock and does everything that is due. commit releases the lock.
func (p *Platform) begin() *txn {
	settings := p.settings()
	p.mu.Lock()
	t := &txn{state: p.state, settings: settings, integrator: p.integrator, audit: p.audit,
		now: p.clock.Now().Truncate(time.Millisecond)}
	t.fillFaucet()
	t.settleDue()
	t.creditDueReturns()
	t.forgetFinished()
	return t
}

// commit stores what has changed, and releases the lock.
func (p *Platform) commit() {
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
		len(s.payouts) + len(s.approvals) + len(s.payins) + len(s.payinsByTerms) + len(s.escrows) + s.actionApprovals +
		s.applicantFields +
		s.transactionCount + s.ledger.entries +
		s.bookings.size() + s.deposits.size() + s.moves.size() + s.completions.size() + s.escrowCreations.size() +
		s.actions.size()
}
