package platform

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Platform serves the business operations of the platform API; the login operations are not its own. It is safe for
// concurrent use.
type Platform struct {
	clock      *clock.Clock
	settings   func() *deployment.Settings
	integrator Integrators

	mu    sync.Mutex
	state *state
}

// state is everything that Reset forgets.
type state struct {
	books  books
	filled decimal.Decimal // the faucet balance setting as the books have it
	kept   kept

	holders map[holderKey]*holder
	emails  map[emailKey]*holder
	wallets map[string]*holder // by address in lower case

	contacts  map[string]*contact
	byDetails map[detailsKey]*contact

	payouts   map[string]*payout
	approvals map[string]*payout // by approval id, also those that are closed
	inFlight  []*payout          // funded and still moving by itself, in the order of funding
	returning []*payout          // refunded, with money that is on its way back
	unmatched []*payout          // refunded, and no returned money is attributed to them yet
	finished  queue[finished]    // payouts, in the order in which they finished
	sequence  int                // of the last transaction
	finishes  int                // of payouts
	refunds   int                // of payouts
	recorded  int                // transactions of all accounts

	payins map[string]*payin
	quoted map[payinKey]*payin // the latest payin of the same terms
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

// New returns a platform as it is kept. The settings are read at the start of each request, before any lock is
// taken; they must be safe for concurrent use.
func New(clk *clock.Clock, settings func() *deployment.Settings, integrator Integrators, kept store.Store) *Platform {
	return &Platform{clock: clk, settings: settings, integrator: integrator, state: newState(store.NewKeeper(kept))}
}

// Reset goes back to the first state.
func (p *Platform) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	keeper := p.state.kept.keeper
	p.state.clear()
	keeper.Commit()
	p.state = newState(keeper)
}

// Ledger is a copy of the books, up to date.
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
	return ok && clientID != caller.Self
}

// turn is one request's time with the state, while the lock is held.
type turn struct {
	*state
	settings   *deployment.Settings
	integrator Integrators
	now        time.Time
}

// enter takes the lock and does everything that is due; leave gives the lock back.
func (p *Platform) enter() *turn {
	settings := p.settings()
	p.mu.Lock()
	t := &turn{state: p.state, settings: settings, integrator: p.integrator,
		now: p.clock.Now().Truncate(time.Millisecond)}
	t.fillFaucet()
	t.settleDue()
	t.receiveReturned()
	t.forgetFinished()
	return t
}

// leave keeps what has changed, and gives the lock back.
func (p *Platform) leave() {
	defer p.mu.Unlock()
	p.state.commit()
}

// newID is a random id in a namespace.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// newHash is a random transaction hash.
func newHash() string {
	var hash [32]byte
	_, _ = rand.Read(hash[:]) // never fails
	return "0x" + hex.EncodeToString(hash[:])
}

// Records is how many records there are: all that a caller can make the platform keep, counted one by one.
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
