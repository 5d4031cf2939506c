package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// row is a payment as the program's own database has it.
type row struct {
	payment string        // such as "invoice 42"
	payout  dapi.PayoutID // empty if it is not known
	amount  decimal.Decimal
	at      time.Time
}

// books are the ledger as the database has it, and the position up to which it was read.
type books struct {
	position dapi.LedgerPosition
	entries  map[dapi.TransactionID]dapi.Transaction
}

// update takes in what has changed since the last update. A database keeps an entry and the position in one
// transaction: a program that crashes then sees each change once.
func (b *books) update(ctx context.Context, ledger *dapi.Transactions) (changes int, err error) {
	for change, err := range ledger.Changes(ctx, dapi.ChangesParams{Position: b.position}) {
		if err != nil {
			return changes, err // the position is that of the last change: the next update goes on from there
		}
		b.entries[change.Transaction.ID], b.position = change.Transaction, change.Position
		changes++
	}
	return changes, nil
}

// verdict is the result of a comparison.
type verdict string

const (
	matched         verdict = "matched"
	amountDiffers   verdict = "amount differs"
	missingInLedger verdict = "missing in the ledger"
	missingInRows   verdict = "missing in the rows"
	stillPending    verdict = "still pending"
	failed          verdict = "failed"
	cameBack        verdict = "came back"
)

// finding is a payment of the day. own and ledger are the amounts in the row and in the ledger; nil means that there is
// no such entry.
type finding struct {
	verdict     verdict
	payment     string
	payout      dapi.PayoutID
	own, ledger *decimal.Decimal
}

// reconcile compares the rows of a day with the payouts of the ledger. It takes all rows and all entries: a payment
// just before midnight can be entered after it, and money can come back on any later day.
func (b *books) reconcile(rows []row, from, to time.Time) []finding {
	payouts, refunds := map[dapi.PayoutID]dapi.Transaction{}, map[dapi.PayoutID]bool{}
	for _, entry := range b.entries {
		switch entry.Type {
		case dapi.TransactionTypePayout:
			payouts[entry.PayoutID] = entry
		case dapi.TransactionTypeRefund: // the service finds its payout by the amount
			refunds[entry.PayoutID] = true
		}
	}
	onTheDay := func(t time.Time) bool { return !t.Before(from) && t.Before(to) }
	var findings []finding
	known := map[dapi.PayoutID]bool{}
	for _, own := range rows {
		known[own.payout] = true
		if entry, listed := payouts[own.payout]; onTheDay(own.at) {
			findings = append(findings, compare(own, entry, listed, refunds[own.payout]))
		}
	}
	for id, entry := range payouts {
		if !known[id] && onTheDay(entry.CreatedAt) {
			findings = append(findings, finding{verdict: missingInRows, payout: id, ledger: &entry.Amount})
		}
	}
	for _, entry := range b.entries {
		if entry.Type == dapi.TransactionTypeRefund && !known[entry.PayoutID] && onTheDay(entry.CreatedAt) {
			findings = append(findings, finding{verdict: cameBack, payout: entry.PayoutID, ledger: &entry.Amount})
		}
	}
	slices.SortFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.payment, b.payment), cmp.Compare(a.payout, b.payout))
	})
	return findings
}

// compare compares one payment. A difference that a person must look at comes before one that time can resolve.
func compare(own row, entry dapi.Transaction, listed, refunded bool) finding {
	found := finding{verdict: matched, payment: own.payment, payout: own.payout, own: &own.amount}
	if !listed {
		found.verdict = missingInLedger
		return found
	}
	found.ledger = &entry.Amount
	switch {
	case !entry.Amount.Equal(own.amount):
		found.verdict = amountDiffers
	case entry.Status == dapi.TransactionStatusFailed:
		found.verdict = failed
	case refunded:
		found.verdict = cameBack
	case entry.Status != dapi.TransactionStatusCompleted: // also one that this version of the SDK does not know
		found.verdict = stillPending
	}
	return found
}
