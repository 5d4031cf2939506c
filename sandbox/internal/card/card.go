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
	defer c.commit()
	c.issued.Clear()
	c.parts.Clear()
	c.programmes = map[string]*programme{}
}

// txn is one request's time with the account's part of the programme, while it holds the lock.
type txn struct {
	*Cards
	*programme
	account  string
	settings *deployment.Settings
	now      time.Time
}

// begin takes the lock. commit releases it.
func (c *Cards) begin(ctx context.Context) *txn {
	account, settings := wire.CallerOf(ctx).Owner, c.config.Settings()
	c.mu.Lock()
	return &txn{
		Cards: c, programme: c.programme(account), account: account,
		settings: settings, now: c.config.Clock.Now().Truncate(time.Millisecond),
	}
}

// commit stores what has changed, and releases the lock.
func (c *Cards) commit() {
	defer c.mu.Unlock()
	c.keeper.Commit()
}

// putCard stores a new or changed card.
func (t *txn) putCard(c *card) { t.issued.Put(c.ID, c) }

// putProgramme stores the account's part in the programme.
func (t *txn) putProgramme() { t.parts.Put(t.account, t.programme) }

// card finds a card of the account.
func (t *txn) card(id string) (*card, error) {
	for _, card := range t.cards {
		if card.ID == id {
			return card, nil
		}
	}
	return nil, wire.NotFound()
}

// pending reports whether a card cannot be used yet.
func (t *txn) pending(c *card) bool {
	return t.now.Before(c.CreatedAt.Add(time.Duration(t.settings.CardActiveAfter)))
}

// List returns the cards, newest first, and what the account still needs for a card.
func (c *Cards) List(ctx context.Context) commonwire.CardList {
	t := c.begin(ctx)
	defer c.commit()
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
	t := c.begin(ctx)
	defer c.commit()
	issued := &card{
		ID:        "card_" + uuid.NewString(),
		Account:   t.account,
		Holder:    holder,
		Wallet:    c.config.WalletAddress,
		Limits:    defaultLimits(),
		Secrets:   secrets,
		Nonces:    map[int64]bool{},
		CreatedAt: t.now,
	}
	t.putCard(issued)
	t.cards = append(t.cards, issued)
	return t.view(issued), nil
}

// Get reads a card without its secrets.
func (c *Cards) Get(ctx context.Context, id string) (commonwire.Card, error) {
	return c.changeCard(ctx, id, func(*txn, *card) error { return nil })
}

// changeCard changes one card, and returns the changed card.
func (c *Cards) changeCard(ctx context.Context, id string, do func(*txn, *card) error) (commonwire.Card, error) {
	t := c.begin(ctx)
	defer c.commit()
	card, err := t.card(id)
	if err != nil {
		return commonwire.Card{}, err
	}
	if err := do(t, card); err != nil {
		return commonwire.Card{}, err
	}
	return t.view(card), nil
}

// SetLabel sets the label of a card.
func (c *Cards) SetLabel(ctx context.Context, id, label string) (commonwire.Card, error) {
	return c.changeCard(ctx, id, func(t *txn, target *card) error {
		target.Label = label
		t.putCard(target)
		return nil
	})
}

