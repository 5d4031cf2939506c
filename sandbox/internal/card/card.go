package card

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
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

// card is a payment card.
type card struct {
	ID, Account, Label string
	Holder             Holder
	Wallet             string // address
	Limits             limits
	Secrets            secrets
	Nonces             map[int64]bool // the nonces that revealed it
	Frozen             bool
	CreatedAt          time.Time
}

// view returns the card as responses show it, without its secrets.
func (t *turn) view(c *card) commonwire.Card {
	return commonwire.Card{
		ID:            c.ID,
		WalletAddress: c.Wallet,
		CreatedAt:     c.CreatedAt.Format(time.RFC3339Nano),
		Label:         c.Label,
		Status:        t.status(c),
		Activated:     !t.pending(c),
		Limit: commonwire.CardLimit{
			DailyLimit:    wire.NumberOf(c.Limits.Daily),
			MonthlyLimit:  wire.NumberOf(c.Limits.Monthly),
			LifetimeLimit: wire.NumberOf(c.Limits.Lifetime),
			Currency:      limitCurrency,
		},
		CardData: commonwire.CardData{
			NameOnCard:    c.Holder.Name,
			PaymentSystem: paymentSystem,
			LastFour:      c.Secrets.Number[len(c.Secrets.Number)-4:],
			ExpiryDate:    c.Secrets.Expiry,
			CardName:      "Virtual card",
		},
		BillingAddress: c.Holder.Address,
	}
}

func (t *turn) status(c *card) commonwire.CardStatus {
	switch {
	case t.pending(c):
		return commonwire.CardStatusPending
	case c.Frozen:
		return commonwire.CardStatusFrozen
	default:
		return commonwire.CardStatusActive
	}
}

const (
	limitCurrency = "USD"
	limitDecimals = 2
	limitDigits   = 18
)

// limits are what a card may spend.
type limits struct{ Daily, Monthly, Lifetime decimal.Decimal }

func firstLimits() limits {
	return limits{Daily: decimal.NewFromInt(1_000), Monthly: decimal.NewFromInt(10_000),
		Lifetime: decimal.NewFromInt(100_000)}
}

// SetLimit sets the given limits, and keeps the others.
func (c *Cards) SetLimit(ctx context.Context, id string, body appwire.CardLimitUpdate) (commonwire.Card, error) {
	return c.on(ctx, id, func(t *turn, found *card) error {
		changed := found.Limits
		wrong := set("dailyLimit", &changed.Daily, body.DailyLimit)
		wrong = append(wrong, set("monthlyLimit", &changed.Monthly, body.MonthlyLimit)...)
		wrong = append(wrong, set("lifetimeLimit", &changed.Lifetime, body.LifetimeLimit)...)
		if len(wrong) == 0 {
			wrong = changed.ordered()
		}
		if len(wrong) > 0 {
			return wire.ValidationFailed("", wrong...)
		}
		found.Limits = changed
		t.changed(found)
		return nil
	})
}

// set sets a given limit, or returns what is wrong with it. Null changes nothing, because every card has limits.
func set(field string, limit *decimal.Decimal, member nullable.Nullable[wire.Number]) []wire.Field {
	given, err := member.Get()
	if err != nil {
		return nil
	}
	wrong := func(code, message string) []wire.Field {
		return []wire.Field{{Field: field, Code: code, Message: message}}
	}
	switch {
	case given.NumDigits() > limitDigits || given.Exponent() > limitDigits || given.Exponent() < -limitDigits:
		return wrong("decimal_max_digits", "A limit has at most 18 digits.")
	case given.IsNegative():
		return wrong("greater_than_equal", "A limit must not be negative.")
	case !given.Equal(given.Truncate(limitDecimals)):
		return wrong("amount_precision", "The currency has 2 decimals.")
	}
	*limit = given.Decimal
	return nil
}

// ordered reports a limit that is more than the limit of a longer time.
func (l limits) ordered() []wire.Field {
	var wrong []wire.Field
	if l.Daily.GreaterThan(l.Monthly) {
		wrong = append(wrong,
			wire.Field{Field: "dailyLimit", Code: "less_than_equal",
				Message: "The daily limit must not be more than the monthly limit."})
	}
	if l.Monthly.GreaterThan(l.Lifetime) {
		wrong = append(wrong, wire.Field{Field: "monthlyLimit", Code: "less_than_equal",
			Message: "The monthly limit must not be more than the lifetime limit."})
	}
	return wrong
}

// App serves the app API's operations on cards.
type App struct{ *Cards }

// ListCards implements the operation of that name.
func (a App) ListCards(ctx context.Context) (wire.Answer, error) {
	return wire.OK(a.List(ctx)), nil
}

// CreateCard implements the operation of that name.
func (a App) CreateCard(ctx context.Context, _ appwire.CardCreate) (wire.Answer, error) {
	answer, err := a.Create(ctx)
	return wire.Created(answer), err
}

// GetCard implements the operation of that name.
func (a App) GetCard(ctx context.Context, cardID string) (wire.Answer, error) {
	answer, err := a.Get(ctx, cardID)
	return wire.OK(answer), err
}

// RevealCardDetails implements the operation of that name.
func (a App) RevealCardDetails(
	ctx context.Context, cardID string, body commonwire.CardDetailsProof,
) (wire.Answer, error) {
	answer, err := a.Reveal(ctx, cardID, body)
	return wire.OK(answer), err
}

// SetCardLabel implements the operation of that name.
func (a App) SetCardLabel(ctx context.Context, cardID string, body appwire.CardLabelUpdate) (wire.Answer, error) {
	answer, err := a.SetLabel(ctx, cardID, wire.Value(body.Label))
	return wire.OK(answer), err
}

// SetCardLimit implements the operation of that name.
func (a App) SetCardLimit(ctx context.Context, cardID string, body appwire.CardLimitUpdate) (wire.Answer, error) {
	answer, err := a.SetLimit(ctx, cardID, body)
	return wire.OK(answer), err
}

// FreezeCard implements the operation of that name.
func (a App) FreezeCard(ctx context.Context, cardID string) (wire.Answer, error) {
	answer, err := a.Freeze(ctx, cardID, true)
	return wire.OK(answer), err
}

// UnfreezeCard implements the operation of that name.
func (a App) UnfreezeCard(ctx context.Context, cardID string) (wire.Answer, error) {
	answer, err := a.Freeze(ctx, cardID, false)
	return wire.OK(answer), err
}

// CreateCardKYCLink implements the operation of that name.
func (a App) CreateCardKYCLink(ctx context.Context) (wire.Answer, error) {
	return wire.OK(a.KYCLink(ctx)), nil
}

// PreApproveCard implements the operation of that name.
func (a App) PreApproveCard(ctx context.Context, body appwire.CardPreApprovalCreate) (wire.Answer, error) {
	answer, err := a.PreApprove(ctx, body)
	return wire.OK(answer), err
}

// Reference serves the reference endpoints' operations on cards.
type Reference struct{ *Cards }

// ListCards implements the operation of that name.
func (a Reference) ListCards(ctx context.Context) (wire.Answer, error) {
	return wire.OK(a.List(ctx)), nil
}

// RevealCardDetails implements the operation of that name.
func (a Reference) RevealCardDetails(
	ctx context.Context, cardID string, body commonwire.CardDetailsProof,
) (wire.Answer, error) {
	answer, err := a.Reveal(ctx, cardID, body)
	return wire.OK(answer), err
}
