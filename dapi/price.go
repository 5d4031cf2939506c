package dapi

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
	"github.com/moneymovement/moneymovement-go/model"
)

// PriceRefused says that the price is outside of your bounds, or is not a price for the payment that you asked for. The
// SDK did not sign for this price, and this call paid nothing.
//
// To accept the price, call [Payouts.Pay] again with the same key and a looser bound: the one that Bound names. For
// [BoundNoWorseThan], set Bounds.NoWorseThan to Quote, or Bounds.MinDestinationAmount. [BoundAmount], [BoundAsset] and
// [BoundReadable] cannot be loosened.
type PriceRefused struct {
	errors.CallInfo
	// Bound is the bound that the price breaks.
	Bound PriceBound
	// Reason says in one sentence what is wrong with the price. It is safe to log.
	Reason string
	// Quote is the refused price, nil if the service returned none.
	Quote *Quote
	// Reference is the quote that the price was compared with, nil if there was no comparison.
	Reference *Quote
	// Payout is the payout that is booked at this price. This call did not confirm it.
	Payout *Payout
}

// PriceBound is the name of a bound: a limit on the price, or a rule that each price must follow.
type PriceBound string

// The bounds of a price.
const (
	// BoundMinDestinationAmount is Bounds.MinDestinationAmount.
	BoundMinDestinationAmount PriceBound = "min_destination_amount"
	// BoundMaxFee is Bounds.MaxFee.
	BoundMaxFee PriceBound = "max_fee"
	// BoundNoWorseThan is Bounds.NoWorseThan. Without one, the bound is the first price of this payment
	// that this client saw, in any of its calls.
	BoundNoWorseThan PriceBound = "no_worse_than"
	// BoundAmount is the rule that no more than the amount plus the fee may leave.
	BoundAmount PriceBound = "amount"
	// BoundAsset is the rule that only the asset that you asked for may leave.
	BoundAsset PriceBound = "asset"
	// BoundReadable is the rule that the quote must have the values that the bounds are compared with.
	BoundReadable PriceBound = "readable"
)

// Error returns one line, safe to log.
func (e *PriceRefused) Error() string {
	return errorbase.Textf(e,
		"payout %s: the price was refused and not signed, so this call paid nothing: %s", e.Resource,
		e.Reason)
}

// Retryable returns false: a person or your program must decide whether to accept the price.
func (e *PriceRefused) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: this call paid nothing.
func (e *PriceRefused) MovedByCall() errors.Movement { return errors.NotMoved }

// Bounds limits the price of a payout. The zero value sets no limit: Pay then accepts a fee of any size and the first
// price. An expired price is replaced by a fresh one, which must be as good as the first one.
type Bounds struct {
	// MaxFee is the highest fee, in the asset that is debited, such as 2.5 for 2.50 USDC. Nil sets no limit, and zero
	// allows no fee.
	MaxFee *decimal.Decimal `json:"maxFee,omitempty"`
	// MinDestinationAmount is the lowest amount that may arrive, in DestinationCurrency. Nil sets no limit.
	MinDestinationAmount *decimal.Decimal `json:"minDestinationAmount,omitempty"`
	// DestinationCurrency is the currency of MinDestinationAmount, such as EUR.
	DestinationCurrency string `json:"destinationCurrency,omitzero"`
	// NoWorseThan is a quote that you have seen, with both amounts and both currencies. A price is refused if less
	// would arrive, or more would leave.
	NoWorseThan *Quote `json:"noWorseThan,omitzero"`
	// QuoteTolerance is the part by which a price may be worse than the quote that it is compared with: 0.005 is half a
	// percent. It is for NoWorseThan, and for the fresh price that replaces an expired one. It must be 0 or more, and
	// less than 1.
	QuoteTolerance decimal.Decimal `json:"quoteTolerance,omitzero"`
}

