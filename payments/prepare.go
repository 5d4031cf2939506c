package payments

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Prepare checks a submission and returns the row to insert for it. [Processor.Submit] uses it. It is for engines that
// insert the row themselves, in a transaction of the caller. If the submission is invalid, the error is
// *errors.InvalidInput: nothing can be stored. The account must be named, because Prepare knows no services.
func Prepare(submission Submission, now time.Time) (Row, error) {
	record, err := recordOf(submission)
	if err != nil {
		return Row{}, err
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

// accepted returns the row of a record that was submitted.
func (r Record) accepted(now time.Time) (Row, error) {
	if err := r.check(); err != nil {
		return Row{}, err
	}
	if r.FirstUsed.After(now.Add(clockMargin)) {
		return Row{}, invalid("Submit", "firstUsed", "out_of_range", "must not be in the future")
	}
	r.State, r.AcceptedAt, r.ChangedAt, r.Due = Accepted, now.UTC(), now.UTC(), now.UTC()
	r.MayHaveLeft = !r.FirstUsed.IsZero()
	if r.MayHaveLeft {
		r.State, r.FirstUsed = InDoubt, r.FirstUsed.UTC()
	}
	if !r.Deadline.IsZero() {
		r.Deadline = r.Deadline.UTC()
	}
	row, err := r.digested()
	if err != nil { // such as a deadline in the year 20000
		return Row{}, invalid("Submit", "submission", "invalid", "cannot be stored: "+err.Error())
	}
	return row, nil
}

// digested returns the row of a new record with its digest. The digest is of the terms as they are read again: an empty
// list, for example, is read as none.
func (r *Record) digested() (Row, error) {
	row, err := r.row(Row{})
	if err != nil {
		return Row{}, err
	}
	read, err := row.Record()
	if err != nil {
		return Row{}, err
	}
	if r.Digest, err = read.digest(); err != nil {
		return Row{}, err
	}
	return r.row(Row{})
}

// Stored returns the record of a row that is stored under the key of a submitted row. If the stored payment has other
// terms, the error is *errors.IdempotencyKeyReused, with the payout or the deal that has the key.
func Stored(submitted, stored Row) (Record, error) {
	wanted, err := submitted.Record()
	if err != nil {
		return Record{}, err
	}
	known, err := stored.Record()
	if err != nil || known.Digest == wanted.Digest {
		return known, err
	}
	return known, &errors.IdempotencyKeyReused{
		Refusal: errors.Refusal{
			CallInfo: errors.CallInfo{Operation: "Submit", IdempotencyKey: string(known.Key),
				Account: string(wanted.Account)},
			Code: errors.CodeIdempotencyKeyReused,
			Message: "a payment with this key and other terms is stored, so this one was not stored: " +
				"give each payment a key of its own",
		},
		PayoutID: string(known.PayoutID), EscrowID: string(known.EscrowID),
	}
}

// check refuses what the service would refuse anyway, and what cannot be stored.
func (r *Record) check() error {
	var err error
	switch r.Kind {
	case KindEscrow:
		err = dapi.CheckOpen(*r.Escrow, r.Key)
	case KindEscrowAction:
		err = dapi.CheckAct(*r.Escrow, r.EscrowID, r.Action, r.Key)
	case KindTransfer:
		var to appapi.Destination
		if r.Transfer != nil {
			to = r.Transfer.destination()
		}
		err = appapi.CheckSend(to, r.Key)
	default:
		err = dapi.CheckPay(*r.Payout, r.Key, r.Bounds.options()...)
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
		return invalid("Submit", "metadata", "too_long", fmt.Sprintf("has %d entries with %d bytes, and at most %d with %d "+
			"bytes are stored", len(r.Metadata), size, maxMetadata, maxMetadataBytes))
	}
	return nil
}

func invalid(operation, field, code, message string) error {
	return &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: operation},
		Fields: []errors.Field{{Field: field, Code: code, Message: message}}}
}

// options returns the bounds as options of dapi.Payouts.Pay.
func (b Bounds) options() []dapi.PayOption {
	var options []dapi.PayOption
	if b.MaxFee != nil {
		options = append(options, dapi.MaxFee(*b.MaxFee))
	}
	if b.MinDestinationAmount != nil || b.DestinationCurrency != "" {
		var least decimal.Decimal
		if b.MinDestinationAmount != nil {
			least = *b.MinDestinationAmount
		}
		options = append(options, dapi.MinDestinationAmount(least, b.DestinationCurrency))
	}
	if b.NoWorseThan != nil {
		options = append(options, dapi.NoWorseThan(*b.NoWorseThan))
	}
	if !b.QuoteTolerance.IsZero() {
		options = append(options, dapi.QuoteTolerance(b.QuoteTolerance))
	}
	return options
}

// edited reports that the terms are not those that were submitted or decided.
func (r *Record) edited() bool {
	digest, err := r.digest()
	return err != nil || digest != cmp.Or(r.DecidedDigest, r.Digest)
}

// digest names the terms. Amounts with the same value have the same text, and a list has its order.
func (r *Record) digest() (string, error) {
	bounds, escrowID := r.Bounds, r.EscrowID
	if r.Kind == KindEscrow { // it is known later
		escrowID = ""
	}
	if bounds.NoWorseThan != nil { // a time can be written in several zones
		quote := *bounds.NoWorseThan
		quote.ExpiresAt, bounds.NoWorseThan = quote.ExpiresAt.UTC(), &quote
	}
	terms, err := jsonv2.Marshal(struct {
		Kind     Kind
		Account  dapi.ClientID
		Payout   *dapi.PayoutCreate
		Bounds   Bounds
		Escrow   *dapi.EscrowCreate
		EscrowID dapi.EscrowID
		Action   dapi.EscrowActionType
		Transfer *Transfer
	}{r.Kind, r.Account, r.Payout, bounds, r.Escrow, escrowID, r.Action, r.Transfer}, jsonv2.Deterministic())
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(terms)
	return hex.EncodeToString(sum[:]), nil
}

// work returns the class of work that a payment waits for.
func (r *Record) work() Work {
	switch r.State {
	case Accepted, Paying, InDoubt:
		if r.Calls == 0 && !r.MayHaveLeft {
			return WorkBegin
		}
		return WorkAgain
	case Paid:
		return WorkFollow
	}
	return WorkNone
}

// row returns the row of a record. The lease and the position are those of the row from before.
func (r *Record) row(before Row) (Row, error) {
	data, err := jsonv2.Marshal(r, jsonv2.Deterministic())
	if err != nil {
		return Row{}, err
	}
	row := Row{Key: r.Key, Account: r.Account, State: r.State, Work: r.work(), Due: r.Due, Data: data,
		Position: before.Position, Lease: before.Lease}
	if row.Work == WorkNone {
		row.Due = time.Time{}
	}
	return row, nil
}

// Record returns the payment of a row. If the row cannot be read, the error is *[Unreadable], and the record has only
// its key and its position.
func (r Row) Record() (Record, error) {
	var record Record
	err := jsonv2.Unmarshal(r.Data, &record, jsonv2.NoUnknownMembers())
	switch {
	case err != nil:
	case record.Key != r.Key || record.Key == "":
		err = errors.New("it is not the record of this payment")
	case !record.whole():
		err = errors.New("it has a kind, a state or terms that are not known")
	}
	if err != nil {
		return Record{Key: r.Key, Position: r.Position}, &Unreadable{Key: r.Key, Err: err}
	}
	record.Position, record.Due = r.Position, r.Due
	return record, nil
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
