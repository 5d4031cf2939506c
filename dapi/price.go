package dapi

import (
	"fmt"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// PriceRefused says that a price was not taken: it is outside what the caller allows, or not a price for what was
// asked. Nothing was signed by this call. To take the price all the same, call [Payouts.Pay] again with the same key
// and bounds that allow it: what Bound names, looser. For [BoundNoWorseThan] that is [NoWorseThan] with Quote, or
// [LeastArrives]; [BoundAmount], [BoundAsset] and [BoundReadable] cannot be loosened.
type PriceRefused struct {
	errors.CallInfo
	// Bound is what the price breaks.
	Bound PriceBound
	// Reason is one sentence, safe to log.
	Reason string
	// Quote is the price, nil if the service gave none.
	Quote *Quote
	// Reference is the quote that it was compared with, if it was.
	Reference *Quote
	// Payout is booked at this price.
	Payout *Payout
}

// PriceBound names what a price has to keep.
type PriceBound string

// The bounds of a price.
const (
	BoundLeastArrives PriceBound = "least_arrives" // of [LeastArrives]
	BoundHighestFee   PriceBound = "highest_fee"   // of [HighestFee]
	// of [NoWorseThan], or the first price of this payment that this client saw, over its calls
	BoundNoWorseThan PriceBound = "no_worse_than"
	BoundAmount      PriceBound = "amount"   // no more leaves than the amount and the fee
	BoundAsset       PriceBound = "asset"    // no other asset leaves than was asked
	BoundReadable    PriceBound = "readable" // a price that cannot be read keeps no bound
)

// Error is one line, safe to log.
func (e *PriceRefused) Error() string {
	return fmt.Sprintf("payout %s: price refused: %s", e.Resource, e.Reason)
}

// Retryable is false: a person or the program decides which price to take.
func (e *PriceRefused) Retryable() bool { return false }

// MovedByCall is not_moved: the price was refused before anything was signed.
func (e *PriceRefused) MovedByCall() errors.Movement { return errors.NotMoved }

// priceBounds are what the caller allows. Without a bound on what arrives, the first price of the payment that this
// client saw is one.
type priceBounds struct {
	least         *decimal.Decimal
	leastCurrency string
	fee           *decimal.Decimal
	reference     *Quote
	tolerance     decimal.Decimal
}

// check refuses bounds that no price can be compared with.
func (b priceBounds) check(c *transport.Check) {
	if b.least != nil && (!b.least.IsPositive() || b.leastCurrency == "") {
		c.Refuse("LeastArrives", "out_of_range", "must be a positive amount and its currency")
	}
	if b.fee != nil && b.fee.IsNegative() {
		c.Refuse("HighestFee", "out_of_range", "must not be negative")
	}
	if b.reference != nil && !b.reference.readable() {
		c.Refuse("NoWorseThan", "missing", "must be a quote with both amounts and both currencies")
	}
	if b.tolerance.IsNegative() || b.tolerance.GreaterThanOrEqual(decimal.NewFromInt(1)) {
		c.Refuse("QuoteTolerance", "out_of_range", "must be a fraction from 0 to less than 1")
	}
}

// price is what a booking costs.
type price struct {
	asked    PayoutCreate
	quote    *Quote
	feeKnown bool   // the answer had a fee, be it zero
	first    *Quote // of this payment as far as this client has seen, nil if this is it
	unpriced bool   // this client has seen a booking of this payment, and none with a quote
}

// refused says why a price is not taken, or nil. What is checked without any bound needs no knowledge of how fees are
// counted: the description shows no quote, so that the fee may be part of the amount or come on top of it.
func (b priceBounds) refused(p price) *PriceRefused {
	q := p.quote
	refuse := func(bound PriceBound, format string, args ...any) *PriceRefused {
		return &PriceRefused{Bound: bound, Quote: q, Reason: fmt.Sprintf(format, args...)}
	}
	if q == nil {
		switch {
		case b.least != nil, b.fee != nil, b.reference != nil:
			return refuse(BoundReadable, "the service gave no quote, so that the bounds of the price cannot be checked")
		case p.first != nil:
			return refuse(BoundReadable, "the service gave a quote first and none for the fresh price")
		}
		return nil
	}
	most := p.asked.Amount.Add(q.Fee)
	switch {
	case p.unpriced && b.least == nil && b.reference == nil:
		return refuse(BoundNoWorseThan, "the service gave no quote first and one for the fresh price")
	case q.Fee.IsNegative(), q.SourceAmount.IsNegative(), q.DestinationAmount.IsNegative():
		return refuse(BoundReadable, "the quote has a negative amount")
	case q.SourceCurrency != "" && q.SourceCurrency != string(p.asked.Currency):
		return refuse(BoundAsset, "%s leaves, and %s was asked for", q.SourceCurrency, p.asked.Currency)
	case q.SourceAmount.GreaterThan(most):
		return refuse(BoundAmount, "%s %s leaves, and the amount of %s with the fee of %s is %s", q.SourceAmount,
			q.SourceCurrency, p.asked.Amount, q.Fee, most)
	}
	if refused := b.outOfBounds(p, refuse); refused != nil {
		return refused
	}
	reference := b.reference
	if reference == nil && b.least == nil {
		reference = p.first
	}
	switch {
	case reference == nil:
		return nil
	case q.DestinationAmount.IsZero() != reference.DestinationAmount.IsZero(),
		q.SourceAmount.IsZero() != reference.SourceAmount.IsZero():
		unreadable := refuse(BoundReadable,
			"one of two quotes does not say what leaves or what arrives, so that they cannot be compared")
		unreadable.Reference = reference
		return unreadable
	case b.asGood(q, reference):
		return nil
	}
	worse := refuse(BoundNoWorseThan, "%s %s arrives for %s %s, which is worse than %s %s for %s %s",
		q.DestinationAmount, q.DestinationCurrency, q.SourceAmount, q.SourceCurrency,
		reference.DestinationAmount, reference.DestinationCurrency, reference.SourceAmount, reference.SourceCurrency)
	worse.Reference = reference
	return worse
}

// outOfBounds compares with the caller's absolute bounds. What a bound needs and the quote lacks is a refusal, never a
// pass.
func (b priceBounds) outOfBounds(p price, refuse func(PriceBound, string, ...any) *PriceRefused) *PriceRefused {
	q := p.quote
	switch {
	case b.least != nil && (q.DestinationCurrency == "" || q.DestinationAmount.IsZero()):
		return refuse(BoundReadable, "the quote does not say what arrives, so that LeastArrives cannot be checked")
	case b.least != nil && q.DestinationCurrency != b.leastCurrency:
		return refuse(BoundLeastArrives, "%s arrives, and LeastArrives is in %s", q.DestinationCurrency,
			b.leastCurrency)
	case b.least != nil && q.DestinationAmount.LessThan(*b.least):
		return refuse(BoundLeastArrives, "%s %s arrives, and LeastArrives is %s", q.DestinationAmount,
			q.DestinationCurrency, b.least)
	case b.fee != nil && !p.feeKnown:
		return refuse(BoundReadable, "the quote does not say the fee, so that HighestFee cannot be checked")
	case b.fee != nil && q.Fee.GreaterThan(*b.fee):
		return refuse(BoundHighestFee, "the fee is %s %s, and HighestFee is %s", q.Fee, p.asked.Currency, b.fee)
	case b.reference != nil && !q.readable():
		return refuse(BoundReadable,
			"the quote does not say what leaves and what arrives, so that NoWorseThan cannot be checked")
	}
	return nil
}

// asGood reports whether no less arrives and no more leaves than in another quote, but for the tolerance.
func (b priceBounds) asGood(q, than *Quote) bool {
	if q.DestinationCurrency != than.DestinationCurrency || q.SourceCurrency != than.SourceCurrency {
		return false
	}
	one := decimal.NewFromInt(1)
	least := than.DestinationAmount.Mul(one.Sub(b.tolerance))
	most := than.SourceAmount.Mul(one.Add(b.tolerance))
	return q.DestinationAmount.GreaterThanOrEqual(least) && q.SourceAmount.LessThanOrEqual(most)
}

// readable reports a quote that says what leaves and what arrives.
func (q *Quote) readable() bool {
	return q.DestinationAmount.IsPositive() && q.SourceAmount.IsPositive() && q.DestinationCurrency != "" &&
		q.SourceCurrency != ""
}

// hasFee reports whether the answer of a booking says the fee. A decoded quote does not tell: a fee that is missing, or
// that cannot be read, is zero there.
func hasFee(body []byte) bool {
	var booked struct {
		Quote struct {
			Fee *model.Number `json:"fee"`
		} `json:"quote"`
	}
	return jsonv2.Unmarshal(body, &booked) == nil && booked.Quote.Fee != nil
}
