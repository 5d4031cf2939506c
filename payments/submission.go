package payments

import (
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
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
	// Deadline is the time after which the payment is not begun any more: if no money can have left by then, and the
	// service does not show the payment, it is refused. A payment in doubt is settled also later. Zero is no deadline.
	Deadline time.Time
	// FirstUsed is the time at which your program first used the key, if it did before it submitted the payment, or
	// submitted it to a store that was lost. Zero means that the key was never used. With another time, an earlier call
	// may have paid: the payment is then InDoubt from the beginning.
	FirstUsed time.Time
	// Metadata is stored with the payment and never sent: up to 64 entries, and 16 KiB in all. Put no secrets into it.
	Metadata map[string]string
}

// EscrowPayment is a deal to open: its money is held when it is completed. Deadline, FirstUsed and Metadata are those
// of [Payment].
type EscrowPayment struct {
	Key       moneymovement.Key
	Account   dapi.ClientID
	Escrow    dapi.EscrowCreate
	Deadline  time.Time
	FirstUsed time.Time
	Metadata  map[string]string
}

// EscrowAction is an action of a deal to take, such as its release. Deadline, FirstUsed and Metadata are those of
// [Payment].
type EscrowAction struct {
	Key     moneymovement.Key
	Account dapi.ClientID
	// EscrowID is the deal.
	EscrowID dapi.EscrowID
	// Escrow is what the deal was created with. The approval of the action must agree with it.
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
