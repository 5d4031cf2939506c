package dapi

import (
	"context"
	"iter"
	"math"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Transactions reads the ledger of the account. The newest entries come first, as far as is known: the service's
// description states no order.
//
// # Entries of a payout
//
// All entries of a payout have its id in PayoutID. The description does not state which entries there are. This is
// assumed, and the sandbox host does so:
//
//   - booked, and not confirmed or expired: no entry. The balance stays as it is.
//   - confirmed: an entry of type `payout`, direction out, status `pending`. The balance is reduced by the amount of
//     the payout, which includes the fee.
//   - `completed`: the same entry is `completed`.
//   - `failed`: the same entry is `failed`. The balance is restored without another entry.
//   - `refunded`: the entry of type `payout` is `completed`. When the money is back, there is another entry of type
//     `refund`, direction in. Its amount can be smaller, by the fee of the return. The service finds the payout by the
//     amount, within 0.20, so PayoutID can name another payout of about the same amount, or be empty.
//
// # Entries of a day
//
// The only filters are Type and Since. For one day, set Since to its beginning, read all entries, and drop those whose
// CreatedAt is after its end. [Transactions.Changes] keeps a copy of the ledger up to date.
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

// Signed returns the amount with its sign: positive if the money arrived, negative if it left. The unit is Currency.
// The status does not matter: the amount of a pending or failed entry is returned, too. If this version does not know
// the direction, ok is false and the amount is zero.
func (t Transaction) Signed() (amount model.Decimal, ok bool) {
	switch t.Direction {
	case TransactionDirectionIn:
		return t.Amount, true
	case TransactionDirectionOut:
		return t.Amount.Neg(), true
	}
	return amount, false
}
