package platform

import (
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Destination is where a contact of the app API is paid: the account behind an email, or a wallet.
type Destination struct {
	Email                 string
	Chain, Token, Address string
}

// Paid is a payment that has left the account.
type Paid struct {
	TransactionID string
	Hash          string
	Method        string // crypto or internal
	Quote         platformwire.Quote
}

// CheckDollars refuses an amount that is not positive, is too long, or has more decimals than the settlement asset.
func CheckDollars(amount decimal.Decimal) error { return checkAmount(amount, assetDecimals) }

// Resolve refuses a destination without an existing account.
func (o Own) Resolve(to Destination) error {
	t, _, err := o.enter()
	defer o.platform.leave()
	if err != nil {
		return err
	}
	_, err = t.contactAt(o.caller.Owner, to)
	return err
}

// Price prices a payment in dollars.
func (o Own) Price(to Destination, amount decimal.Decimal) (platformwire.Quote, error) {
	t, _, err := o.enter()
	defer o.platform.leave()
	if err != nil {
		return platformwire.Quote{}, err
	}
	paid, err := t.payable(o.caller.Owner, to)
	if err != nil {
		return platformwire.Quote{}, err
	}
	quote, err := t.priceNow(paid, amount)
	if err != nil {
		return platformwire.Quote{}, err
	}
	return quote, nil
}

// Pay moves dollars out of the account at once, at the given price or, without one, at the present price. If the
// balance is too low, the refusal is payout_not_fundable, with the available amount.
func (o Own) Pay(to Destination, amount decimal.Decimal, agreed *platformwire.Quote, resource string) (Paid, error) {
	t, h, err := o.enter()
	defer o.platform.leave()
	if err != nil {
		return Paid{}, err
	}
	paid, err := t.payable(o.caller.Owner, to)
	if err != nil {
		return Paid{}, err
	}
	if agreed == nil {
		price, err := t.priceNow(paid, amount)
		if err != nil {
			return Paid{}, err
		}
		agreed = &price
	}
	return t.pay(h, t.receiver(paid.To, settlementDollars), *agreed, resource)
}

// PayByEmail moves dollars to the account with an email, or out of the host if there is none.
func (o Own) PayByEmail(email string, amount decimal.Decimal, resource string) (Paid, error) {
	t, h, err := o.enter()
	defer o.platform.leave()
	if err != nil {
		return Paid{}, err
	}
	receiver, _ := t.holderByEmail(o.caller.Owner, email)
	return t.pay(h, receiver, platformwire.Quote{
		SourceAmount: amount, SourceCurrency: settlementDollars,
		DestinationAmount: amount, DestinationCurrency: settlementDollars, Rate: decimal.NewFromInt(1),
	}, resource)
}

// contactAt returns a contact for a destination.
func (t *turn) contactAt(owner string, to Destination) (*contact, error) {
	if to.Email == "" {
		return &contact{To: walletAt(to.Chain, to.Token, to.Address)}, nil
	}
	behind, err := t.readEmail(owner, to.Email)
	return &contact{To: behind}, err
}

// payable returns the contact of a destination, or the refusal if it cannot be paid.
func (t *turn) payable(owner string, to Destination) (*contact, error) {
	paid, err := t.contactAt(owner, to)
	if err != nil {
		return nil, err
	}
	if blockers := t.blockers(paid); len(blockers) > 0 {
		return nil, wire.ContactNotPayable(blockers)
	}
	return paid, nil
}

// priceNow returns the present price of dollars for a contact.
func (t *turn) priceNow(paid *contact, amount decimal.Decimal) (platformwire.Quote, error) {
	if err := CheckDollars(amount); err != nil {
		return platformwire.Quote{}, err
	}
	return t.quote(paid, settlementDollars, amount, decimal.Zero)
}

// pay settles at once: these payments are one transaction on chain.
func (t *turn) pay(h, receiver *holder, quote platformwire.Quote, resource string) (Paid, error) {
	available := t.books.balance(h.book(), quote.SourceCurrency)
	if available.LessThan(quote.SourceAmount) {
		return Paid{}, wire.PayoutNotFundable("The balance does not cover the amount.", map[string]any{
			"available": available.String(), "currency": quote.SourceCurrency,
		})
	}
	paid := Paid{Hash: newHash(), Method: MethodCrypto, Quote: quote}
	delivered := quote.SourceAmount.Sub(quote.Fee)
	movement := t.books.movement("transfer", resource, t.now)
	movement.transfer(h.book(), bookFees, quote.SourceCurrency, quote.Fee)
	entry := platformwire.Transaction{
		Type:            platformwire.TransactionTypePayout,
		Direction:       platformwire.TransactionDirectionOut,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          quote.SourceAmount,
		Currency:        platformwire.Asset(quote.SourceCurrency),
		TransactionHash: paid.Hash,
		CreatedAt:       t.now,
	}
	paid.TransactionID = t.record(h, entry).ID
	if receiver == nil {
		movement.transfer(h.book(), bookOutside, quote.SourceCurrency, delivered)
		return paid, nil
	}
	paid.Method = MethodInternal
	movement.transfer(h.book(), receiver.book(), quote.SourceCurrency, delivered)
	entry.Type, entry.Direction, entry.Amount = platformwire.TransactionTypeDeposit,
		platformwire.TransactionDirectionIn, delivered
	t.record(receiver, entry)
	return paid, nil
}

// Method returns the method by which money reaches the destination.
func (d Destination) Method() string {
	if d.Email != "" {
		return MethodInternal
	}
	return MethodCrypto
}
