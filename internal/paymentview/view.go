// Package paymentview is what a person reads about a stored payment: the command and the console show the same lines.
package paymentview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Line is one thing that is known about a payment.
type Line struct{ Name, Value string }

// Section is what belongs together.
type Section struct {
	Title string
	Lines []Line
}

// lines are those of one section. Empty values are left out.
type lines []Line

func (l *lines) add(name, value string) {
	if value != "" {
		*l = append(*l, Line{name, value})
	}
}

func (l *lines) at(name string, t time.Time) { l.add(name, Time(t)) }

// Time writes a time in UTC, and the zero time as nothing.
func Time(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Sections returns what a record says about a payment. A section without lines is left out.
func Sections(r payments.Record) []Section {
	all := []Section{
		{"State", state(r)}, {"Asked for", asked(r)}, {"Price", price(r)}, {"At the service", service(r)},
		{"Times", times(r)}, {"Decisions", decisions(r)}, {"Metadata", metadata(r)},
	}
	return slices.DeleteFunc(all, func(s Section) bool { return len(s.Lines) == 0 })
}

// Terms returns the amount and the currency that were asked for. A transfer names no currency, and its quote or invoice
// may have the amount.
func Terms(r payments.Record) (amount, currency string) {
	switch {
	case r.Payout != nil:
		return r.Payout.Amount.String(), string(r.Payout.Currency)
	case r.Escrow != nil:
		return r.Escrow.Amount.String(), string(r.Escrow.Currency)
	case r.Transfer != nil && r.Transfer.ContactID != "":
		return r.Transfer.Amount.String(), ""
	}
	return "", ""
}

func state(r payments.Record) (l lines) {
	l.add("key", string(r.Key))
	l.add("state", string(r.State))
	l.add("kind", string(r.Kind))
	l.add("account", string(r.Account))
	l.add("waits for", r.WaitsFor)
	l.at("waits until", r.WaitsUntil)
	if r.MayHaveLeft {
		l.add("money", "may have left")
	}
	l.add("calls", strconv.Itoa(r.Calls))
	if r.Refusals > 0 {
		l.add("refusals", strconv.Itoa(r.Refusals))
	}
	if r.KeyTooOld {
		l.add("idempotency key", "the service may have forgotten it")
	}
	if reason := r.Reason; reason != nil {
		l.add("why", string(reason.Code))
		l.add("message", reason.Message)
		l.add("slug", string(reason.Slug))
		l.add("request", reason.RequestID)
		l.add("bound", string(reason.Bound))
		l.add("refused price", Quote(reason.Quote))
		l.add("compared with", Quote(reason.Reference))
		for _, blocker := range reason.Blockers {
			l.add("blocker", blocker.Message)
		}
		if reason.Available != nil {
			l.add("available", reason.Available.String()+" "+reason.Currency)
		}
		l.add("owner of the key", reason.Owner)
	}
	return l
}

func asked(r payments.Record) (l lines) {
	amount, currency := Terms(r)
	l.add("amount", amount)
	l.add("currency", currency)
	if r.Payout != nil {
		l.add("contact", string(r.Payout.ContactID))
		l.add("reference", r.Payout.PaymentReference)
		l.add("purpose", r.Payout.Purpose)
		l.add("documents", strings.Join(r.Payout.DocumentIDs, ", "))
		l.add("from chain", chain(r.Payout.FromChainID))
		l.add("to chain", chain(r.Payout.ToChainID))
	}
	if r.Escrow != nil {
		l.add("payee", string(r.Escrow.Payee))
		l.add("approve within", string(r.Escrow.ApproveWithin))
		l.add("hold for", string(r.Escrow.HoldFor))
		l.add("refundable for", string(r.Escrow.RefundableFor))
		l.add("memo", r.Escrow.Memo)
	}
	if r.Transfer != nil {
		l.add("contact", r.Transfer.ContactID)
		l.add("quote", r.Transfer.QuoteID)
		l.add("invoice", r.Transfer.InvoiceID)
		l.add("memo", r.Transfer.Memo)
	}
	l.add("action", string(r.Action))
	l.at("deadline", r.Deadline)
	return l
}

func chain(id dapi.ChainID) string {
	if id == 0 {
		return ""
	}
	return fmt.Sprint(id)
}

func price(r payments.Record) (l lines) {
	l = append(l, Bounds(r.Bounds)...)
	l.add("first price", Quote(r.FirstQuote))
	l.add("signed price", Quote(r.Quote))
	return l
}

// Bounds returns the bounds that are set.
func Bounds(b dapi.Bounds) []Line {
	var l lines
	if b.MaxFee != nil {
		l.add("highest fee", b.MaxFee.String())
	}
	if b.MinDestinationAmount != nil {
		l.add("lowest amount that may arrive",
			strings.TrimSpace(b.MinDestinationAmount.String()+" "+b.DestinationCurrency))
	}
	l.add("no worse than", Quote(b.NoWorseThan))
	if !b.QuoteTolerance.IsZero() {
		l.add("tolerance", b.QuoteTolerance.String())
	}
	return l
}

// Quote writes a price, and nil as nothing.
func Quote(q *dapi.Quote) string {
	if q == nil {
		return ""
	}
	return q.SourceAmount.String() + " " + q.SourceCurrency + " for " + q.DestinationAmount.String() + " " +
		q.DestinationCurrency + ", fee " + q.Fee.String()
}

func service(r payments.Record) (l lines) {
	l.add("payout", string(r.PayoutID))
	l.add("escrow", string(r.EscrowID))
	l.add("transaction", r.TransactionHash)
	return l
}

// times are in the order in which they come.
func times(r payments.Record) (l lines) {
	l.at("accepted", r.AcceptedAt)
	l.at("key first used", r.FirstUsed)
	l.at("paid", r.PaidAt)
	l.at("changed", r.ChangedAt)
	l.at("goes on", r.Due)
	return l
}

// decisions say who decided what about the payment, and in which state it was.
func decisions(r payments.Record) (l lines) {
	for _, d := range r.Decisions {
		text := d.What
		if d.PayoutID != "" {
			text += " by " + string(d.PayoutID)
		}
		if d.Bounds != nil {
			for i, bound := range Bounds(*d.Bounds) {
				text += []string{" (", "; "}[min(i, 1)] + bound.Name + " " + bound.Value
			}
			if len(Bounds(*d.Bounds)) > 0 {
				text += ")"
			}
		}
		if d.Note != "" {
			text += ", " + strconv.Quote(d.Note)
		}
		was := strings.TrimSuffix(string(d.State)+": "+string(d.Reason), ": ")
		l.add("decided", Time(d.At)+", "+cmp.Or(d.By, "without a name")+": "+text+", when it was "+was)
	}
	return l
}

func metadata(r payments.Record) (l lines) {
	for _, name := range slices.Sorted(maps.Keys(r.Metadata)) {
		l.add(name, r.Metadata[name])
	}
	l.add("trace", r.Trace)
	return l
}
