package payments

import (
	"fmt"
	"maps"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// Submission is something that is paid once: a [Payment], an [EscrowPayment], an [EscrowAction] or a
// [TransferPayment], as a value.
type Submission interface{ record() Record }

// Payment is a payout to submit.
//
// Key, Account, Payout and Bounds are its terms. If you submit the same key with other terms, Submit fails with
// *errors.IdempotencyKeyReused. Deadline and Metadata can differ: those of the first Submit count.
type Payment struct {
	// Key names the payment, in the store and at the service. Derive it from your own row, with
	// moneymovement.DeriveKey. All payments of a store share one set of keys: two payments need two keys, also in two
	// accounts.
	Key moneymovement.Key
	// Account is the client that pays, or [OwnAccount]. With [SelfServeServices], it can be empty.
	Account dapi.ClientID
	// Payout is what is paid to whom.
	Payout dapi.PayoutCreate
	// Bounds limits the price. They are stored, and hold for every call, also after a restart. Without bounds, any fee
	// and the first price are accepted.
	Bounds dapi.Bounds
	// Deadline is the latest time to begin the payment. After it, the payment is refused if no money can have left and
	// the service does not have the payment. A payment in doubt is still settled. Zero means no deadline.
	Deadline time.Time
	// FirstUsed is when your program first used the key, if that was before this Submit: without this package, or with
	// a store that was lost. Zero means that the key was never used. With another time, an earlier call may have paid,
	// so the payment is in doubt from the beginning.
	FirstUsed time.Time
	// Metadata is stored with the payment and never sent: up to 64 entries, and 16 KiB in all. Put no secrets into it.
	Metadata map[string]string
}

// EscrowPayment is an escrow to open: its money is held when the payment is completed. Deadline, FirstUsed and Metadata
// are those of [Payment].
type EscrowPayment struct {
	Key       moneymovement.Key
	Account   dapi.ClientID
	Escrow    dapi.EscrowCreate
	Deadline  time.Time
	FirstUsed time.Time
	Metadata  map[string]string
}

// EscrowAction is an action of an escrow to take, such as its release. Deadline, FirstUsed and Metadata are those of
// [Payment].
type EscrowAction struct {
	Key     moneymovement.Key
	Account dapi.ClientID
	// EscrowID is the escrow.
	EscrowID dapi.EscrowID
	// Escrow is what the escrow was created with. The approval of the action must agree with it.
	Escrow dapi.EscrowCreate
	// Action is what to do, such as dapi.EscrowActionTypeRelease.
	Action    dapi.EscrowActionType
	Deadline  time.Time
	FirstUsed time.Time
	Metadata  map[string]string
}

// TransferPayment is a transfer of the app API. Deadline, FirstUsed and Metadata are those of [Payment].
type TransferPayment struct {
	Key moneymovement.Key
	// To is what is paid: an appapi.ToContact, appapi.ToQuote or appapi.ToInvoice.
	To        appapi.Destination
	Deadline  time.Time
	FirstUsed time.Time
	Metadata  map[string]string
}

func (p Payment) record() Record {
	return Record{
		Key: p.Key, Kind: KindPayout, Account: p.Account, Payout: &p.Payout, Bounds: p.Bounds,
		Deadline: p.Deadline, FirstUsed: p.FirstUsed, Metadata: p.Metadata,
	}
}

func (p EscrowPayment) record() Record {
	return Record{
		Key: p.Key, Kind: KindEscrow, Account: p.Account, Escrow: &p.Escrow,
		Deadline: p.Deadline, FirstUsed: p.FirstUsed, Metadata: p.Metadata,
	}
}

func (p EscrowAction) record() Record {
	return Record{
		Key: p.Key, Kind: KindEscrowAction, Account: p.Account, Escrow: &p.Escrow, EscrowID: p.EscrowID,
		Action: p.Action, Deadline: p.Deadline, FirstUsed: p.FirstUsed, Metadata: p.Metadata,
	}
}

func (p TransferPayment) record() Record {
	return Record{
		Key: p.Key, Kind: KindTransfer, Account: OwnAccount, Transfer: transferOf(p.To),
		Deadline: p.Deadline, FirstUsed: p.FirstUsed, Metadata: p.Metadata,
	}
}

// Transfer is what a transfer pays, as it is stored. One of ContactID, QuoteID and InvoiceID is set.
type Transfer struct {
	ContactID string          `json:"contactId,omitzero"`
	QuoteID   string          `json:"quoteId,omitzero"`
	InvoiceID string          `json:"invoiceId,omitzero"`
	Amount    decimal.Decimal `json:"amount,omitzero"` // with ContactID
	Memo      string          `json:"memo,omitzero"`
}

// transferOf returns nil for a destination that appapi does not take either: nil, or a pointer.
func transferOf(to appapi.Destination) *Transfer {
	switch to := to.(type) {
	case appapi.ToContact:
		return &Transfer{ContactID: to.ContactID, Amount: to.Amount, Memo: to.Memo}
	case appapi.ToQuote:
		return &Transfer{QuoteID: to.QuoteID, Memo: to.Memo}
	case appapi.ToInvoice:
		return &Transfer{InvoiceID: to.InvoiceID, Memo: to.Memo}
	}
	return nil
}

// destination returns the transfer as appapi takes it.
func (t *Transfer) destination() appapi.Destination {
	switch {
	case t.QuoteID != "":
		return appapi.ToQuote{QuoteID: t.QuoteID, Memo: t.Memo}
	case t.InvoiceID != "":
		return appapi.ToInvoice{InvoiceID: t.InvoiceID, Memo: t.Memo}
	}
	return appapi.ToContact{ContactID: t.ContactID, Amount: t.Amount, Memo: t.Memo}
}

// Kind is what a payment does.
type Kind string

// The kinds of payments.
const (
	KindPayout       Kind = "payout"        // a [Payment]
	KindEscrow       Kind = "escrow"        // an [EscrowPayment]
	KindEscrowAction Kind = "escrow_action" // an [EscrowAction]
	KindTransfer     Kind = "transfer"      // a [TransferPayment]
)

// Prepare checks a submission and returns the record to insert for it. [Processor.Submit] uses it. It is for engines
// that insert the record themselves, in a transaction of the caller. If the submission is invalid, the error is
// *errors.InvalidInput: nothing can be stored. The account must be named, because Prepare knows no services.
func Prepare(submission Submission, now time.Time) (Record, error) {
	record, err := recordOf(submission)
	if err != nil {
		return Record{}, err
	}
	return record.accept(now)
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

// accept returns a record that was submitted, as it is stored. It shares no memory with the submission.
func (r Record) accept(now time.Time) (Record, error) {
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
	if err := r.normalize(); err != nil { // such as a price that ends in the year 20000
		return Record{}, invalid("Submit", "submission", "invalid", "cannot be stored: "+err.Error())
	}
	return r, nil
}

// normalize sets the terms of a new record to what is read when they were stored, and its digest to theirs. What
// differs in memory can be the same as text.
func (r *Record) normalize() error {
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
// error is *errors.IdempotencyKeyReused, with the payout or the escrow that has the key.
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
		err = outcome.CheckEscrow(nil, *r.Escrow, string(r.Key))
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
