package payments

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Record is a payment as it is stored: what was submitted, and what has become of it.
type Record struct {
	Key     moneymovement.Key `json:"key"`
	Kind    Kind              `json:"kind"`
	Account dapi.ClientID     `json:"account,omitzero"` // or OwnAccount

	Payout   *dapi.PayoutCreate    `json:"payout,omitzero"`   // of a payout
	Bounds   dapi.Bounds           `json:"bounds,omitzero"`   // of a payout; Decide can change them
	Escrow   *dapi.EscrowCreate    `json:"escrow,omitzero"`   // of an escrow, and of an action of an escrow
	Action   dapi.EscrowActionType `json:"action,omitzero"`   // of an action of an escrow
	Transfer *Transfer             `json:"transfer,omitzero"` // of a transfer
	Deadline time.Time             `json:"deadline,omitzero"`
	Metadata map[string]string     `json:"metadata,omitzero"`
	// Trace is what your [Tracer] stored with the payment.
	Trace string `json:"trace,omitzero"`

	// Digest names the terms that were submitted. Decide does not change it.
	Digest string `json:"digest"`
	// DecidedDigest names the terms with the bounds that Decide has set. Empty if it has set none.
	DecidedDigest string `json:"decidedDigest,omitzero"`

	State moneymovement.PaymentState `json:"state"`
	// Reason says why the payment is in its state, or why the last call did not pay. Nil if there is nothing to say.
	Reason *Reason `json:"reason,omitzero"`
	// MayHaveLeft reports that money may have left: a call that can move money was begun for this payment. It is false
	// again when a later call has shown that no money left.
	MayHaveLeft bool `json:"mayHaveLeft,omitzero"`
	// WaitsFor names what the call under way has been waiting for, such as room in a rate window. WaitsUntil is when it
	// is expected to continue. Both are set after some seconds of waiting, and are cleared at the next step.
	WaitsFor   string    `json:"waitsFor,omitzero"`
	WaitsUntil time.Time `json:"waitsUntil,omitzero"`
	// Calls is how many calls of the flow, such as dapi.Payouts.Pay, were begun.
	Calls int `json:"calls,omitzero"`
	// Refusals is how many of them the service refused for a reason that may pass by itself: see [Policy].
	Refusals int `json:"refusals,omitzero"`
	// Searches is how many searches for the payment could not be made, since its last change of state.
	Searches int `json:"searches,omitzero"`

	PayoutID        dapi.PayoutID `json:"payoutId,omitzero"`
	EscrowID        dapi.EscrowID `json:"escrowId,omitzero"`
	TransactionHash string        `json:"transactionHash,omitzero"`
	// Quote is the price at which the payout was last signed.
	Quote *dapi.Quote `json:"quote,omitzero"`

	// FirstQuote is the price at which the payout was first signed. If no bound limits what arrives, a later price must
	// be as good.
	FirstQuote *dapi.Quote `json:"firstQuote,omitzero"`

	// RefusedQuote is the last price that broke a bound. The service can offer it again while it lasts. It is not
	// signed then.
	RefusedQuote *dapi.Quote `json:"refusedQuote,omitzero"`

	// Spending is what the payment counts against the caps of [Limits]. Nil if it counts nothing.
	Spending *Spending `json:"spending,omitzero"`
	// Decisions are what people decided about the payment, in their order: the last 100.
	Decisions []Decided `json:"decisions,omitempty"`

	AcceptedAt time.Time `json:"acceptedAt"`
	// FirstUsed is when the key was first used. The service remembers it for 7 days from then on.
	FirstUsed time.Time `json:"firstUsed,omitzero"`
	// KeyTooOld reports that the service may have forgotten the key. It is then not sent any more.
	KeyTooOld bool `json:"keyTooOld,omitzero"`
	// PaidAt is when the payment was first known to be paid.
	PaidAt time.Time `json:"paidAt,omitzero"`
	// ChangedAt is when the state or the reason last changed. Each call of a payment in doubt has a reason of its own:
	// FirstUsed says since when it can be in doubt.
	ChangedAt time.Time `json:"changedAt"`
	// Due is when the processor continues with the payment. Zero means that nothing is left to do.
	Due time.Time `json:"due,omitzero"`

	// Needs is the lowest [RecordVersion] that a program must have to go on with the payment. A program with a lower
	// one leaves it alone. Zero is any.
	Needs int `json:"needs,omitzero"`

	// Position is the position of the last change: see [Processor.Watch]. It is not part of the stored text.
	Position Position `json:"-"`
	// Count makes the store change what it counts, when it stores the record. It is not part of the stored text.
	Count *Count `json:"-"`

	later      codec.Value // members that a later version has stored, as an object
	unreadable *Unreadable
}

