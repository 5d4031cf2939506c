package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// reconcile compares the rows of a client with its ledger, and returns what differs. Every payment that is paid must be
// in the ledger once, with its amount; a payment that came back must be there both ways; and nothing else may have
// left.
func (b *backend) reconcile(ctx context.Context, client dapi.ClientID) (differences []string, err error) {
	left := map[dapi.PayoutID]decimal.Decimal{}
	for entry, err := range b.platform.For(client).Transactions.All(ctx, dapi.ListTransactionsParams{Limit: 100}) {
		if err != nil {
			return nil, err
		}
		if entry.PayoutID == "" || entry.Status == dapi.TransactionStatusFailed {
			continue
		}
		amount, known := entry.Signed()
		if !known {
			differences = append(differences, fmt.Sprintf("%s: unknown direction %q", entry.ID, entry.Direction))
		}
		left[entry.PayoutID] = left[entry.PayoutID].Sub(amount)
	}
	for _, row := range b.rows.all() {
		if row.Client != client || row.History.PayoutID == "" {
			continue
		}
		want := decimal.Zero
		if row.State == moneymovement.PaymentPaid {
			want = row.Amount
		}
		if have := left[row.History.PayoutID]; !have.Equal(want) {
			differences = append(differences, fmt.Sprintf("%s: the row says %s %s, the ledger %s", row.ID, row.State,
				want, have))
		}
		delete(left, row.History.PayoutID)
	}
	for _, id := range slices.Sorted(maps.Keys(left)) {
		if !left[id].IsZero() {
			differences = append(differences, fmt.Sprintf("%s: %s has left, and there is no row for it", id, left[id]))
		}
	}
	return differences, nil
}
