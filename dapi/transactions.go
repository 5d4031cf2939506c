package dapi

import (
	"context"
	"iter"
	"math"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Transactions reads the ledger of the account. The newest entries come first, as far as is known: the service's
// description states no order.
type Transactions struct{ low lowLevel }

// List returns one page: at most params.Limit entries, or 50 if params.Limit is 0. A cursor belongs to its query: with
// other filters, the error is *errors.InvalidCursor.
func (s *Transactions) List(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) (*TransactionPage, error) {
	return transport.Of(s).low.ListTransactions(ctx, &params, options)
}

// All iterates over all pages, from params.Cursor on. You can range over it more than once. It stops after the first
// error.
func (s *Transactions) All(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) iter.Seq2[Transaction, error] {
	return s.upTo(ctx, math.MaxInt, params, options)
}

// upTo is All with a limit on the number of pages.
func (s *Transactions) upTo(
	ctx context.Context, most int, params ListTransactionsParams, options []moneymovement.CallOption,
) iter.Seq2[Transaction, error] {
	return pages(ctx, most, &opListTransactions, s.List, params, options,
		func(p *ListTransactionsParams) *string { return &p.Cursor },
		func(page *TransactionPage) ([]Transaction, string) { return page.Items, page.NextCursor })
}
