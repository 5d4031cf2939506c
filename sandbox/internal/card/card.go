package card

import (
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

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