// RecordVersion is the newest version of a record that this module goes on with: see Record.Needs. It rises with each
// member that decides about money, and with each state, kind or code that a program must know. A member that a program
// can leave as it is does not raise it: it stays in the record. Version 2 knows Spending.
const RecordVersion = 2

// Reason says why a payment is in its state.
type Reason struct {
	// Code says what happened, for programs.
	Code ReasonCode `json:"code"`
	// Message is one sentence, safe to log. It is the text of the error, if there was one.
	Message string `json:"message"`
	// Slug is the code of the service's refusal, if it was one.
	Slug errors.Code `json:"slug,omitzero"`
	// RequestID identifies the call at the service, for its support.
	RequestID string `json:"requestId,omitzero"`
	// Bound is the bound that a price broke.
	Bound dapi.PriceBound `json:"bound,omitzero"`
	// Quote is the price that was refused. It is never confirmed: a decision books anew.
	Quote *dapi.Quote `json:"quote,omitzero"`
	// Reference is the price that Quote was compared with.
	Reference *dapi.Quote `json:"reference,omitzero"`
	// Blockers say what must change before the contact can be paid.
	Blockers []errors.Blocker `json:"blockers,omitzero"`
	// Available is what the account has, in Currency, if it has too little. Nil if the service did not say.
	Available *decimal.Decimal `json:"available,omitempty"`
	Currency  string           `json:"currency,omitzero"`
	// Owner is the id of the payout or escrow that has the key, if the key belongs to other terms.
	Owner string `json:"owner,omitzero"`
}

// ReasonCode says what happened to a payment. Later versions may add codes.
type ReasonCode string

// The codes of a reason.
const (
	ReasonInput          ReasonCode = "input"            // the terms are wrong, and nothing was sent
	ReasonPrice          ReasonCode = "price"            // the price breaks a bound
	ReasonTerms          ReasonCode = "terms"            // the service booked something else, which was not signed
	ReasonPolicy         ReasonCode = "policy"           // the limits do not allow it, so nothing was signed
	ReasonEdited         ReasonCode = "edited"           // the stored terms were changed, so nothing was sent
	ReasonBlocked        ReasonCode = "blocked"          // the contact cannot be paid
	ReasonBalance        ReasonCode = "balance"          // the account has too little
	ReasonRefusal        ReasonCode = "refusal"          // another refusal of the service; Slug says which
	ReasonCredential     ReasonCode = "credential"       // the service does not accept the login or the key
	ReasonUnavailable    ReasonCode = "unavailable"      // the service asks to try again later
	ReasonNotSent        ReasonCode = "not_sent"         // the call did not reach the service
	ReasonNotSigned      ReasonCode = "not_signed"       // the approval was not signed
	ReasonUnexpected     ReasonCode = "unexpected"       // the response is not one of the service
	ReasonInDoubt        ReasonCode = "in_doubt"         // the response to a call was lost, or does not say
	ReasonKeyReused      ReasonCode = "key_reused"       // the key belongs to another payment
	ReasonKeyTooOld      ReasonCode = "key_too_old"      // the service may have forgotten the key
	ReasonDeadline       ReasonCode = "deadline"         // the deadline passed before any money could leave
	ReasonRefusalsUsedUp ReasonCode = "refusals_used_up" // the service refused as often as the policy allows
	ReasonCanceled       ReasonCode = "canceled"         // a person canceled it
	ReasonEnded          ReasonCode = "ended"            // the payout or escrow ended without paying
	ReasonReturned       ReasonCode = "returned"         // the money came back
	ReasonDecided        ReasonCode = "decided"          // a person decided; the payment goes on
)

// Work returns the class of work that a payment waits for.
func (r *Record) Work() Work {
	switch r.State {
	case moneymovement.PaymentAccepted, moneymovement.PaymentPaying, moneymovement.PaymentInDoubt:
		if r.Calls == 0 && !r.MayHaveLeft {
			return WorkBegin
		}
		return WorkAgain
	case moneymovement.PaymentPaid:
		return WorkFollow
	}
	return WorkNone
}

// toStore returns a record as it is stored: without what it waits for, with a due time only if it has work, and
// counting nothing if it was not paid.
func (r Record) toStore() Record {
	r = r.countUnpaid()
	r.WaitsFor, r.WaitsUntil = "", time.Time{}
	if r.Work() == WorkNone {
		r.Due = time.Time{}
	}
	return r
}

// Encode returns the text of a record that a [Store] keeps. For a record that could not be read, it returns
// [Record.Err].
func (r *Record) Encode() ([]byte, error) {
	if err := r.Err(); err != nil {
		return nil, err
	}
	text, err := codec.Marshal(r, codec.Deterministic())
	if err != nil || len(r.later) == 0 {
		return text, err
	}
	return append(append(text[:len(text)-1], ','), r.later[1:]...), nil
}

