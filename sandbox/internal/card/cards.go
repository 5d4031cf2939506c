package card

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// Holder is whose name and address a card carries.
type Holder struct {
	Name    string
	Address commonwire.BillingAddress
}

// Config is what cards need of the host. The functions must be safe for concurrent use.
type Config struct {
	Clock    *clock.Clock
	Settings func() *deployment.Settings
	// Holder answers the account that makes a request.
	Holder func(context.Context) Holder
	// WalletAddress is the wallet that every card spends from.
	WalletAddress string
}

// Cards answers the operations on cards. It is safe for concurrent use.
type Cards struct {
	config Config

	mu         sync.Mutex
	programmes map[string]*programme // by account
}

// programme is the card programme as one account takes part in it.
type programme struct {
	cards       []*card // oldest first
	requestedAt time.Time
	allowance   *allowance // nil: none
}

// New returns a programme without cards.
func New(config Config) *Cards {
	c := &Cards{config: config}
	c.Reset()
	return c
}

// Reset goes back to the first state.
func (c *Cards) Reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.programmes = map[string]*programme{}
}

// turn is one request's time with the account's part of the programme, while the lock is held.
type turn struct {
	*programme
	settings *deployment.Settings
	now      time.Time
}

// enter takes the lock; leave gives it back.
func (c *Cards) enter(ctx context.Context) *turn {
	account, settings := caller.From(ctx).Owner, c.config.Settings()
	c.mu.Lock()
	if c.programmes[account] == nil {
		c.programmes[account] = &programme{}
	}
	return &turn{programme: c.programmes[account], settings: settings, now: c.config.Clock.Now().Truncate(time.Millisecond)}
}

func (c *Cards) leave() { c.mu.Unlock() }

// card finds a card of the account.
func (t *turn) card(id string) (*card, error) {
	for _, found := range t.cards {
		if found.id == id {
			return found, nil
		}
	}
	return nil, refuse.NotFound()
}

// pending tells whether a card is not ready to be used.
func (t *turn) pending(c *card) bool {
	return t.now.Before(c.createdAt.Add(time.Duration(t.settings.CardActiveAfter)))
}

// List answers the cards, newest first, and how far the account is from having one. Source: Card, card list answer.
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

// Create issues a card. Source: App API, Cards.
func (c *Cards) Create(ctx context.Context) (commonwire.Card, error) {
	holder := c.config.Holder(ctx)
	holder.Name = cmp.Or(holder.Name, caller.From(ctx).Email)
	secrets, err := newSecrets(c.config.Clock.Now())
	if err != nil {
		return commonwire.Card{}, err
	}
	t := c.enter(ctx)
	defer c.leave()
	issued := &card{
		id:        "card_" + uuid.NewString(),
		holder:    holder,
		wallet:    c.config.WalletAddress,
		limits:    firstLimits(),
		secrets:   secrets,
		nonces:    map[int64]bool{},
		createdAt: t.now,
	}
	t.cards = append(t.cards, issued)
	return t.view(issued), nil
}

// Get reads a card without its secrets. Source: App API, Cards.
func (c *Cards) Get(ctx context.Context, id string) (commonwire.Card, error) {
	return c.on(ctx, id, func(*turn, *card) error { return nil })
}

// on does something to one card and answers it as it then stands.
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

// SetLabel gives a card a label of the caller's own. Source: App API, Cards.
func (c *Cards) SetLabel(ctx context.Context, id, label string) (commonwire.Card, error) {
	return c.on(ctx, id, func(_ *turn, found *card) error {
		found.label = label
		return nil
	})
}

// Freeze stops a card from spending, or lets it spend again. Source: App API, Cards.
func (c *Cards) Freeze(ctx context.Context, id string, frozen bool) (commonwire.Card, error) {
	return c.on(ctx, id, func(t *turn, found *card) error {
		if t.pending(found) {
			return refuse.Conflict("The card is not active yet.")
		}
		found.frozen = frozen
		return nil
	})
}

// Records is how many cards there are.
func (c *Cards) Records() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := 0
	for _, mine := range c.programmes {
		kept += len(mine.cards)
	}
	return kept
}
