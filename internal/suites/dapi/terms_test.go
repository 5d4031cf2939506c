package dapi_test

import (
	"context"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// payOption sets one of the terms of a payment or a deal, so that tables can combine them.
type payOption func(*dapi.PayTerms)

func payTerms(options ...payOption) (terms dapi.PayTerms) {
	for _, option := range options {
		if option != nil {
			option(&terms)
		}
	}
	return terms
}

func dealTerms(options ...payOption) dapi.DealTerms {
	terms := payTerms(options...)
	deal := dapi.DealTerms{History: terms.History, Journal: terms.Journal}
	if see := terms.BeforeSigning; see != nil {
		deal.BeforeSigning = func(ctx context.Context, d *dapi.Escrow) error {
			return see(ctx, &dapi.Payout{ID: dapi.PayoutID(d.ID)})
		}
	}
	return deal
}

// journaled stores nothing. A history which says nothing proves that no earlier call has paid.
func journaled() payOption {
	return func(t *dapi.PayTerms) {
		t.Journal = func(context.Context, dapi.History) error { return nil }
		t.History.Unpaid = t.History != dapi.History{}
	}
}

func firstUsedAt(at time.Time) payOption {
	return func(t *dapi.PayTerms) { t.History.FirstUsed = at }
}

// knownPayout is the payout of an earlier call. With journaled before it, that call has not paid.
func knownPayout(id dapi.PayoutID) payOption {
	return func(t *dapi.PayTerms) { t.History.PayoutID, t.History.Unpaid = id, t.Journal != nil }
}

// knownDeal is knownPayout for a deal.
func knownDeal(id dapi.EscrowID) payOption {
	return func(t *dapi.PayTerms) { t.History.EscrowID, t.History.Unpaid = id, t.Journal != nil }
}

func maxFee(fee decimal.Decimal) payOption {
	return func(t *dapi.PayTerms) { t.Bounds.MaxFee = &fee }
}

func minDestinationAmount(least decimal.Decimal, currency string) payOption {
	return func(t *dapi.PayTerms) {
		t.Bounds.MinDestinationAmount, t.Bounds.DestinationCurrency = &least, currency
	}
}

func noWorseThan(quote dapi.Quote) payOption {
	return func(t *dapi.PayTerms) { t.Bounds.NoWorseThan = &quote }
}

func quoteTolerance(part decimal.Decimal) payOption {
	return func(t *dapi.PayTerms) { t.Bounds.QuoteTolerance = part }
}

func beforeSigning(f func(context.Context, *dapi.Payout) error) payOption {
	return func(t *dapi.PayTerms) { t.BeforeSigning = f }
}
