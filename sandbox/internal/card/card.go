package card

import (
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/number"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// card is a payment card.
type card struct {
	id, label string
	holder    Holder
	wallet    string // its address
	limits    limits
	secrets   secrets
	nonces    map[int64]bool // that revealed it
	frozen    bool
	createdAt time.Time
}

// view is the card as it stands, without its secrets.
func (t *turn) view(c *card) commonwire.Card {
	return commonwire.Card{
		ID:            c.id,
		WalletAddress: c.wallet,
		CreatedAt:     c.createdAt.Format(time.RFC3339Nano),
		Label:         c.label,
		Status:        t.status(c),
		Activated:     !t.pending(c),
		Limit: commonwire.CardLimit{
			DailyLimit:    number.Of(c.limits.daily),
			MonthlyLimit:  number.Of(c.limits.monthly),
			LifetimeLimit: number.Of(c.limits.lifetime),
			Currency:      limitCurrency,
		},
		CardData: commonwire.CardData{
			NameOnCard:    c.holder.Name,
			PaymentSystem: paymentSystem,
			LastFour:      c.secrets.number[len(c.secrets.number)-4:],
			ExpiryDate:    c.secrets.expiry,
			CardName:      "Virtual card",
		},
		BillingAddress: c.holder.Address,
	}
}

func (t *turn) status(c *card) commonwire.CardStatus {
	switch {
	case t.pending(c):
		return commonwire.CardStatusPending
	case c.frozen:
		return commonwire.CardStatusFrozen
	default:
		return commonwire.CardStatusActive
	}
}
