package appapi

import (
	"context"
	"iter"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Transfers is the money that the app sends. The service resolves the app from the key.
//
// Source: App API, Transfers.
type Transfers struct{ low lowLevel }

// Destination is what a transfer pays: [ToContact], [ToQuote] or [ToInvoice], by value. Only a contact is paid an
// amount of the caller's; of a quote and an invoice it follows.
//
// Source: App API, Transfers (rules for the transfer body).
type Destination interface{ isDestination() }

// ToContact pays a contact.
type ToContact struct {
	ContactID string          // a UUID
	Amount    decimal.Decimal // required
	Memo      string          // optional note
}

// ToQuote pays what a quote priced.
type ToQuote struct {
	QuoteID string
	Memo    string // optional note
}

// ToInvoice pays an invoice.
type ToInvoice struct {
	InvoiceID string // a UUID
	Memo      string // optional note
}

func (ToContact) isDestination() {}
func (ToQuote) isDestination()   {}
func (ToInvoice) isDestination() {}

// Send pays. The key is required, and makes the transfer happen once, in whatever process: derive it from what is paid,
// with [moneymovement.DeriveKey]. With other terms the same key is refused as *errors.IdempotencyKeyReused. If the
// answer is lost (*errors.OutcomeUnknown), repeat the call with the same key, or look it up with [Transfers.ByKey].
//
// Source: Limits, Idempotency.
func (s *Transfers) Send(
	ctx context.Context, to Destination, key moneymovement.Key, options ...moneymovement.CallOption,
) (*TransferReceipt, error) {
	if err := transport.RequireKey(opCreateTransfer.ID, string(key)); err != nil {
		return nil, err
	}
	body, known := transferOf(to)
	if !known {
		return nil, transport.Validate(opCreateTransfer.ID, func(c *transport.Check) {
			c.Refuse("destination", "unknown_variant", "must be a ToContact, ToQuote or ToInvoice, by value")
		})
	}
	write := []moneymovement.WriteOption{moneymovement.IdempotencyKey(key)}
	for _, option := range options {
		write = append(write, option)
	}
	return transport.Of(s).low.CreateTransfer(ctx, &body, write)
}

// transferOf is the body of a transfer. A nil pointer to a destination is none, and so is nothing.
func transferOf(to Destination) (body TransferCreate, known bool) {
	switch to := to.(type) {
	case ToContact:
		return TransferCreate{ContactID: to.ContactID, Amount: model.NewNumber(to.Amount), Memo: to.Memo}, true
	case ToQuote:
		return TransferCreate{QuoteID: to.QuoteID, Memo: to.Memo}, true
	case ToInvoice:
		return TransferCreate{InvoiceID: to.InvoiceID, Memo: to.Memo}, true
	}
	return TransferCreate{}, false
}

// List returns one page of the app's transfers: at most params.Limit entries, from params.Offset on. With a Limit of 0
// the service decides how many.
func (s *Transfers) List(
	ctx context.Context, params ListTransfersParams, options ...moneymovement.CallOption,
) (*TransferList, error) {
	return transport.Of(s).low.ListTransfers(ctx, &params, options)
}

// All walks all pages from params.Offset on. It can be ranged over more than once, and ends after the first error.
// Transfers that are sent meanwhile can shift entries from one page to another.
func (s *Transfers) All(
	ctx context.Context, params ListTransfersParams, options ...moneymovement.CallOption,
) iter.Seq2[Transfer, error] {
	return pages(ctx, &opListTransfers, s.List, params, options,
		func(p *ListTransfersParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *TransferList) ([]Transfer, int) { return l.Items, l.Total })
}

// ByKey finds the transfer that an idempotency key anchors. found is false if the service knows none, or several of
// which none echoes the key. If one that is listed cannot be read, and no other is the one, the error is
// *errors.UnexpectedAnswer, for it may be.
//
// Source: Limits, Idempotency (history can be looked up by idempotency_key).
func (s *Transfers) ByKey(
	ctx context.Context, key moneymovement.Key, options ...moneymovement.CallOption,
) (transfer *Transfer, found bool, err error) {
	wanted := string(key)
	err = transport.Validate(opListTransfers.ID, func(c *transport.Check) {
		c.Text("idempotency_key", wanted, transport.KeyRule)
	})
	if err != nil {
		return nil, false, err
	}
	var answer moneymovement.Response
	list, err := s.List(ctx, ListTransfersParams{IdempotencyKey: wanted}, capturing(options, &answer)...)
	if err != nil {
		return nil, false, err
	}
	leftOut := entriesOf(&opListTransfers, &answer) != nil
	only := len(list.Items) == 1 && !leftOut
	for i := range list.Items {
		echoed := list.Items[i].IdempotencyKey
		if echoed == wanted || echoed == "" && only { // of several without an echo, none is known to be the one
			return &list.Items[i], true, nil
		}
	}
	if leftOut {
		return nil, false, &errors.UnexpectedAnswer{
			Head: opListTransfers.Head(wanted), Status: answer.Status,
			Err: errors.New("a transfer is listed that cannot be read: it may be the one"),
		}
	}
	return nil, false, nil
}
