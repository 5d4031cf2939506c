package dapi

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// PayOption sets up one [Payouts.Pay]: [HighestFee], [LeastArrives], [NoWorseThan], [QuoteTolerance], [BeforeSigning],
// and each [KeyOption].
type PayOption interface{ setPay(*payWish) }

// OpenOption sets up one [Escrows.Open]: each [KeyOption].
type OpenOption interface{ setOpen(*keyWish) }

// KeyOption is a [PayOption] and an [OpenOption]: [FirstUse], [FirstUsedAt] or [CaptureLastResponse].
type KeyOption func(*keyWish)

func (o KeyOption) setPay(w *payWish) { o.setOpen(&w.keyWish) }

func (o KeyOption) setOpen(w *keyWish) {
	if o != nil {
		o(w)
	}
}

// keyWish is what the caller says about a key.
type keyWish struct {
	firstUse  bool
	firstUsed *time.Time // nil if not said
	answer    *moneymovement.Response
}

// payWish is what the caller says about a payment besides its terms.
type payWish struct {
	keyWish
	bounds priceBounds
	before func(context.Context, *Payout) error
}

type payOption func(*payWish)

func (o payOption) setPay(w *payWish) { o(w) }

func payWishOf(options []PayOption) payWish {
	var wish payWish
	for _, option := range options {
		if option != nil {
			option.setPay(&wish)
		}
	}
	return wish
}

// FirstUse states that no earlier call with this key can have paid, in any process: there was none, or each ended in
// [PaymentNotPaid], or in [PaymentNeedsDecision] for its price, its terms or its input. Then a plain refusal means that
// nothing was paid, and has its own type. Without it an earlier call may have paid, and a refusal leaves the payment
// [PaymentUnknown]. State it only from what the program has stored. It is ignored if the service or this client knows
// better.
func FirstUse() KeyOption { return func(w *keyWish) { w.firstUse = true } }

// FirstUsedAt states when the key was first used, with [FirstUse] or without. The service remembers a key for 7 days,
// and after that the same call is a new payment: a key that is older than 7 days less an hour, by this machine's clock
// or the service's, is refused as *[KeyTooOld], and nothing is signed. The zero time is refused as bad input.
//
// Source: Limits, Idempotency.
func FirstUsedAt(at time.Time) KeyOption { return func(w *keyWish) { w.firstUsed = &at } }

// CaptureLastResponse keeps what came back besides the decoded value, of the last call that the flow made.
func CaptureLastResponse(into *moneymovement.Response) KeyOption {
	return func(w *keyWish) { w.answer = into }
}

// LeastArrives refuses a price at which less than amount arrives, in currency: see [PriceRefused].
func LeastArrives(amount decimal.Decimal, currency string) PayOption {
	return payOption(func(w *payWish) { w.bounds.least, w.bounds.leastCurrency = &amount, currency })
}

// HighestFee refuses a price with a fee of more than amount, in the asset that is debited: see [PriceRefused]. Zero
// allows no fee. Whether the fee is part of the amount or comes on top is not stated; [LeastArrives] bounds what the
// payee gets.
func HighestFee(amount decimal.Decimal) PayOption {
	return payOption(func(w *payWish) { w.bounds.fee = &amount })
}

// NoWorseThan refuses a price at which less arrives or more leaves than in a quote that the program has stored, but for
// the [QuoteTolerance]: see [PriceRefused].
func NoWorseThan(quote Quote) PayOption {
	return payOption(func(w *payWish) { w.bounds.reference = &quote })
}

// QuoteTolerance lets a price be worse than the one that it is compared with, by up to this fraction: 0.005 is half a
// percent. It counts for [NoWorseThan], and for a fresh price in the place of one that expired.
func QuoteTolerance(fraction decimal.Decimal) PayOption {
	return payOption(func(w *payWish) { w.bounds.tolerance = fraction })
}

// BeforeSigning calls f between booking and signing, with the booked payout: to look at its quote, to store its id, or
// to refuse. An error of f ends the payment unsigned, as *[PaymentDeclined]. f is called again for each fresh price.
// Its context ends 20 seconds before the approval does, so that there is time to confirm.
func BeforeSigning(f func(ctx context.Context, booked *Payout) error) PayOption {
	return payOption(func(w *payWish) { w.before = f })
}

// The service remembers an explicit key for 7 days. The margin covers the call itself and clocks that differ.
//
// Source: Limits, Idempotency.
const (
	keyLifetime = 7 * 24 * time.Hour
	keyMargin   = time.Hour
)

// checkPayment refuses terms, a key and options that no payment can have.
func checkPayment(operation string, key moneymovement.Key, more ...func(*transport.Check)) error {
	return transport.Validate(operation, func(c *transport.Check) {
		c.RequiredKey(string(key))
		for _, check := range more {
			check(c)
		}
	})
}

// check refuses what the caller says about the key if it cannot be.
func (w *keyWish) check(c *transport.Check) {
	switch {
	case w.firstUsed == nil:
	case w.firstUsed.IsZero():
		c.Refuse("FirstUsedAt", errors.FieldMissing, "is the zero time, which says nothing about the age of the key")
	case w.firstUsed.After(time.Now().Add(keyMargin)):
		c.Refuse("FirstUsedAt", "out_of_range", "lies in the future")
	}
}

func (w *payWish) check(c *transport.Check) {
	w.keyWish.check(c)
	w.bounds.check(c)
}

// checkAge refuses a key that the service may have forgotten, by this machine's clock or by the service's, whichever is
// later. A flow checks again after it has waited, and after the booking, whose answer tells the service's time.
func (w *keyWish) checkAge(operation string, key moneymovement.Key, service time.Time) error {
	if w.firstUsed == nil || max(time.Since(*w.firstUsed), service.Sub(*w.firstUsed)) <= keyLifetime-keyMargin {
		return nil
	}
	return &KeyTooOld{CallInfo: errors.CallInfo{Operation: operation, IdempotencyKey: string(key)},
		FirstUsed: *w.firstUsed}
}

// capture hands on what came back of one call.
func (w *keyWish) capture(answer moneymovement.Response) {
	if w.answer != nil {
		*w.answer = answer
	}
}
