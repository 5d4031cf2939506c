package billing

import (
	"context"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// Profile is an account as the parties of its contracts and invoices see it.
type Profile struct {
	// ID is the account's, a UUID; it follows from the email address when empty.
	ID                                           string
	Email                                        string
	DisplayName, FirstName, LastName, EntityName string
	IsBusiness                                   bool
	Address                                      *commonwire.PostalAddress
	// WalletAddress is where the account is paid on Base.
	WalletAddress string
}

// Config is what paperwork needs of the host. The functions must be safe for concurrent use.
type Config struct {
	Clock    *clock.Clock
	Settings func() *deployment.Settings
	// Profile answers the account that makes a request.
	Profile func(context.Context) Profile
}

// Billing answers the operations on documents, contracts and invoices. It is safe for concurrent use.
type Billing struct {
	config Config

	mu    sync.Mutex
	state *state
}

// state is everything that Reset forgets.
type state struct {
	documents map[string]*document

	contracts     map[string]*contract
	contractOrder []*contract // oldest first

	invoices     map[string]*invoice
	invoiceOrder []*invoice          // oldest first
	references   map[string]*invoice // by custom transaction reference
	numbers      map[numberKey]int   // the last number given
}

func newState() *state {
	return &state{
		documents:  map[string]*document{},
		contracts:  map[string]*contract{},
		invoices:   map[string]*invoice{},
		references: map[string]*invoice{},
		numbers:    map[numberKey]int{},
	}
}

// New returns paperwork in its first state: none.
func New(config Config) *Billing { return &Billing{config: config, state: newState()} }

// Reset goes back to the first state.
func (b *Billing) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = newState()
}

// turn is one request's time with the state, while the lock is held.
type turn struct {
	*state
	settings *deployment.Settings
	now      time.Time
	me       party // who asks; the zero party on public routes
}

// enter takes the lock for an account's request; leave gives it back.
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

// precision is how finely the host tells the time.
const precision = time.Millisecond

func (b *Billing) leave() { b.mu.Unlock() }

// Records is how many records there are.
func (b *Billing) Records() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := b.state
	return len(s.documents) + len(s.contracts) + len(s.invoices) + len(s.references) + len(s.numbers)
}
