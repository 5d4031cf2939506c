package dapi

import (
	"context"
	"time"

	"github.com/shopspring/decimal"
)

// PayOptions are the options of one payment, as a program gave them. See [PayOptionsOf].
type PayOptions struct {
	// FirstUse is true with [FirstUse].
	FirstUse bool
	// BookedBefore is the payout of [BookedBefore], empty without it.
	BookedBefore PayoutID
	// FirstUsedAt is the time of [FirstUsedAt], zero without it.
	FirstUsedAt time.Time
	// MaxFee is the amount of [MaxFee], nil without it.
	MaxFee *decimal.Decimal
	// MinDestinationAmount is the amount of [MinDestinationAmount], nil without it.
	MinDestinationAmount *decimal.Decimal
	// DestinationCurrency is the currency of [MinDestinationAmount].
	DestinationCurrency string
	// NoWorseThan is the quote of [NoWorseThan], nil without it.
	NoWorseThan *Quote
	// QuoteTolerance is the fraction of [QuoteTolerance].
	QuoteTolerance decimal.Decimal
	// BeforeSigning is the function of [BeforeSigning], nil without it.
	BeforeSigning func(ctx context.Context, booked *Payout) error
}

// PayOptionsOf reads the options of a payment. It is for fakes that stand in for [Payouts] in your tests: they can
// check the bounds that your program sets, and call its BeforeSigning. moneymovement.CallSettingsOf does the same for
// the key of a write.
//
// A fake that returns a refusal, such as *errors.RateLimited, must return it as the Cause of *errors.OutcomeUnknown
// unless FirstUse is true: Pay does so, because an earlier call with the key may have paid.
func PayOptionsOf(options ...PayOption) PayOptions {
	opts := payOptionsOf(options)
	read := PayOptions{
		FirstUse: opts.firstUse, BookedBefore: opts.bookedBefore,
		MaxFee: opts.bounds.fee, MinDestinationAmount: opts.bounds.least,
		DestinationCurrency: opts.bounds.leastCurrency, NoWorseThan: opts.bounds.reference,
		QuoteTolerance: opts.bounds.tolerance, BeforeSigning: opts.beforeSigning,
	}
	if opts.firstUsed != nil {
		read.FirstUsedAt = *opts.firstUsed
	}
	return read
}