// check refuses invalid bounds. It compares nothing with a decimal that is too long: with an exponent of a billion,
// that would take minutes.
func (b Bounds) check(c *transport.Check) {
	if !b.checkLengths(c) {
		return
	}
	least := b.MinDestinationAmount
	if least == nil && b.DestinationCurrency != "" ||
		least != nil && (!least.IsPositive() || b.DestinationCurrency == "") {
		c.Refuse("MinDestinationAmount", "out_of_range", "must be a positive amount and its currency")
	}
	if b.MaxFee != nil && b.MaxFee.IsNegative() {
		c.Refuse("MaxFee", "out_of_range", "must not be negative")
	}
	if b.NoWorseThan != nil && !b.NoWorseThan.readable() {
		c.Refuse("NoWorseThan", "missing",
			"must be a quote with both amounts and both currencies, as a booking returned it")
	}
	if b.QuoteTolerance.IsNegative() || b.QuoteTolerance.GreaterThanOrEqual(decimal.NewFromInt(1)) {
		c.Refuse("QuoteTolerance", "out_of_range", "must be a fraction from 0 to less than 1")
	}
}

// checkLengths refuses decimals that are too long. It returns true if all are short enough.
func (b Bounds) checkLengths(c *transport.Check) bool {
	fit := c.Amount("QuoteTolerance", b.QuoteTolerance)
	if b.MinDestinationAmount != nil {
		fit = c.Amount("MinDestinationAmount", *b.MinDestinationAmount) && fit
	}
	if b.MaxFee != nil {
		fit = c.Amount("MaxFee", *b.MaxFee) && fit
	}
	if b.NoWorseThan != nil {
		for _, amount := range []decimal.Decimal{b.NoWorseThan.SourceAmount, b.NoWorseThan.DestinationAmount,
			b.NoWorseThan.Fee, b.NoWorseThan.Rate} {
			if !c.Amount("NoWorseThan", amount) {
				return false
			}
		}
	}
	return fit
}

// price is what a booking costs.
type price struct {
	asked    PayoutCreate
	quote    *Quote
	feeKnown bool   // the response had a fee, which may be zero
	first    *Quote // the first price of this payment that this client saw, nil if this is it
	unpriced bool   // this client saw bookings of this payment, and none had a quote
}

// refused returns why a price is refused, or nil. The checks that need no bound do not depend on how fees are counted:
// the description does not show a quote, so the fee may be part of the amount or be added to it.
func (b Bounds) refused(p price) *PriceRefused {
	q := p.quote
	refuse := func(bound PriceBound, format string, args ...any) *PriceRefused {
		return &PriceRefused{Bound: bound, Quote: q, Reason: fmt.Sprintf(format, args...)}
	}
	if q == nil {
		switch {
		case b.MinDestinationAmount != nil, b.MaxFee != nil, b.NoWorseThan != nil:
			return refuse(BoundReadable, "the service returned no quote, so the bounds of the price cannot be checked")
		case p.first != nil:
			return refuse(BoundReadable, "the first booking had a quote, but the new booking has none")
		}
		return nil
	}
	most := p.asked.Amount.Add(q.Fee)
	switch {
	case p.unpriced && b.MinDestinationAmount == nil && b.NoWorseThan == nil:
		return refuse(BoundNoWorseThan,
			"the first booking had no quote, so the quote of the new booking cannot be compared with it")
	case q.Fee.IsNegative(), q.SourceAmount.IsNegative(), q.DestinationAmount.IsNegative():
		return refuse(BoundReadable, "the quote has a negative amount")
	case q.SourceCurrency != "" && q.SourceCurrency != string(p.asked.Currency):
		return refuse(BoundAsset, "%s would leave the account, but you asked for %s", q.SourceCurrency,
			p.asked.Currency)
	case q.SourceAmount.GreaterThan(most):
		return refuse(BoundAmount,
			"%s %s would leave the account, which is more than the amount %s plus the fee %s (%s)", q.SourceAmount,
			q.SourceCurrency, p.asked.Amount, q.Fee, most)
	}
	if refused := b.outOfBounds(p, refuse); refused != nil {
		return refused
	}
	reference := b.NoWorseThan
	if reference == nil && b.MinDestinationAmount == nil {
		reference = p.first
	}
	switch {
	case reference == nil:
		return nil
	case q.DestinationAmount.IsZero() != reference.DestinationAmount.IsZero(),
		q.SourceAmount.IsZero() != reference.SourceAmount.IsZero():
		unreadable := refuse(BoundReadable,
			"the quote or the quote that it is compared with lacks an amount")
		unreadable.Reference = reference
		return unreadable
	case b.notWorse(q, reference):
		return nil
	}
	worse := refuse(BoundNoWorseThan, "%s %s would arrive for %s %s, which is worse than %s %s for %s %s",
		q.DestinationAmount, q.DestinationCurrency, q.SourceAmount, q.SourceCurrency,
		reference.DestinationAmount, reference.DestinationCurrency, reference.SourceAmount, reference.SourceCurrency)
	worse.Reference = reference
	return worse
}

