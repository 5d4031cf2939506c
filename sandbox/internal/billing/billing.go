package billing

import (
	"context"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// Profile is an account as the other parties of its contracts and invoices see it.
type Profile struct {
	// ID is the account's UUID. If it is empty, it is derived from the email address.
	ID                                           string
	Email                                        string
	DisplayName, FirstName, LastName, EntityName string
	IsBusiness                                   bool
	Address                                      *commonwire.PostalAddress
	// WalletAddress is the account's wallet on Base.
	WalletAddress string
}

// Config is what billing needs from the host. The functions must be safe for concurrent use.
type Config struct {
	Clock    *clock.Clock
	Settings func() *deployment.Settings
	// Profile returns the account that makes a request.
	Profile func(context.Context) Profile
	// Store keeps contracts, invoices and documents.
	Store store.Store
}

// Billing serves the operations on documents, contracts and invoices. It is safe for concurrent use.
type Billing struct {
	config Config

	mu    sync.Mutex
	state *state
}

// state is what Reset deletes: the stored records by their ids, and values derived from them.
type state struct {
	keeper    *store.Keeper
	documents *store.Table[document]
	contracts *store.Table[contract]
	invoices  *store.Table[invoice]
	numbers   *store.Table[sequence]

	contractOrder []*contract         // oldest first
	invoiceOrder  []*invoice          // oldest first
	references    map[string]*invoice // by custom transaction reference
}

// New returns a Billing with the stored records.
func New(config Config) *Billing {
	s := &state{keeper: store.NewKeeper(config.Store), references: map[string]*invoice{}}
	s.documents = store.Open[document](s.keeper, "billing.document")
	s.contracts = store.Open(s.keeper, "billing.contract", func(_ string, c *contract) {
		s.contractOrder = append(s.contractOrder, c)
	})
	s.invoices = store.Open(s.keeper, "billing.invoice", func(_ string, i *invoice) {
		i.contract, i.document = s.contracts.Get(i.ContractID), s.documents.Get(i.DocumentID)
		s.enter(i)
		if i.Reference != "" {
			s.references[i.Reference] = i
		}
	})
	s.numbers = store.Open[sequence](s.keeper, "billing.number")
	return &Billing{config: config, state: s}
}

// enter adds an invoice as the latest.
func (s *state) enter(i *invoice) {
	s.invoiceOrder = append(s.invoiceOrder, i)
	if i.contract != nil {
		i.contract.invoices = append(i.contract.invoices, i)
	}
}

// Reset returns to the initial state.
func (b *Billing) Reset() {
	b.mu.Lock()
	defer b.leave()
	s := b.state
	s.documents.Clear()
	s.contracts.Clear()
	s.invoices.Clear()
	s.numbers.Clear()
	s.contractOrder, s.invoiceOrder, s.references = nil, nil, map[string]*invoice{}
}

// turn is one request's time with the state, while it holds the lock.
type turn struct {
	*state
	settings *deployment.Settings
	now      time.Time
	me       party // the caller; zero on public routes
}

// enter takes the lock for an account's request. leave releases it.
func (b *Billing) enter(ctx context.Context) *turn {
	me := b.config.Profile(ctx).party()
	t := b.enterPublic()
	t.me = me
	return t
}

// enterPublic takes the lock for a request that needs no account.
func (b *Billing) enterPublic() *turn {
	settings := b.config.Settings()
	b.mu.Lock()
	return &turn{state: b.state, settings: settings, now: b.config.Clock.Now().Truncate(precision)}
}

// precision is the precision of the host's times.
const precision = time.Millisecond

// leave stores what has changed, and releases the lock.
func (b *Billing) leave() {
	defer b.mu.Unlock()
	b.state.keeper.Commit()
}

// Records returns how many records there are.
func (b *Billing) Records() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	return s.documents.Len() + s.contracts.Len() + s.invoices.Len() + len(s.references) + s.numbers.Len()
}
