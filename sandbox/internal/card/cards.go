package card

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// Holder is the person on a card: name and address.
type Holder struct {
	Name    string
	Address commonwire.BillingAddress
}

// Config is what cards need from the host. The functions must be safe for concurrent use.
type Config struct {
	Clock    *clock.Clock
	Settings func() *deployment.Settings
	// Holder returns the account that makes a request.
	Holder func(context.Context) Holder
	// WalletAddress is the wallet of every card.
	WalletAddress string
	// Store keeps the cards.
	Store store.Store
}

// Cards serves the operations on cards. It is safe for concurrent use.
type Cards struct {
	config Config

	mu     sync.Mutex
	keeper *store.Keeper
	issued *store.Table[card]      // by id
	parts  *store.Table[programme] // by account, of the accounts that have changed something

	programmes map[string]*programme // by account
}

// programme is one account's part in the card programme.
type programme struct {
	RequestedAt time.Time
	Allowance   *allowance // or nil

	cards []*card // oldest first
}

// New returns Cards with the stored records.
func New(config Config) *Cards {
	c := &Cards{config: config, keeper: store.NewKeeper(config.Store), programmes: map[string]*programme{}}
	c.parts = store.Open(c.keeper, "card.programme", func(account string, mine *programme) {
		c.programmes[account] = mine
	})
	c.issued = store.Open(c.keeper, "card.card", func(_ string, issued *card) {
		mine := c.programme(issued.Account)
		mine.cards = append(mine.cards, issued)
	})
	return c
}

// programme must be called with the lock held.
func (c *Cards) programme(account string) *programme {
	if c.programmes[account] == nil {
		c.programmes[account] = &programme{}
	}
	return c.programmes[account]
}

// Reset returns to the initial state.
func (c *Cards) Reset() {
	c.mu.Lock()
	defer c.leave()
	c.issued.Clear()
	c.parts.Clear()
	c.programmes = map[string]*programme{}
}

// turn is one request's time with the account's part of the programme, while it holds the lock.
type turn struct {
	*Cards
	*programme
	account  string
	settings *deployment.Settings
	now      time.Time
}

// enter takes the lock. leave releases it.
func (c *Cards) enter(ctx context.Context) *turn {
	account, settings := wire.CallerOf(ctx).Owner, c.config.Settings()
	c.mu.Lock()
	return &turn{
		Cards: c, programme: c.programme(account), account: account,
		settings: settings, now: c.config.Clock.Now().Truncate(time.Millisecond),
	}
}

// leave stores what has changed, and releases the lock.
func (c *Cards) leave() {
	defer c.mu.Unlock()
	c.keeper.Commit()
}

// changed stores a new or changed card.
func (t *turn) changed(c *card) { t.issued.Put(c.ID, c) }

// took stores the account's part in the programme.
func (t *turn) took() { t.parts.Put(t.account, t.programme) }

// card finds a card of the account.
func (t *turn) card(id string) (*card, error) {
	for _, found := range t.cards {
		if found.ID == id {
			return found, nil
		}
	}
	return nil, wire.NotFound()
}

// pending reports whether a card cannot be used yet.
func (t *turn) pending(c *card) bool {
	return t.now.Before(c.CreatedAt.Add(time.Duration(t.settings.CardActiveAfter)))
}

// List returns the cards, newest first, and what the account still needs for a card.
func (c *Cards) List(ctx context.Context) commonwire.CardList {
	t := c.enter(ctx)
	defer c.leave()
	total := len(t.cards)
	list := commonwire.CardList{
		Cards: make([]commonwire.Card, 0, total), Total: &total, Created: total > 0, KYCStatus: t.verification(),
	}
	list.PhoneVerified = list.KYCStatus == commonwire.KYCStatusApproved
	for i := total - 1; i >= 0; i-- {
		list.Cards = append(list.Cards, t.view(t.cards[i]))
	}
	return list
}

// Create issues a card.
func (c *Cards) Create(ctx context.Context) (commonwire.Card, error) {
	holder := c.config.Holder(ctx)
	holder.Name = cmp.Or(holder.Name, wire.CallerOf(ctx).Email)
	secrets, err := newSecrets(c.config.Clock.Now())
	if err != nil {
		return commonwire.Card{}, err
	}
	t := c.enter(ctx)
	defer c.leave()
	issued := &card{
		ID:        "card_" + uuid.NewString(),
		Account:   t.account,
		Holder:    holder,
		Wallet:    c.config.WalletAddress,
		Limits:    firstLimits(),
		Secrets:   secrets,
		Nonces:    map[int64]bool{},
		CreatedAt: t.now,
	}
	t.changed(issued)
	t.cards = append(t.cards, issued)
	return t.view(issued), nil
}

// Get reads a card without its secrets.
func (c *Cards) Get(ctx context.Context, id string) (commonwire.Card, error) {
	return c.on(ctx, id, func(*turn, *card) error { return nil })
}

// on changes one card, and returns the changed card.
func (c *Cards) on(ctx context.Context, id string, do func(*turn, *card) error) (commonwire.Card, error) {
	t := c.enter(ctx)
	defer c.leave()
	found, err := t.card(id)
	if err != nil {
		return commonwire.Card{}, err
	}
	if err := do(t, found); err != nil {
		return commonwire.Card{}, err
	}
	return t.view(found), nil
}

// SetLabel sets the label of a card.
func (c *Cards) SetLabel(ctx context.Context, id, label string) (commonwire.Card, error) {
	return c.on(ctx, id, func(t *turn, found *card) error {
		found.Label = label
		t.changed(found)
		return nil
	})
}

// Freeze freezes or unfreezes a card.
func (c *Cards) Freeze(ctx context.Context, id string, frozen bool) (commonwire.Card, error) {
	return c.on(ctx, id, func(t *turn, found *card) error {
		if t.pending(found) {
			return wire.Conflict("The card is not active yet.")
		}
		found.Frozen = frozen
		t.changed(found)
		return nil
	})
}

// Records returns how many cards there are.
func (c *Cards) Records() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.issued.Len()
}