// outOfBounds compares the price with MinDestinationAmount and MaxFee. If the quote lacks a value that a bound needs,
// the price is refused.
func (b Bounds) outOfBounds(p price, refuse func(PriceBound, string, ...any) *PriceRefused) *PriceRefused {
	q := p.quote
	switch {
	case b.MinDestinationAmount != nil && (q.DestinationCurrency == "" || q.DestinationAmount.IsZero()):
		return refuse(BoundReadable, "the quote does not say what arrives, so MinDestinationAmount cannot be checked")
	case b.MinDestinationAmount != nil && q.DestinationCurrency != b.DestinationCurrency:
		return refuse(BoundMinDestinationAmount, "%s would arrive, but MinDestinationAmount is in %s",
			q.DestinationCurrency,
			b.DestinationCurrency)
	case b.MinDestinationAmount != nil && q.DestinationAmount.LessThan(*b.MinDestinationAmount):
		return refuse(BoundMinDestinationAmount, "only %s %s would arrive, but MinDestinationAmount is %s",
			q.DestinationAmount,
			q.DestinationCurrency, b.MinDestinationAmount)
	case b.MaxFee != nil && !p.feeKnown:
		return refuse(BoundReadable, "the quote does not say the fee, so MaxFee cannot be checked")
	case b.MaxFee != nil && q.Fee.GreaterThan(*b.MaxFee):
		return refuse(BoundMaxFee, "the fee is %s %s, but MaxFee is %s", q.Fee, p.asked.Currency, b.MaxFee)
	case b.NoWorseThan != nil && !q.readable():
		return refuse(BoundReadable,
			"the quote does not say what leaves and what arrives, so NoWorseThan cannot be checked")
	}
	return nil
}

// notWorse reports whether at least as much arrives and at most as much leaves as in another quote, within the
// tolerance.
func (b Bounds) notWorse(q, than *Quote) bool {
	if q.DestinationCurrency != than.DestinationCurrency || q.SourceCurrency != than.SourceCurrency {
		return false
	}
	one := decimal.NewFromInt(1)
	least := than.DestinationAmount.Mul(one.Sub(b.QuoteTolerance))
	most := than.SourceAmount.Mul(one.Add(b.QuoteTolerance))
	return q.DestinationAmount.GreaterThanOrEqual(least) && q.SourceAmount.LessThanOrEqual(most)
}

// readable reports a quote that says what leaves and what arrives.
func (q *Quote) readable() bool {
	return q.DestinationAmount.IsPositive() && q.SourceAmount.IsPositive() && q.DestinationCurrency != "" &&
		q.SourceCurrency != ""
}

// hasFee reports that the response of a booking has a fee. The decoded quote does not show this for a fee of zero,
// because the fee is also zero if it is missing or cannot be read.
func hasFee(quote *Quote, body []byte) bool {
	if quote == nil || !quote.Fee.IsZero() {
		return quote != nil
	}
	var booked struct {
		Quote struct {
			Fee *model.Number `json:"fee"`
		} `json:"quote"`
	}
	body, _ = wire.ReplaceInvalidText(body)
	return codec.Unmarshal(body, &booked) == nil && booked.Quote.Fee != nil
}
