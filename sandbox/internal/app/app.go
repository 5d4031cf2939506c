package app

import (
	"context"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// Invoices has what transfers need to pay an invoice. It must be safe for concurrent use.
type Invoices interface {
	// Settle pays an invoice with pay. It refuses an invoice that is not waiting for a payment. It stores the hash that
	// pay returns as the invoice's transaction. Payee is the email address of the contractor.
	Settle(id string, pay func(amount decimal.Decimal, currency, payee string) (txHash string, err error)) error
}

// Config is the configuration of an app.
type Config struct {
	Clock    *clock.Clock
	Settings func() *deployment.Settings
	Platform *platform.Platform
	Keys     *session.AppKeys
	Invoices Invoices
	// Wallet is the address of the wallet that logs in.
	Wallet string
	// Store keeps the accounts, and what they sent.
	Store store.Store
}

// App serves the operations of the app API on its owner's account and money. It is safe for concurrent use.
type App struct {
	Config

	mu    sync.Mutex
	state *state
}

// state is what Reset deletes: the stored records, and values derived from them.
type state struct {
	keeper   *store.Keeper
	accounts *store.Table[account] // by owner
	contacts *store.Table[contact] // by id
	quotes   *store.Table[payoutQuote]
	sent     *store.Table[transfer]
	memos    *store.Table[memo] // by payin
	logins   *store.Table[WalletLogin]
	events   *store.Table[PartnerEvent]

	transfers     map[string]*transfer // by the transaction of the ledger
	sentInOrder   []*transfer          // oldest first
	loginsInOrder []WalletLogin
	eventsInOrder []PartnerEvent
}

// account is what this surface stores about an integrator's own account.
type account struct {
	Profile profile

	contacts []*contact // oldest first
	quotes   map[string]*payoutQuote
	memos    map[string]string    // of payins
	anchored map[string]*transfer // the latest of each idempotency key
}

// memo is the purpose of a payin.
type memo struct{ Account, Text string }

// New returns an app with the stored records.
func New(config Config) *App {
	s := &state{keeper: store.NewKeeper(config.Store), transfers: map[string]*transfer{}}
	s.accounts = store.Open(s.keeper, "app.account", func(_ string, mine *account) { mine.open() })
	s.contacts = store.Open(s.keeper, "app.contact", func(_ string, c *contact) {
		mine := s.accounts.Get(c.Account)
		mine.contacts = append(mine.contacts, c)
	})
	s.sent = store.Open(s.keeper, "app.transfer", func(_ string, sent *transfer) {
		s.enter(s.accounts.Get(sent.Account), sent)
	})
	s.quotes = store.Open(s.keeper, "app.payout_quote", func(id string, quoted *payoutQuote) {
		quoted.used = s.sent.Get(quoted.UsedBy)
		s.accounts.Get(quoted.Account).quotes[id] = quoted
	})
	s.memos = store.Open(s.keeper, "app.memo", func(payin string, m *memo) {
		s.accounts.Get(m.Account).memos[payin] = m.Text
	})
	s.logins = store.Open(s.keeper, "app.login", func(_ string, login *WalletLogin) {
		s.loginsInOrder = append(s.loginsInOrder, *login)
	})
	s.events = store.Open(s.keeper, "app.event", func(_ string, event *PartnerEvent) {
		s.eventsInOrder = append(s.eventsInOrder, *event)
	})
	return &App{Config: config, state: s}
}

func (mine *account) open() {
	mine.quotes, mine.memos, mine.anchored = map[string]*payoutQuote{}, map[string]string{}, map[string]*transfer{}
}

// enter adds a transfer as the latest of an account.
func (s *state) enter(mine *account, sent *transfer) {
	s.sentInOrder = append(s.sentInOrder, sent)
	s.transfers[sent.LedgerTransaction] = sent
	if sent.Key != "" {
		mine.anchored[sent.Key] = sent
	}
}

// Reset returns to the initial state.
func (a *App) Reset() {
	a.mu.Lock()
	defer a.leave()
	s := a.state
	s.accounts.Clear()
	s.contacts.Clear()
	s.quotes.Clear()
	s.sent.Clear()
	s.memos.Clear()
	s.logins.Clear()
	s.events.Clear()
	s.transfers, s.sentInOrder, s.loginsInOrder, s.eventsInOrder = map[string]*transfer{}, nil, nil, nil
}

// ForgetKeys forgets every idempotency key. The transfers stay as they are.
func (a *App) ForgetKeys() {
	a.mu.Lock()
	defer a.leave()
	for _, mine := range a.state.accounts.All() {
		clear(mine.anchored)
	}
}

// turn is one request's time with the state, while it holds the lock. Money and invoices have their own locks, which
// are always taken after this one.
type turn struct {
	*state
	*account
	caller   wire.Caller
	own      platform.Own
	settings *deployment.Settings
	now      time.Time
}

// enter takes the lock for a caller's account. leave releases it.
func (a *App) enter(ctx context.Context) *turn {
	settings := a.Settings()
	who := wire.CallerOf(ctx)
	a.mu.Lock()
	mine := a.state.accounts.Get(who.Owner)
	if mine == nil {
		mine = &account{}
		mine.open()
		a.state.accounts.Put(who.Owner, mine)
	}
	return &turn{
		state: a.state, account: mine, caller: who, own: a.Platform.Own(who),
		settings: settings, now: a.Clock.Now().Truncate(time.Millisecond),
	}
}

// leave stores what has changed, and releases the lock.
func (a *App) leave() {
	defer a.mu.Unlock()
	a.state.keeper.Commit()
}

// defaultLimit is how many entries a list returns by default.
const defaultLimit = 50

// pageOf returns one page of a list. It is never nil, so that JSON has an array.
func pageOf[T any](list []T, limit, offset int) []T {
	if limit == 0 {
		limit = defaultLimit
	}
	start := min(offset, len(list))
	return append([]T{}, list[start:min(start+limit, len(list))]...)
}

// total returns a count as lists have it.
func total[T any](list []T) *int {
	count := len(list)
	return &count
}

// Records returns how many records there are.
func (a *App) Records() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.state
	kept := s.accounts.Len() + s.contacts.Len() + s.quotes.Len() + s.sent.Len() + s.memos.Len() + s.logins.Len() +
		s.events.Len()
	for _, mine := range s.accounts.All() {
		kept += len(mine.anchored)
	}
	return kept
}
