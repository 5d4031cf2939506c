package appapi

import (
	"context"
	"iter"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Transactions are the movements of the account's money.
//
// Source: App API, Transactions.
type Transactions struct{ low lowLevel }

// List returns one page of what the filters leave: at most params.Limit entries, from params.Offset on. With a Limit of
// 0 the service decides how many.
func (s *Transactions) List(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) (*TransactionList, error) {
	return transport.Of(s).low.ListTransactions(ctx, &params, options)
}

// All walks all pages from params.Offset on. It can be ranged over more than once, and ends after the first error.
// Money that moves meanwhile can shift entries from one page to another.
func (s *Transactions) All(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) iter.Seq2[Transaction, error] {
	return pages(ctx, &opListTransactions, s.List, params, options,
		func(p *ListTransactionsParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *TransactionList) ([]Transaction, int) { return l.Items, l.Total })
}
