package dapi

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// PayOption is an option of [Payouts.Pay]: [MaxFee], [MinDestinationAmount], [NoWorseThan], [QuoteTolerance],
// [BeforeSigning], [BookedBefore], or a [KeyOption] such as [FirstUse] or [FirstUsedAt]. If an option is invalid, Pay
// fails with *errors.InvalidInput and sends nothing. [PayOptionsOf] reads options, for fakes.
//
// An option applies to one call. If you call Pay again for the same payment, pass the same bounds again.
type PayOption interface{ setPay(*payOptions) }

// OpenOption is an option of [Escrows.Open]: [BeforeApproving], [CreatedBefore], or a [KeyOption].
type OpenOption interface{ setOpen(*openOptions) }

// KeyOption is an option of [Payouts.Pay], [Escrows.Open] and [Escrows.Act]: [FirstUse], [FirstUsedAt] or
// [CaptureLastResponse].
type KeyOption func(*keyOptions)

func (o KeyOption) setPay(w *payOptions)   { o.set(&w.keyOptions) }
func (o KeyOption) setOpen(w *openOptions) { o.set(&w.keyOptions) }

func (o KeyOption) set(w *keyOptions) {
	if o != nil {
		o(w)
	}
}

// keyOptions is what the caller says about a key.
type keyOptions struct {
	firstUse  bool
	firstUsed *time.Time // nil if not given
	response  *moneymovement.Response
	invalid   transport.InvalidOptions
}

// payOptions is what the caller says about a payment besides its terms.
type payOptions struct {
	keyOptions
	bounds        priceBounds
	bookedBefore  PayoutID
	beforeSigning func(context.Context, *Payout) error
}

// openOptions is what the caller says about a deal besides its terms.
type openOptions struct {
	keyOptions
	createdBefore   EscrowID
	beforeApproving func(context.Context, *Escrow) error
}

type (
	payOption  func(*payOptions)
	openOption func(*openOptions)
)

func (o payOption) setPay(w *payOptions)    { o(w) }
func (o openOption) setOpen(w *openOptions) { o(w) }

func payOptionsOf(options []PayOption) payOptions {
	var opts payOptions
	for _, option := range options {
		if option != nil {
			option.setPay(&opts)
		}
	}
	return opts
}

// FirstUse states that no earlier call with this key can have paid, in any process: there was no earlier call, or
// [MayHavePaid] returned false for the last one.
//
// With FirstUse, a plain refusal means that nothing was paid, and the error is of the refusal's own type. Without it,
// an earlier call may have paid, and a refusal leaves the payment [PaymentUnknown].
//
// Use it only if your own stored data proves it: store the payout's id in [BeforeSigning], which runs before the money
// can leave. A call that has stored nothing has signed nothing.
//
// It has no effect if the service or this client knows of an earlier call that may have paid. If a call of another
// process has booked the payout, the service replays that booking: pass [BookedBefore] or [CreatedBefore] as well, or
// FirstUse has no effect.
//
// FirstUse and [FirstUsedAt] return the same type, so that one variable can hold either:
//
//	history := dapi.FirstUse()
//	if row.MayHavePaid {
//		history = dapi.FirstUsedAt(row.FirstUsed)
//	}
//	payout, err := acme.Payouts.Pay(ctx, asked, key, history, dapi.MaxFee(fee))
func FirstUse() KeyOption { return func(w *keyOptions) { w.firstUse = true } }

// BookedBefore names the payout that an earlier call with this key has booked: the id that your program stored in
// [BeforeSigning]. Pay then signs for no other payout. If the service has forgotten the key and books another one, Pay
// reads the one that you name, and returns it if it is paid or has ended.
//
// With [FirstUse], Pay takes the service's replay of this booking as expected, and not as a sign of a call that you do
// not know. An empty id has no effect.
func BookedBefore(id PayoutID) PayOption {
	return payOption(func(w *payOptions) { w.bookedBefore = id })
}

// CreatedBefore is [BookedBefore] for [Escrows.Open]: it names the deal that an earlier call with this key has created.
// Store its id in [BeforeApproving].
func CreatedBefore(id EscrowID) OpenOption {
	return openOption(func(w *openOptions) { w.createdBefore = id })
}

// FirstUsedAt states when the key was first used. Pass it whenever an earlier call may have paid: see [MayHavePaid].
// You can pass it with [FirstUse] as well.
//
// The service remembers a key for 7 days, and after that the same call makes a new payment. If the key is older than 7
// days less one hour, by this machine's clock or by the service's, the error is *[KeyTooOld] and this call signs
// nothing. A service's clock that is further off than moneymovement.WithClockDifference allows does not count, and
// nothing is signed. For the zero time and for a time in the future, the call fails with *errors.InvalidInput.
func FirstUsedAt(at time.Time) KeyOption { return func(w *keyOptions) { w.firstUsed = &at } }

// CaptureLastResponse stores the last response that Pay or Open got from the service: status, header, body and more. If
// into is nil, the call fails with *errors.InvalidInput.
func CaptureLastResponse(into *moneymovement.Response) KeyOption {
	return func(w *keyOptions) {
		w.response = into
		w.invalid.NotNil("CaptureLastResponse", into != nil)
	}
}

