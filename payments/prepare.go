package payments

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Prepare checks a submission and returns the row to insert for it. [Processor.Submit] uses it. It is for engines that
// insert the row themselves, in a transaction of the caller. If the submission is invalid, the error is
// *errors.InvalidInput: nothing can be stored.
func Prepare(submission Submission, now time.Time) (Row, error) {
	if submission == nil {
		return Row{}, invalid("submission", errors.FieldMissing, "is nil: pass a Payment, for example")
	}
	record := submission.record()
	if err := record.check(); err != nil {
		return Row{}, err
	}
	record.State, record.AcceptedAt, record.ChangedAt, record.Due = Accepted, now.UTC(), now.UTC(), now.UTC()
	record.MayHaveLeft = !record.FirstUsed.IsZero()
	if record.MayHaveLeft {
		record.State = InDoubt
	}
	var err error
	if record.Digest, err = record.digest(); err != nil {
		return Row{}, err
	}
	return record.row(Row{})
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
		size += len(name) + len(value)
	}
	if len(r.Metadata) > maxMetadata || size > maxMetadataBytes {
		return invalid("metadata", "too_long", fmt.Sprintf("has %d entries with %d bytes, and at most %d with %d bytes "+
			"are stored", len(r.Metadata), size, maxMetadata, maxMetadataBytes))
	}
	return nil
}

func invalid(field, code, message string) error {
	return &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: "Submit"},
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

// digest names the terms. Amounts with the same value have the same text, and a list has its order.
func (r *Record) digest() (string, error) {
	terms, err := jsonv2.Marshal(struct {
		Kind     Kind
		Account  dapi.ClientID
		Payout   *dapi.PayoutCreate
		Bounds   Bounds
		Escrow   *dapi.EscrowCreate
		EscrowID dapi.EscrowID
		Action   dapi.EscrowActionType
		Transfer *Transfer
	}{r.Kind, r.Account, r.Payout, r.Bounds, r.Escrow, r.EscrowID, r.Action, r.Transfer})
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

// Record returns the payment of a row. A row that cannot be read is *[Unreadable].
func (r Row) Record() (Record, error) {
	var record Record
	if err := jsonv2.Unmarshal(r.Data, &record, jsonv2.NoUnknownMembers()); err != nil {
		return Record{}, &Unreadable{Key: r.Key, Err: err}
	}
	if record.Key != r.Key || !slices.Contains(kinds(), record.Kind) {
		return Record{}, &Unreadable{Key: r.Key, Err: errors.New("it is not the record of this payment")}
	}
	record.Position, record.Due = r.Position, r.Due
	return record, nil
}
