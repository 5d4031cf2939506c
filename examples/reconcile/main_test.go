package main

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestReportsEachKindOfDifference(t *testing.T) {
	_, flags := rehearsal.Host(t, sandbox.WithSettings(func(s *sandbox.Settings) {
		s.PayoutStepAfter = sandbox.Duration(time.Hour) // payouts move when the program says so
	}))
	second := rehearsal.Run(t, run, flags, "made 6 payments", "changes in the ledger: 7; the result of the comparison:",
		"PAYMENT     OWN    LEDGER  VERDICT                PAYOUT\n",
		"-           -      6.00    missing in the rows    po_",
		"books       8.25   8.25    still pending          po_",
		"hall        15.75  15.75   matched                po_",
		"never sent  3.00   -       missing in the ledger  \n",
		"rent        20.00  20.00   matched                po_",
		"tea         10.00  10.50   amount differs         po_",
		"typo        7.00   7.00    failed                 po_",
		"sends the money back", "changes in the ledger: 1;", "hall        15.75  15.75   came back              po_")
	assert.Contains(t, second, "rent        20.00  20.00   matched                po_")
}

func TestDaysHaveBorders(t *testing.T) {
	midnight := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	payout := func(id string, at time.Time) dapi.Transaction {
		return dapi.Transaction{Type: dapi.TransactionTypePayout, PayoutID: dapi.PayoutID(id), CreatedAt: at,
			Status: dapi.TransactionStatusCompleted, Amount: decimal.NewFromInt(1)}
	}
	b := &books{entries: map[dapi.TransactionID]dapi.Transaction{
		"tx_1": payout("po_after", midnight.Add(time.Second)), "tx_2": payout("po_before", midnight.Add(time.Second)),
		"tx_3": payout("po_old", midnight.Add(-time.Hour)),
		"tx_4": {Type: dapi.TransactionTypeRefund, PayoutID: "po_after", CreatedAt: midnight.AddDate(0, 1, 0)},
		"tx_5": {Type: dapi.TransactionTypeRefund, CreatedAt: midnight.Add(time.Hour)},
	}}
	rows := []row{
		{"after midnight", "po_after", decimal.NewFromInt(1), midnight},
		{"before midnight", "po_before", decimal.NewFromInt(1), midnight.Add(-time.Second)}, // entered on the next day
	}
	var got []string
	for _, found := range b.reconcile(rows, midnight, midnight.AddDate(0, 0, 1)) {
		got = append(got, found.payment+" "+string(found.payout)+" "+string(found.verdict))
	}
	assert.Equal(t, []string{"  came back", "after midnight po_after came back"}, got,
		"money comes back on any day, and to no known payout")
	assert.Len(t, b.reconcile(rows, midnight.AddDate(0, 0, -1), midnight), 2)
}
