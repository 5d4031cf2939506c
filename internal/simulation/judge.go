package simulation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"
)

// Result is what a run was, and what it broke.
type Result struct {
	Trace      *Trace
	Violations []string
	Ends       map[string]int // payments by how they ended
	Faults     map[Kind]int
	Processes  int
}

// mostAttempts is how often the retry policy lets a call be sent: four times, and as often again if its token was
// renewed in between.
const mostAttempts = 8

// judge compares what the processes believe with what the host and the signer have seen.
func (w *World) judge() *Result {
	r := &Result{Trace: w.scheduler.trace, Ends: map[string]int{}, Faults: w.network.consumed, Processes: len(w.begun)}
	movements := w.judgeMoney(r)
	w.judgeSignatures(r)
	slices.Sort(r.Violations)
	if noted := w.network.books.violations; len(noted) > 0 { // the run was cut short: the payments have no ends
		r.Violations = append(r.Violations, noted...)
		return r
	}
	for _, o := range w.orders {
		w.judgeEnd(r, o, movements[string(o.Key)])
	}
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

// byKey returns the orders by their keys.
func (w *World) byKey() map[string]*order {
	orders := map[string]*order{}
	for _, o := range w.orders {
		orders[string(o.Key)] = o
	}
	return orders
}

// moved is what the host's ledger says about a payment.
type moved struct{ funded, settled, back int }

// judgeMoney checks that money moved for the orders alone, once for each, and returns what moved by key.
func (w *World) judgeMoney(r *Result) map[string]moved {
	orders, movements := w.byKey(), map[string]moved{}
	for _, entry := range w.host.Ledger().Entries {
		key := w.network.books.keyOf[entry.ResourceID]
		asked, ours := orders[key]
		m := movements[key]
		switch {
		case !strings.HasPrefix(entry.Kind, "payout_"): // the balance that the payments are made from
		case !ours:
			r.broken("money moved without a payment: %s %s %s", entry.Kind, entry.ResourceID, entry.Amount)
		case entry.Kind == "payout_return", entry.Kind == "payout_refund":
			m.back++
		case entry.Kind == "payout_settlement":
			m.settled++
		case entry.Kind == "payout_funding" && entry.Amount.IsNegative():
			if m.funded++; !entry.Amount.Neg().Equal(asked.Terms.Amount) {
				r.broken("%s: %s left instead of %s", asked.ID, entry.Amount.Neg(), asked.Terms.Amount)
			}
		}
		movements[key] = m
	}
	for _, o := range w.orders {
		if n := movements[string(o.Key)].funded; n > 1 {
			r.broken("%s was paid %d times", o.ID, n)
		}
	}
	return movements
}

// judgeEnd compares the end of one payment with what moved.
func (w *World) judgeEnd(r *Result, o *order, m moved) {
	ended, said := w.program.end(o)
	r.Ends[string(ended)]++
	switch {
	case ended == "":
		r.broken("%s has not ended: %s", o.ID, said)
	case ended == completed && m.funded == 0:
		r.broken("%s is completed, and no money moved: %s", o.ID, said)
	case ended == completed && m.settled == 0:
		r.broken("%s is completed, and the money never arrived: %s", o.ID, said)
	case ended == refused && m.funded > 0:
		r.broken("%s is refused, and money moved: %s", o.ID, said)
	case ended == cameBack && m.back == 0:
		r.broken("%s is said to have come back, and did not: %s", o.ID, said)
	}
}

// judgeSignatures checks that only what was asked for was signed, and within the bounds.
func (w *World) judgeSignatures(r *Result) {
	orders := w.byKey()
	for _, signed := range w.signatures.signatures {
		price, priced := w.network.books.prices[signed.ApprovalID]
		asked, ours := orders[w.network.books.keyOf[signed.ResourceID]]
		amount, err := decimal.NewFromString(signed.Amount)
		switch {
		case !ours || !priced || price.payout != signed.ResourceID || signed.Operation != "payout.fund":
			r.broken("signed what nobody asked for: %+v", signed)
		case err != nil || !amount.Equal(asked.Terms.Amount) || signed.Currency != string(asked.Terms.Currency) ||
			signed.To.ContactID != string(asked.Terms.ContactID):
			r.broken("%s: signed other terms: %+v", asked.ID, signed)
		case price.fee.GreaterThan(asked.MaxFee) || price.destination.LessThan(asked.Allowed):
			r.broken("%s: signed a price out of its bounds: fee %s, %s arrives", asked.ID, price.fee, price.destination)
		}
	}
}

// judgeStored checks that the program has stored, before a signature, that money may leave.
func (w *World) judgeStored(signed Signature) {
	key := w.network.books.keyOfPayout(signed.ResourceID)
	if o := w.byKey()[key]; o != nil && !w.program.mayLeave(o) {
		w.network.books.note("%s was signed by %s, and the store does not say that money may leave", o.ID,
			signed.Process)
	}
}
