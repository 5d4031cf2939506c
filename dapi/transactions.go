package dapi

import (
	"context"
	"iter"
	"math"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Transactions is the ledger of the whole account, newest first as far as is known: the description names no order.
//
// Source: Endpoints, Platform API.
type Transactions struct{ low lowLevel }

// List answers one page: at most params.Limit entries, 50 if it is 0. A cursor belongs to its query: with other filters
// it is *errors.InvalidCursor.
//
// Source: Limits, Pages and sizes.
func (s *Transactions) List(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) (*TransactionPage, error) {
	return transport.Of(s).low.ListTransactions(ctx, &params, options)
}

// All walks all pages from params.Cursor on. It can be ranged over more than once, and ends after the first error.
func (s *Transactions) All(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) iter.Seq2[Transaction, error] {
	return s.upTo(ctx, math.MaxInt, params, options)
}

// upTo walks at most so many pages.
func (s *Transactions) upTo(
	ctx context.Context, most int, params ListTransactionsParams, options []moneymovement.CallOption,
) iter.Seq2[Transaction, error] {
	return pages(ctx, most, &opListTransactions, s.List, params, options,
		func(p *ListTransactionsParams) *string { return &p.Cursor },
		func(page *TransactionPage) ([]Transaction, string) { return page.Items, page.NextCursor })
}
