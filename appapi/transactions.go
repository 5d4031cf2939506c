package appapi

import (
	"context"
	"iter"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Transactions lists the movements of the account's money.
type Transactions struct{ low lowLevel }

// List returns one page of the transactions that match the filters: at most params.Limit of them, starting at
// params.Offset. If Limit is 0, the service decides how many.
func (s *Transactions) List(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) (*TransactionList, error) {
	return transport.Of(s).low.ListTransactions(ctx, &params, options)
}

// All reads every page, starting at params.Offset. You can range over the result more than once. The iteration ends
// after the first error. If money moves meanwhile, it can miss a transaction or return one twice.
func (s *Transactions) All(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) iter.Seq2[Transaction, error] {
	return pages(ctx, &opListTransactions, s.List, params, options,
		func(p *ListTransactionsParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *TransactionList) ([]Transaction, int) { return l.Items, l.Total })
}
