package payments

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// Decision is what a person decides about a payment: [NewBounds], [Retry], [Cancel], [WasPaid] or [WasNotPaid].
type Decision struct {
	kind     decisionKind
	bounds   dapi.Bounds
	payoutID dapi.PayoutID
	note     string

	named    bool // By was called
	author   string
	compared bool // Seen was called
	seen     Position
}

type decisionKind string

const (
	decideBounds  decisionKind = "new bounds"
	decideRetry   decisionKind = "retry"
	decideCancel  decisionKind = "cancel"
	decidePaid    decisionKind = "was paid"
	decideNotPaid decisionKind = "was not paid"
)

// NewBounds stores other bounds and books anew: the price that was refused is never confirmed, so the payment waits
// until that price has ended, up to two minutes. The fresh price must be within the new bounds. If these do not limit
// what arrives, it must be as good as the price that was refused, within Bounds.QuoteTolerance: the record then has
// that price in Bounds.NoWorseThan.
//
// Use it for payouts that are accepted, need a decision, or are in doubt. Without new bounds, a payout that was not
// paid and whose price is out of bounds by now would stay in doubt until the service forgets the key.
func NewBounds(bounds dapi.Bounds) Decision { return Decision{kind: decideBounds, bounds: bounds} }

// Retry makes the same call again, after somebody has removed the reason: by paying money in, for example, or by
// updating the contact. An update of a contact cannot change its account details, such as the IBAN. If these block the
// payment, Cancel it, and submit a payment to a new contact with a new key. It is for payments in the state
// [moneymovement.PaymentNeedsDecision], and for those that wait for their next try.
func Retry() Decision { return Decision{kind: decideRetry} }

// Cancel refuses a payment from which no money can have left. The note says why; it is stored in the reason. If money
// may have left, or if a restored store does not know that yet, the error is *[NotPossible].
func Cancel(note string) Decision { return Decision{kind: decideCancel, note: note} }

// WasPaid records that a person has found the payment in the service's books. It is for payments that need a decision
// and that may be paid: the service may have forgotten their key, or the key belongs to another payment. With the
// payout's id, the payment is followed from there. It needs a decision again if there is no such payout, or if it has
// another contact, amount or currency.
func WasPaid(id dapi.PayoutID) Decision { return Decision{kind: decidePaid, payoutID: id} }

// WasNotPaid records that a person has read the service's books, and that they do not have the payment. The payment is
// refused, and its key is never used again. It is for the same payments as [WasPaid].
func WasNotPaid(note string) Decision { return Decision{kind: decideNotPaid, note: note} }

// By returns the decision with the person who made it. The record and the log keep the name: see [Record.Decisions]. It
// has 1 to 200 characters on one line.
func (d Decision) By(author string) Decision {
	d.named, d.author = true, author
	return d
}

// Seen returns the decision for a payment as it was shown to the person. If it has changed since then, Decide stores
// nothing, and the error is *[NotPossible] with Changed. So of two people who decide at once, the second one learns of
// the first.
func (d Decision) Seen(record Record) Decision {
	d.compared, d.seen = true, record.Position
	return d
}

// String returns the name of the decision.
func (d Decision) String() string { return cmp.Or(string(d.kind), "an empty decision") }

// Decided is a decision that was stored.
type Decided struct {
	At time.Time `json:"at"`
	// By names the person, and is empty if the decision did not: see [Decision.By].
	By string `json:"by,omitzero"`
	// What names the decision: see [Decision.String].
	What string `json:"what"`
	// Note is that of [Cancel] or [WasNotPaid].
	Note string `json:"note,omitzero"`
	// PayoutID is that of [WasPaid].
	PayoutID dapi.PayoutID `json:"payoutId,omitzero"`
	// Bounds are those of [NewBounds], as they were stored.
	Bounds *dapi.Bounds `json:"bounds,omitzero"`
	// State and Reason are those of the payment before the decision.
	State  moneymovement.PaymentState `json:"state"`
	Reason ReasonCode                 `json:"reason,omitzero"`
}

// The limits of what is stored with a decision.
const (
	maxAuthor    = 200
	maxNote      = 1000
	maxDecisions = 100
)

// check refuses an author or a note that cannot be stored.
func (d Decision) check() error {
	if d.named && strings.TrimSpace(d.author) == "" {
		return invalid("Decide", "author", errors.FieldMissing, "is empty: pass the name of the person who decides")
	}
	if err := checkLine("author", d.author, maxAuthor); err != nil {
		return err
	}
	return checkLine("note", d.note, maxNote)
}

// checkLine refuses text that is not one line of at most so many characters.
func checkLine(field, text string, most int) error {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	switch {
	case !utf8.ValidString(text):
		return invalid("Decide", field, "invalid", "has text that is not UTF-8")
	case utf8.RuneCountInString(text) > most:
		return invalid("Decide", field, "too_long", fmt.Sprintf("has %d characters, and may have %d",
			utf8.RuneCountInString(text), most))
	case strings.ContainsFunc(text, hidden):
		return invalid("Decide", field, "invalid", "has a line break or another character that cannot be printed: "+
			"write one line")
	}
	return nil
}

// Allows returns nil if a decision is possible for the payment as the record has it, and *[NotPossible] otherwise. The
// payment can change before Decide is called.
func (r *Record) Allows(d Decision) error {
	if err := cmp.Or(r.Err(), d.check()); err != nil {
		return err
	}
	return r.refuse(d)
}