// Freeze freezes or unfreezes a card.
func (c *Cards) Freeze(ctx context.Context, id string, frozen bool) (commonwire.Card, error) {
	return c.changeCard(ctx, id, func(t *txn, target *card) error {
		if t.pending(target) {
			return wire.Conflict("The card is not active yet.")
		}
		target.Frozen = frozen
		t.putCard(target)
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
func (t *txn) view(c *card) commonwire.Card {
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

func (t *txn) status(c *card) commonwire.CardStatus {
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

func defaultLimits() limits {
	return limits{Daily: decimal.NewFromInt(1_000), Monthly: decimal.NewFromInt(10_000),
		Lifetime: decimal.NewFromInt(100_000)}
}

// SetLimit sets the given limits, and keeps the others.
func (c *Cards) SetLimit(ctx context.Context, id string, body appwire.CardLimitUpdate) (commonwire.Card, error) {
	return c.changeCard(ctx, id, func(t *txn, target *card) error {
		changed := target.Limits
		wrong := setLimit("dailyLimit", &changed.Daily, body.DailyLimit)
		wrong = append(wrong, setLimit("monthlyLimit", &changed.Monthly, body.MonthlyLimit)...)
		wrong = append(wrong, setLimit("lifetimeLimit", &changed.Lifetime, body.LifetimeLimit)...)
		if len(wrong) == 0 {
			wrong = changed.checkOrder()
		}
		if len(wrong) > 0 {
			return wire.ValidationFailed("", wrong...)
		}
		target.Limits = changed
		t.putCard(target)
		return nil
	})
}

// setLimit sets a given limit, or returns what is wrong with it. Null changes nothing, because every card has limits.
func setLimit(field string, limit *decimal.Decimal, member nullable.Nullable[wire.Number]) []wire.Field {
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

// checkOrder reports a limit that is more than the limit of a longer time.
func (l limits) checkOrder() []wire.Field {
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

// AppAPI serves the app API's operations on cards.
type AppAPI struct{ *Cards }

// ListCards implements the operation of that name.
func (a AppAPI) ListCards(ctx context.Context) (wire.Response, error) {
	return wire.OK(a.List(ctx)), nil
}

// CreateCard implements the operation of that name.
func (a AppAPI) CreateCard(ctx context.Context, _ appwire.CardCreate) (wire.Response, error) {
	response, err := a.Create(ctx)
	return wire.Created(response), err
}

// GetCard implements the operation of that name.
func (a AppAPI) GetCard(ctx context.Context, cardID string) (wire.Response, error) {
	response, err := a.Get(ctx, cardID)
	return wire.OK(response), err
}

// RevealCardDetails implements the operation of that name.
func (a AppAPI) RevealCardDetails(
	ctx context.Context, cardID string, body commonwire.CardDetailsProof,
) (wire.Response, error) {
	response, err := a.Reveal(ctx, cardID, body)
	return wire.OK(response), err
}

// SetCardLabel implements the operation of that name.
func (a AppAPI) SetCardLabel(ctx context.Context, cardID string, body appwire.CardLabelUpdate) (wire.Response, error) {
	response, err := a.SetLabel(ctx, cardID, wire.Value(body.Label))
	return wire.OK(response), err
}

// SetCardLimit implements the operation of that name.
func (a AppAPI) SetCardLimit(ctx context.Context, cardID string, body appwire.CardLimitUpdate) (wire.Response, error) {
	response, err := a.SetLimit(ctx, cardID, body)
	return wire.OK(response), err
}

// FreezeCard implements the operation of that name.
func (a AppAPI) FreezeCard(ctx context.Context, cardID string) (wire.Response, error) {
	response, err := a.Freeze(ctx, cardID, true)
	return wire.OK(response), err
}

// UnfreezeCard implements the operation of that name.
func (a AppAPI) UnfreezeCard(ctx context.Context, cardID string) (wire.Response, error) {
	response, err := a.Freeze(ctx, cardID, false)
	return wire.OK(response), err
}

// CreateCardKYCLink implements the operation of that name.
func (a AppAPI) CreateCardKYCLink(ctx context.Context) (wire.Response, error) {
	return wire.OK(a.KYCLink(ctx)), nil
}

// PreApproveCard implements the operation of that name.
func (a AppAPI) PreApproveCard(ctx context.Context, body appwire.CardPreApprovalCreate) (wire.Response, error) {
	response, err := a.PreApprove(ctx, body)
	return wire.OK(response), err
}

// ReferenceAPI serves the reference endpoints' operations on cards.
type ReferenceAPI struct{ *Cards }

// ListCards implements the operation of that name.
func (a ReferenceAPI) ListCards(ctx context.Context) (wire.Response, error) {
	return wire.OK(a.List(ctx)), nil
}

// RevealCardDetails implements the operation of that name.
func (a ReferenceAPI) RevealCardDetails(
	ctx context.Context, cardID string, body commonwire.CardDetailsProof,
) (wire.Response, error) {
	response, err := a.Reveal(ctx, cardID, body)
	return wire.OK(response), err
}
