package simulation

import (
	"fmt"
	"slices"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
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
		w.judgeEnd(r, o, movements[o])
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
type moved struct {
	left          map[string]decimal.Decimal // what left the account, by movement
	settled, back int
}

// asked returns the order that a movement is for, or nil if nobody asked for it.
func (w *World) asked(entry sandbox.LedgerEntry) *order {
	key := w.network.books.keyOfResource(entry.ResourceID)
	for _, o := range w.orders {
		if o.EscrowID != "" && string(o.EscrowID) == entry.ResourceID || o.EscrowID == "" && string(o.Key) == key {
			if entry.Kind == o.Moves || o.Kind == payments.KindPayout {
				return o
			}
		}
	}
	return nil
}

// ofBefore reports a movement from before the payments: of the balance, or of a deal that somebody acts on.
func (w *World) ofBefore(entry sandbox.LedgerEntry) bool {
	kind, _, _ := strings.Cut(entry.Kind, "_")
	return kind != "payout" && kind != "escrow" && kind != "transfer" || entry.At.Before(w.opened)
}

// judgeMoney checks that money moved for the orders alone, once for each, and returns what moved.
func (w *World) judgeMoney(r *Result) map[*order]*moved {
	movements := map[*order]*moved{}
	for _, o := range w.orders {
		movements[o] = &moved{left: map[string]decimal.Decimal{}}
	}
	for _, entry := range w.host.Ledger().Entries {
		if w.ofBefore(entry) {
			continue
		}
		asked := w.asked(entry)
		if asked == nil {
			r.broken("money moved without a payment: %s %s %s", entry.Kind, entry.ResourceID, entry.Amount)
			continue
		}
		m := movements[asked]
		switch {
		case entry.Kind == "payout_return", entry.Kind == "payout_refund":
			m.back++
		case entry.Kind == "payout_settlement":
			m.settled++
		case entry.Kind == asked.Moves && entry.Amount.IsNegative(): // the fee of a transfer is an entry of its own
			m.left[entry.Movement] = m.left[entry.Movement].Sub(entry.Amount)
			if asked.Kind != payments.KindPayout { // its money arrives at once
				m.settled++
			}
		}
	}
	for _, o := range w.orders {
		left := movements[o].left
		// A transfer that is sent twice in one call, between two looks, is paid twice if the host forgets its key then.
		if len(left) > 1 && (o.Kind != payments.KindTransfer || !w.network.books.forgot) {
			r.broken("%s was paid %d times", o.ID, len(left))
		}
		for _, amount := range left {
			if !amount.Equal(o.Amount) {
				r.broken("%s: %s left instead of %s", o.ID, amount, o.Amount)
			}
		}
	}
	return movements
}

// judgeEnd compares the end of one payment with what moved.
func (w *World) judgeEnd(r *Result, o *order, m *moved) {
	ended, said := w.program.end(o)
	r.Ends[string(ended)]++
	switch {
	case ended == "":
		r.broken("%s has not ended: %s", o.ID, said)
	case ended == completed && len(m.left) == 0:
		r.broken("%s is completed, and no money moved: %s", o.ID, said)
	case ended == completed && m.settled == 0:
		r.broken("%s is completed, and the money never arrived: %s", o.ID, said)
	case ended == refused && len(m.left) > 0:
		r.broken("%s is refused, and money moved: %s", o.ID, said)
	case ended == cameBack && m.back == 0:
		r.broken("%s is said to have come back, and did not: %s", o.ID, said)
	}
}

// judgeSignatures checks that only what was asked for was signed, and within the bounds.
func (w *World) judgeSignatures(r *Result) {
	orders := w.byKey()
	for _, signed := range w.signatures.signatures {
		approval, known := w.network.books.approvals[signed.ApprovalID]
		asked, ours := orders[approval.key]
		amount, err := decimal.NewFromString(signed.Amount)
		switch {
		case !ours || !known || approval.resource != signed.ResourceID:
			r.broken("signed what nobody asked for: %+v", signed)
		case err != nil || !amount.Equal(asked.Amount) || signed.Currency != string(dapi.USDC) || !asked.signs(signed):
			r.broken("%s: signed other terms: %+v", asked.ID, signed)
		case asked.Kind == payments.KindPayout &&
			(approval.fee.GreaterThan(asked.MaxFee) || approval.destination.LessThan(asked.Allowed)):
			r.broken("%s: signed a price out of its bounds: fee %s, %s arrives", asked.ID, approval.fee,
				approval.destination)
		}
	}
}

// judgeStored checks that the program has stored, before a signature, that money may leave.
func (w *World) judgeStored(signed Signature) {
	key := w.network.books.approvalOf(signed.ApprovalID).key
	if o := w.byKey()[key]; o != nil && !w.program.mayLeave(o) {
		w.network.books.note("%s was signed by %s, and the store does not say that money may leave", o.ID,
			signed.Process)
	}
}