// refuse returns *[NotPossible] if a decision is not possible.
func (r *Record) refuse(d Decision) error {
	refused := &NotPossible{Key: r.Key, Decision: d, State: r.State}
	if refused.Changed = d.compared && d.seen != r.Position; refused.Changed {
		refused.Problem = "it has changed since you saw it: look at it again"
		return refused
	}
	if _, refused.Problem = r.decide(d, r.ChangedAt); refused.Problem != "" {
		return refused
	}
	return nil
}

// decide is the event of a person's decision. problem says why it is not possible, "" if it is.
func (r Record) decide(d Decision, now time.Time) (next Record, problem string) {
	made := Decided{At: now, By: d.author, What: d.String(), Note: d.note, PayoutID: d.payoutID, State: r.State}
	if r.Reason != nil {
		made.Reason = r.Reason.Code
	}
	unpaid := r.State == moneymovement.PaymentNeedsDecision || r.State == moneymovement.PaymentAccepted ||
		r.State == moneymovement.PaymentPaying
	tooOld := r.State == moneymovement.PaymentNeedsDecision && r.Reason != nil && r.Reason.Code == ReasonKeyTooOld
	inDoubt := r.State == moneymovement.PaymentInDoubt && !r.KeyTooOld
	switch d.kind {
	case decideBounds:
		switch {
		case !unpaid && !inDoubt:
			return r, "the payment does not wait for a decision"
		case r.Kind != KindPayout:
			return r, "only payouts have bounds"
		case tooOld:
			return r, keyMayBeForgotten
		}
		r.Bounds = withReferencePrice(d.bounds, r.RefusedQuote)
		r.resume(now)
	case decideRetry:
		switch {
		case !unpaid && r.State != moneymovement.PaymentInDoubt:
			return r, "the payment does not wait for a decision"
		case tooOld:
			return r, keyMayBeForgotten
		}
		r.resume(now)
	case decideCancel:
		switch {
		case r.MayHaveLeft:
			return r, "money may have left"
		case !unpaid:
			return r, "the payment has ended or is paid"
		case r.unsearched():
			return r, "it is not known yet whether the payment was made: the next step searches for it"
		}
		r.end(moneymovement.PaymentRefused, ReasonCanceled, d.note, now)
	case decidePaid, decideNotPaid:
		if r.State != moneymovement.PaymentNeedsDecision || !r.MayHaveLeft {
			return r, "it is only for a payment that needs a decision, and from which money may have left"
		}
		if d.kind == decideNotPaid {
			r.MayHaveLeft = false
			r.end(moneymovement.PaymentRefused, ReasonCanceled, d.note, now)
			break
		}
		if d.payoutID != "" {
			r.PayoutID = d.payoutID
		}
		if r.PayoutID == "" || r.Kind != KindPayout { // there is nothing to follow
			r.end(moneymovement.PaymentCompleted, ReasonDecided, d.note, now)
			break
		}
		r.setState(moneymovement.PaymentPaid, now)
		r.Reason, r.Due = &Reason{Code: ReasonDecided, Message: "a person found the payment"}, now
	default:
		return r, "use NewBounds, Retry, Cancel, WasPaid or WasNotPaid"
	}
	if d.kind == decideBounds {
		bounds := r.Bounds
		made.Bounds = &bounds
	}
	earlier := r.Decisions[max(0, len(r.Decisions)-maxDecisions+1):]
	r.Decisions, r.ChangedAt = append(slices.Clone(earlier), made), now
	return r, ""
}

// withReferencePrice returns bounds, and adds the price that a person has seen if they do not limit what arrives.
// Otherwise the client would compare with the first price that its own process saw, which may be the one that was
// refused first.
func withReferencePrice(b dapi.Bounds, seen *dapi.Quote) dapi.Bounds {
	readable := seen != nil && seen.SourceAmount.IsPositive() && seen.DestinationAmount.IsPositive() &&
		seen.SourceCurrency != "" && seen.DestinationCurrency != ""
	if readable && b.NoWorseThan == nil && b.MinDestinationAmount == nil && b.DestinationCurrency == "" {
		b.NoWorseThan = seen
	}
	return b
}

const keyMayBeForgotten = "the service may have forgotten the key, so another call could pay a second time: look at " +
	"the service's books, then decide WasPaid or WasNotPaid"

// resume makes the payment due. It keeps what may have left.
func (r *Record) resume(now time.Time) {
	if r.State == moneymovement.PaymentNeedsDecision {
		r.setState(moneymovement.PaymentAccepted, now)
		if r.MayHaveLeft {
			r.setState(moneymovement.PaymentInDoubt, now)
		}
	}
	due := now
	if r.RefusedQuote != nil { // until it ends, the service offers it again
		due = later(now, earlier(r.RefusedQuote.ExpiresAt.Add(time.Second), now.Add(quoteLasts)))
	}
	if !r.unsearched() {
		r.Reason = &Reason{Code: ReasonDecided, Message: "a person decided to go on"}
	}
	r.Due, r.Refusals = due, 0
}

func (r *Record) end(s moneymovement.PaymentState, code ReasonCode, note string, now time.Time) {
	if note == "" {
		note = "a person decided so"
	}
	r.setState(s, now)
	r.Reason, r.Due = &Reason{Code: code, Message: note}, time.Time{}
}

// NotPossible says that a decision does not fit the payment. Nothing was changed.
type NotPossible struct {
	Key      moneymovement.Key
	Decision Decision
	State    moneymovement.PaymentState
	// Problem says why, safe to log.
	Problem string
	// Changed reports a payment that has changed since the person saw it: see [Decision.Seen].
	Changed bool
}

// Error returns one line, safe to log.
func (e *NotPossible) Error() string {
	return errorbase.Textf(e, "payment %q is %s: %s is not possible: %s", e.Key, e.State, e.Decision, e.Problem)
}
