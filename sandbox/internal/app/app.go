package app

import (
	"context"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/credential"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
)

// Invoices are what transfers need to pay one. They must be safe for concurrent use.
type Invoices interface {
	// Settle pays an invoice as pay says, or refuses one that does not wait for its payment. It enters the transfer by
	// the hash that pay answers. Payee is the email address of the contractor.
	Settle(id string, pay func(amount decimal.Decimal, currency, payee string) (txHash string, err error)) error
}

// Config is what an app stands on.
type Config struct {
	Clock    *clock.Clock
	Settings func() *deployment.Settings
	Platform *platform.Platform
	Keys     *credential.AppKeys
	Invoices Invoices
	// Wallet is the address of the wallet that logs in.
	Wallet string
}

// App answers the operations of the app API that are about its owner's account and money. It is safe for concurrent use.
type App struct {
	Config

	mu    sync.Mutex
	state *state
}

// state is everything that Reset forgets.
type state struct {
	accounts  map[string]*account  // by owner
	transfers map[string]*transfer // by the transaction of the ledger
	sent      []*transfer          // oldest first
	logins    []WalletLogin
	events    []PartnerEvent
}

// account is what an integrator's own account has on this surface.
type account struct {
	profile  profile
	contacts []*contact // oldest first
	quotes   map[string]*payoutQuote
	memos    map[string]string    // of payins
	anchored map[string]*transfer // the latest of each idempotency key
}

func newState() *state {
	return &state{accounts: map[string]*account{}, transfers: map[string]*transfer{}}
}

// New returns an app's operations in their first state.
func New(config Config) *App { return &App{Config: config, state: newState()} }

// Reset goes back to the first state.
func (a *App) Reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state = newState()
}

// turn is one request's time with the state, while the lock is held. Money and invoices have locks of their own, which
// are only ever taken after this one.
type turn struct {
	*state
	*account
	caller   caller.Caller
	own      platform.Own
	settings *deployment.Settings
	now      time.Time
}

// enter takes the lock for the account of a caller; leave gives it back.
func (a *App) enter(ctx context.Context) *turn {
	settings := a.Settings()
	who := caller.From(ctx)
	a.mu.Lock()
	mine := a.state.accounts[who.Owner]
	if mine == nil {
		mine = &account{quotes: map[string]*payoutQuote{}, memos: map[string]string{}, anchored: map[string]*transfer{}}
		a.state.accounts[who.Owner] = mine
	}
	return &turn{
		state: a.state, account: mine, caller: who, own: a.Platform.Own(who),
		settings: settings, now: a.Clock.Now().Truncate(time.Millisecond),
	}
}

func (a *App) leave() { a.mu.Unlock() }

// defaultLimit is how many entries a list answers. Source: Limits, Pages and sizes.
const defaultLimit = 50

// pageOf cuts a page out of a list. It is never nil, so that it travels as an array.
func pageOf[T any](list []T, limit, offset int) []T {
	if limit == 0 {
		limit = defaultLimit
	}
	start := min(offset, len(list))
	return append([]T{}, list[start:min(start+limit, len(list))]...)
}

// total is a count as lists carry it.
func total[T any](list []T) *int {
	count := len(list)
	return &count
}

// Records is how many records there are.
func (a *App) Records() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := len(a.state.accounts) + len(a.state.sent) + len(a.state.logins) + len(a.state.events)
	for _, mine := range a.state.accounts {
		kept += len(mine.contacts) + len(mine.quotes) + len(mine.memos) + len(mine.anchored)
	}
	return kept
}
