package simulation

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
)

// Result is what a run was, and what it broke.
type Result struct {
	Trace      *Trace
	Violations []string
	Ends       map[string]int // payments by how they ended
	Faults     map[Kind]int
	Processes  int
}

// callLog notes how often each call was sent.
type callLog struct {
	mu    sync.Mutex
	calls []moneymovement.CallMetrics
}

// Call implements moneymovement.Metrics.
func (l *callLog) Call(_ context.Context, call moneymovement.CallMetrics) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, call)
}

// mostAttempts is how often the retry policy lets a call be sent: four times, and as often again if its token was
// renewed in between.
const mostAttempts = 8

// judge compares what the processes believe with what the host and the signer have seen.
func (w *World) judge() *Result {
	r := &Result{Trace: w.scheduler.trace, Ends: map[string]int{}, Faults: w.network.consumed, Processes: w.started}
	r.Violations = append(r.Violations, w.network.books.violations...)
	w.judgeMoney(r)
	w.judgeSignatures(r)
	for _, call := range w.calls.calls {
		if call.Attempts > mostAttempts {
			r.broken("%s was sent %d times", call.Operation, call.Attempts)
		}
	}
	for kind, n := range w.network.planned {
		if w.network.consumed[kind] != n {
			r.broken("of %d faults %q, %d happened", n, kind, w.network.consumed[kind])
		}
	}
	slices.Sort(r.Violations)
	return r
}

func (r *Result) broken(format string, args ...any) {
	r.Violations = append(r.Violations, fmt.Sprintf(format, args...))
}

// judgeMoney compares the rows with the host's ledger.
func (w *World) judgeMoney(r *Result) {
	rows, funded, back := map[string]row{}, map[string]int{}, map[string]int{}
	for _, open := range w.journal.rows {
		rows[string(open.key())] = open
	}
	for _, entry := range w.host.Ledger().Entries {
		key, known := w.network.books.keyOf[entry.ResourceID]
		asked, ours := rows[key]
		switch {
		case !strings.HasPrefix(entry.Kind, "payout_"): // the balance that the payments are made from
		case entry.Amount.IsPositive():
			if ours && (entry.Kind == "payout_return" || entry.Kind == "payout_refund") {
				back[key]++
			}
		case !known || !ours:
			r.broken("money moved without a payment: %s %s %s", entry.Kind, entry.ResourceID, entry.Amount)
		case entry.Kind == "payout_funding":
			funded[key]++
			if !entry.Amount.Neg().Equal(asked.Terms.Amount) {
				r.broken("%s: %s left instead of %s", asked.ID, entry.Amount.Neg(), asked.Terms.Amount)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(rows)) {
		row := rows[key]
		r.Ends[string(row.End)]++
		if funded[key] > 1 {
			r.broken("%s was paid %d times", row.ID, funded[key])
		}
		switch {
		case row.End == "":
			r.broken("%s is still %s", row.ID, row.State)
		case row.End == completed && funded[key] == 0:
			r.broken("%s is completed, and no money moved", row.ID)
		case row.End == declined && funded[key] > 0:
			r.broken("%s is declined, and money moved", row.ID)
		case row.End == cameBack && back[key] == 0:
			r.broken("%s is said to have come back, and did not", row.ID)
		}
	}
}

// judgeSignatures checks that only what was asked for was signed, and within the bounds.
func (w *World) judgeSignatures(r *Result) {
	rows := map[string]row{}
	for _, row := range w.journal.rows {
		rows[string(row.key())] = row
	}
	for _, signed := range w.signatures.signatures {
		price, priced := w.network.books.prices[signed.ApprovalID]
		asked, ours := rows[w.network.books.keyOf[signed.ResourceID]]
		amount, err := decimal.NewFromString(signed.Amount)
		switch {
		case !ours || !priced || price.payout != signed.ResourceID || signed.Operation != "payout.fund":
			r.broken("signed what nobody asked for: %+v", signed)
		case err != nil || !amount.Equal(asked.Terms.Amount) || signed.Currency != string(asked.Terms.Currency) ||
			signed.To.ContactID != string(asked.Terms.ContactID):
			r.broken("%s: signed other terms: %+v", asked.ID, signed)
		case price.fee.GreaterThan(asked.MaxFee) || price.destination.LessThan(asked.Least):
			r.broken("%s: signed a price out of its bounds: fee %s, %s arrives", asked.ID, price.fee, price.destination)
		}
	}
}