// Decode returns the record that a [Store] keeps under a key, from the text that [Record.Encode] returned. See
// [Record.Err].
func Decode(key moneymovement.Key, text []byte) Record {
	var record Record
	err := codec.Unmarshal(text, &record, codec.NoUnknownMembers())
	if err != nil {
		record, err = decodeLater(text, err)
	}
	switch {
	case err != nil:
	case record.Needs > RecordVersion && record.Key == key:
		record.unreadable = &Unreadable{Key: key, Newer: true, Err: fmt.Errorf("it needs version %d of records, and "+
			"this program knows versions up to %d: use the newer version of the module that wrote it", record.Needs,
			RecordVersion)}
		return record
	case record.Key != key || record.Key == "":
		err = errors.New("it is not the record of this payment")
	case !record.complete():
		err = errors.New("it has a kind, a state or terms that are not known")
	}
	if err != nil {
		return Record{Key: key, unreadable: &Unreadable{Key: key, Err: err}}
	}
	if record.Reason != nil && record.Reason.Code == "unknown" {
		record.Reason.Code = ReasonInDoubt // its name in earlier commits
	}
	return record
}

// decodeLater returns a record that a later version has written, if strict is because of that alone. Members of the
// record itself that are not known here are kept for [Record.Encode]. Members within others, such as the terms, decide
// what is paid, so a record that has unknown ones is not read. If the record needs a later version anyway, it has what
// can be read.
func decodeLater(text []byte, strict error) (record Record, err error) {
	var members map[string]codec.Value
	if err := codec.Unmarshal(text, &members); err != nil {
		return Record{}, strict
	}
	if codec.Unmarshal(text, &record) == nil && record.Needs > RecordVersion {
		return record, nil
	}
	later := map[string]codec.Value{}
	for name, value := range members {
		if !memberNames[name] {
			later[name] = value
			delete(members, name)
		}
	}
	if len(later) == 0 {
		return Record{}, strict
	}
	known, err := codec.Marshal(members)
	if err != nil {
		return Record{}, err
	}
	record = Record{}
	if err := codec.Unmarshal(known, &record, codec.NoUnknownMembers()); err != nil {
		return Record{}, err
	}
	record.later, err = codec.Marshal(later, codec.Deterministic())
	return record, err
}

// memberNames are the names of a record's members in its text.
var memberNames = func() map[string]bool {
	names := map[string]bool{}
	for field := range reflect.TypeFor[Record]().Fields() {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			names[name] = true
		}
	}
	return names
}()

// Err returns *[Unreadable] if the stored text of a record cannot be read. The record then has only its key, its
// position and its due time, and what could be read of it if a newer version wrote it. Otherwise Err returns nil.
func (r *Record) Err() error {
	if r.unreadable == nil {
		return nil
	}
	return r.unreadable
}

// complete reports that a record has what the steps of its kind need.
func (r *Record) complete() bool {
	if !r.State.Known() || r.AcceptedAt.IsZero() || r.MayHaveLeft && r.FirstUsed.IsZero() {
		return false
	}
	switch r.Kind {
	case KindPayout:
		return r.Payout != nil
	case KindEscrow, KindEscrowAction:
		return r.Escrow != nil
	case KindTransfer:
		return r.Transfer != nil
	}
	return false
}

// edited reports that the terms are not those that were submitted or decided.
func (r *Record) edited() bool {
	digest, err := r.digest()
	return err != nil || digest != cmp.Or(r.DecidedDigest, r.Digest)
}

// digest names the terms. Amounts with the same value have the same text, and a list has its order.
func (r *Record) digest() (string, error) {
	text, err := r.terms()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// terms are what a digest covers.
type terms struct {
	Kind     Kind
	Account  dapi.ClientID
	Payout   *dapi.PayoutCreate
	Bounds   dapi.Bounds
	Escrow   *dapi.EscrowCreate
	EscrowID dapi.EscrowID
	Action   dapi.EscrowActionType
	Transfer *Transfer
}

// terms returns the terms of a record as text.
func (r *Record) terms() ([]byte, error) {
	bounds, escrowID := r.Bounds, r.EscrowID
	if r.Kind == KindEscrow { // it is known later
		escrowID = ""
	}
	if bounds.NoWorseThan != nil { // a time can be written in several zones
		quote := *bounds.NoWorseThan
		quote.ExpiresAt, bounds.NoWorseThan = quote.ExpiresAt.UTC(), &quote
	}
	return codec.Marshal(terms{r.Kind, r.Account, r.Payout, bounds, r.Escrow, escrowID, r.Action, r.Transfer},
		codec.Deterministic())
}