// MinDestinationAmount refuses a price if less than amount would arrive. currency is the currency in which the money
// arrives, such as "EUR". See [PriceRefused]. The amount must be positive.
func MinDestinationAmount(amount decimal.Decimal, currency string) PayOption {
	return payOption(func(w *payOptions) { w.bounds.least, w.bounds.leastCurrency = &amount, currency })
}

// MaxFee refuses a price if the fee is more than amount, in the asset that is debited. See [PriceRefused]. Zero allows
// no fee. If amount is negative, Pay fails with *errors.InvalidInput.
//
// The service does not state whether the fee is part of the amount or is added to it. To bound what the payee gets, use
// [MinDestinationAmount].
func MaxFee(amount decimal.Decimal) PayOption {
	return payOption(func(w *payOptions) { w.bounds.fee = &amount })
}

// NoWorseThan refuses a price that is worse than a quote that you stored: less would arrive, or more would leave.
// [QuoteTolerance] allows a small difference. See [PriceRefused]. The quote must have both amounts and both currencies.
func NoWorseThan(quote Quote) PayOption {
	return payOption(func(w *payOptions) { w.bounds.reference = &quote })
}

// QuoteTolerance allows a price to be worse than the quote that it is compared with, by up to this fraction: 0.005 is
// half a percent. It applies to [NoWorseThan], and to the fresh price that replaces an expired one. It must be 0 or
// more, and less than 1.
func QuoteTolerance(fraction decimal.Decimal) PayOption {
	return payOption(func(w *payOptions) { w.bounds.tolerance = fraction })
}

// BeforeSigning calls f with the booked payout, before the SDK signs its approval. f can check the quote, store the
// payout's id, or refuse the payment. To refuse, f returns an error: Pay then does not sign and fails with
// *[PaymentDeclined].
//
// Pay calls f again for each fresh price. The context of f ends 20 seconds before the approval does, which leaves time
// to confirm. If the service offers an approval that is over by this machine's clock, the clock may be wrong: f then
// has 20 seconds. If f is nil, Pay fails with *errors.InvalidInput.
func BeforeSigning(f func(ctx context.Context, booked *Payout) error) PayOption {
	return payOption(func(w *payOptions) {
		w.beforeSigning = f
		w.invalid.NotNil("BeforeSigning", f != nil)
	})
}

// BeforeApproving is [BeforeSigning] for [Escrows.Open]: it calls f with the created deal, before the SDK signs its
// approval. f can store the deal's id, or refuse the deal. To refuse, f returns an error: Open then does not sign and
// fails with *[PaymentDeclined]. The context of f ends 20 seconds before the approval does.
func BeforeApproving(f func(ctx context.Context, created *Escrow) error) OpenOption {
	return openOption(func(w *openOptions) {
		w.beforeApproving = f
		w.invalid.NotNil("BeforeApproving", f != nil)
	})
}

// The service remembers an explicit key for 7 days. The margin covers the time of the call and clocks that differ.
const (
	keyLifetime = 7 * 24 * time.Hour
	keyMargin   = time.Hour
)

// checkPayment refuses invalid terms, an invalid key and invalid options.
func checkPayment(op *transport.Operation, key moneymovement.Key, more ...func(*transport.Check)) error {
	return transport.Validate(op.ID, func(c *transport.Check) {
		c.RequiredKey(op, string(key))
		for _, check := range more {
			check(c)
		}
	})
}

// check refuses invalid options.
func (w *keyOptions) check(c *transport.Check) {
	c.Options(w.invalid)
	switch {
	case w.firstUsed == nil:
	case w.firstUsed.IsZero():
		c.Refuse("FirstUsedAt", errors.FieldMissing,
			"must not be the zero time: pass the time of the first call with the key")
	case w.firstUsed.After(time.Now().Add(keyMargin)):
		c.Refuse("FirstUsedAt", "out_of_range", "must not be in the future")
	}
}

func (w *payOptions) check(c *transport.Check) {
	w.keyOptions.check(c)
	w.bounds.check(c)
	if w.bookedBefore != "" {
		c.Segment("BookedBefore", string(w.bookedBefore))
	}
}

func (w *openOptions) check(c *transport.Check) {
	w.keyOptions.check(c)
	if w.createdBefore != "" {
		c.Segment("CreatedBefore", string(w.createdBefore))
	}
}

// checkAge refuses a key that the service may have forgotten, by this machine's clock or by the service's, whichever is
// later. A flow checks again after it has waited, and after the booking, whose response has the service's time.
func (w *keyOptions) checkAge(operation string, key moneymovement.Key, service time.Time) error {
	if w.firstUsed == nil || max(time.Since(*w.firstUsed), service.Sub(*w.firstUsed)) <= keyLifetime-keyMargin {
		return nil
	}
	return &KeyTooOld{CallInfo: errors.CallInfo{Operation: operation, IdempotencyKey: string(key)},
		FirstUsed: *w.firstUsed}
}

// capture stores the response of one call for the caller.
func (w *keyOptions) capture(response moneymovement.Response) {
	if w.response != nil {
		*w.response = response
	}
}
