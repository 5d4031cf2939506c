package payments

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"time"
	"unicode/utf8"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// Prepare checks a submission and returns the record to insert for it. [Processor.Submit] uses it. It is for engines
// that insert the record themselves, in a transaction of the caller. If the submission is invalid, the error is
// *errors.InvalidInput: nothing can be stored. The account must be named, because Prepare knows no services.
func Prepare(submission Submission, now time.Time) (Record, error) {
	record, err := recordOf(submission)
	if err != nil {
		return Record{}, err
	}
	return record.accepted(now)
}

func recordOf(submission Submission) (Record, error) {
	switch submission.(type) {
	case Payment, EscrowPayment, EscrowAction, TransferPayment:
		return submission.record(), nil
	case nil:
		return Record{}, invalid("Submit", "submission", errors.FieldMissing, "is nil: pass a Payment, for example")
	default: // a nil pointer, for example, has no terms
		return Record{}, invalid("Submit", "submission", "unknown_variant",
			"must be a Payment, EscrowPayment, EscrowAction or TransferPayment value, not a pointer")
	}
}

// accepted returns a record that was submitted, as it is stored. It shares no memory with the submission.
func (r Record) accepted(now time.Time) (Record, error) {
	if err := r.check(); err != nil {
		return Record{}, err
	}
	if r.FirstUsed.After(now.Add(clockMargin)) {
		return Record{}, invalid("Submit", "firstUsed", "out_of_range", "must not be in the future")
	}
	r.State, r.AcceptedAt, r.ChangedAt, r.Due = moneymovement.PaymentAccepted, now.UTC(), now.UTC(), now.UTC()
	r.MayHaveLeft = !r.FirstUsed.IsZero()
	if r.MayHaveLeft {
		r.State = moneymovement.PaymentInDoubt
	}
	r.FirstUsed, r.Deadline = r.FirstUsed.UTC(), r.Deadline.UTC()
	for _, at := range []time.Time{r.FirstUsed, r.Deadline} {
		if at.Year() < 0 || at.Year() > 9999 {
			return Record{}, invalid("Submit", "submission", "out_of_range", "must have times in the years 0 to 9999")
		}
	}
	r.Metadata = maps.Clone(r.Metadata)
	if err := r.reread(); err != nil { // such as a price that ends in the year 20000
		return Record{}, invalid("Submit", "submission", "invalid", "cannot be stored: "+err.Error())
	}
	return r, nil
}

// reread sets the terms of a new record to what is read when they were stored, and its digest to theirs. What differs
// in memory can be the same as text.
func (r *Record) reread() error {
	text, err := r.terms()
	if err != nil {
		return err
	}
	var read terms
	if err := codec.Unmarshal(text, &read); err != nil {
		return err
	}
	r.Payout, r.Bounds, r.Escrow, r.Transfer = read.Payout, read.Bounds, read.Escrow, read.Transfer
	r.Digest, err = r.digest()
	return err
}

// Stored returns the record that is stored under the key of a submitted one. If the stored payment has other terms, the
// error is *errors.IdempotencyKeyReused, with the payout or the deal that has the key.
func Stored(submitted, stored Record) (Record, error) {
	if stored.unreadable != nil || stored.Digest == submitted.Digest {
		return stored, stored.Err()
	}
	return stored, &errors.IdempotencyKeyReused{
		Refusal: errors.Refusal{
			CallInfo: errors.CallInfo{Operation: "Submit", IdempotencyKey: string(stored.Key),
				Account: string(submitted.Account)},
			Code: errors.CodeIdempotencyKeyReused,
			Message: "a payment with this key and other terms is stored, so this one was not stored: " +
				"give each payment a key of its own",
		},
		PayoutID: string(stored.PayoutID), EscrowID: string(stored.EscrowID),
	}
}

// check refuses what the service would refuse anyway, and what cannot be stored.
func (r *Record) check() error {
	var err error
	switch r.Kind {
	case KindEscrow:
		err = outcome.CheckDeal(nil, *r.Escrow, string(r.Key))
	case KindEscrowAction:
		err = outcome.CheckAction(*r.Escrow, string(r.EscrowID), string(r.Action), string(r.Key))
	case KindTransfer:
		var to appapi.Destination
		if r.Transfer != nil {
			to = r.Transfer.destination()
		}
		err = appapi.CheckSend(to, r.Key)
	default:
		err = outcome.CheckPayout(nil, *r.Payout, r.Bounds, string(r.Key))
	}
	if err != nil {
		return err
	}
	if err := checkAccount("Submit", r.Account); err != nil {
		return err
	}
	return r.checkMetadata()
}

// The limits of what is stored with a payment.
const (
	maxMetadata      = 64
	maxMetadataBytes = 16 << 10
)

func (r *Record) checkMetadata() error {
	size := 0
	for name, value := range r.Metadata {
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return invalid("Submit", "metadata", "invalid", "has text that is not UTF-8")
		}
		size += len(name) + len(value)
	}
	if len(r.Metadata) > maxMetadata || size > maxMetadataBytes {
		return invalid("Submit", "metadata", "too_long",
			fmt.Sprintf("has %d entries with %d bytes, and at most %d with %d "+
				"bytes are stored", len(r.Metadata), size, maxMetadata, maxMetadataBytes))
	}
	return nil
}

func invalid(operation, field, code, message string) error {
	return &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: operation},
		Fields: []errors.Field{{Field: field, Code: code, Message: message}}}
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

// toStore returns a record as it is stored: it waits for nothing, and without work it is not due.
func (r Record) toStore() Record {
	r.WaitsFor, r.WaitsUntil = "", time.Time{}
	if r.Work() == WorkNone {
		r.Due = time.Time{}
	}
	return r
}

// Encode returns the text of a record that a [Store] keeps. A record that could not be read has none.
func (r *Record) Encode() ([]byte, error) {
	if err := r.Err(); err != nil {
		return nil, err
	}
	return codec.Marshal(r, codec.Deterministic())
}

// Decode returns the record that a [Store] keeps under a key, from the text that [Record.Encode] returned. See
// [Record.Err].
func Decode(key moneymovement.Key, text []byte) Record {
	var record Record
	err := codec.Unmarshal(text, &record, codec.NoUnknownMembers())
	switch {
	case err != nil:
	case record.Key != key || record.Key == "":
		err = errors.New("it is not the record of this payment")
	case !record.whole():
		err = errors.New("it has a kind, a state or terms that are not known")
	}
	if err != nil {
		return Record{Key: key, unreadable: &Unreadable{Key: key, Err: err}}
	}
	return record
}

// Err returns *[Unreadable] if the stored text of a record cannot be read. The record then has only its key, its
// position and its due time. Otherwise Err returns nil.
func (r *Record) Err() error {
	if r.unreadable == nil {
		return nil
	}
	return r.unreadable
}

// whole reports that a record has what the steps of its kind need.
func (r *Record) whole() bool {
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
