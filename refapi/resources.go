package refapi

import (
	"context"
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Invoices changes the status of invoices. An invoice is a request for payment from a contractor, who is paid, to a
// client, who pays.
type Invoices struct{ low lowLevel }

// Update changes the status of an invoice, and returns the invoice. id is a UUID. If Status is paid and
// OnchainTransactionID is not set, the invoice is marked as paid offline, without a transaction. OnchainTransactionID
// can be any unique reference. PaidAt is the time of the payment; if it is not set, the service takes the current time.
//
// If the service does not know the status, Update fails with *errors.DetailErrors.
func (s *Invoices) Update(
	ctx context.Context, id string, change model.InvoiceUpdate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.OrNew(s).low.UpdateInvoice(ctx, id, &change, options)
}

// UpdateOnInvoicesPath is [Invoices.Update] on the second path that the description shows for it,
// /api/v1/invoices/documents/contracts/invoices/{invoice_id}. Use it for a host that serves only that path.
func (s *Invoices) UpdateOnInvoicesPath(
	ctx context.Context, id string, change model.InvoiceUpdate, options ...moneymovement.CallOption,
) (*model.Invoice, error) {
	return transport.OrNew(s).low.UpdateInvoiceOnInvoicesPath(ctx, id, &change, options)
}

// Contracts reads contracts. A contract is an agreement that invoices are issued under.
type Contracts struct{ low lowLevel }

// Get returns a contract. id is a UUID.
func (s *Contracts) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error) {
	return transport.OrNew(s).low.GetContract(ctx, id, options)
}

// Cards lists payment cards, and reveals their details to the holder. Limits and amounts are exact decimals in the
// currency of the card's Limit.
type Cards struct {
	low    lowLevel
	proofs cardproof.Prover
}

// List returns the account's cards, and the status of the owner's verification for cards. If the response leaves a
// field out, the field has its default: not_started for KYCStatus, 0 for amounts, and false for the others.
func (s *Cards) List(ctx context.Context, options ...moneymovement.CallOption) (*model.CardList, error) {
	return transport.OrNew(s).low.ListCards(ctx, options)
}

// Details returns a card's number, security code and expiry date. They are [moneymovement.Secret] values, which do not
// print: call Reveal to show them to the holder.
//
// The wallet that the card spends from signs a confirmation message. A signature can be used once, within five minutes,
// so each call needs a new one. If the wallet takes longer than that to sign, for example because it asks a person,
// Details fails with *errors.InvalidInput and sends nothing. The service refuses the signature of another wallet.
//
// The description does not show the confirmation message. The SDK assumes one; [model.WithCardMessage] replaces it.
//
// If the response is lost, the same signature is sent again. A service that has already accepted it can refuse it as a
// conflict. The wallet then signs once more. If that is refused as well, Details fails with *errors.Conflict.
func (s *Cards) Details(
	ctx context.Context, id string, wallet model.CardSigner, options ...moneymovement.CallOption,
) (*model.CardDetails, error) {
	if err := transport.OrNew(s).low.ready(ctx, &opRevealCardDetails); err != nil {
		return nil, err
	}
	return s.proofs.Reveal(ctx, &opRevealCardDetails, id, wallet,
		func(proof model.CardDetailsProof) (*model.CardDetails, error) {
			return s.DetailsWithProof(ctx, id, proof, options...)
		})
}

// DetailsWithProof is [Cards.Details] with a signature that was made elsewhere, such as on the holder's device. To make
// one, use [model.SignCardDetails].
func (s *Cards) DetailsWithProof(
	ctx context.Context, id string, proof model.CardDetailsProof, options ...moneymovement.CallOption,
) (*model.CardDetails, error) {
	return transport.OrNew(s).low.RevealCardDetails(ctx, id, &proof, options)
}

// Quotes reads the status of payments by the id of their quote. Package appapi asks for quotes.
type Quotes struct{ low lowLevel }

// Status returns the status of the payment of a quote. Amounts are exact decimals in units of their currency.
func (s *Quotes) Status(
	ctx context.Context, quoteID string, options ...moneymovement.CallOption,
) (*model.UniversalTransactionStatus, error) {
	return transport.OrNew(s).low.GetTransactionStatus(ctx, quoteID, options)
}

// Wait polls the status until done returns true, and returns the last status. [Settled] is the done of a payment that
// has ended; the payment may have failed, so check the Status. If ctx ends first, Wait returns the last status that it
// read and *moneymovement.StillPending. If done is nil, Wait fails with *errors.InvalidInput.
func (s *Quotes) Wait(
	ctx context.Context, quoteID string, done func(*model.UniversalTransactionStatus) bool,
	options ...moneymovement.WaitOption,
) (*model.UniversalTransactionStatus, error) {
	low := transport.OrNew(s).low
	low.class, low.header = moneymovement.ClassPoll, moneymovement.WaitSettingsOf(options...).Header
	return transport.Awaited[model.UniversalTransactionStatus]{
		Client: low.transport, Operation: &opGetTransactionStatus, Resource: "quote", ID: quoteID,
		Check: func(c *transport.Check) { c.Missing("done", done == nil) },
		Read: func(ctx context.Context) (*model.UniversalTransactionStatus, error) {
			return low.GetTransactionStatus(ctx, quoteID, nil)
		},
		Status: func(s *model.UniversalTransactionStatus) string { return s.Status },
		Done:   done,
	}.Wait(ctx, options)
}

// Settled reports whether the status of a payment is final. The description does not show the values of Status, so the
// SDK assumes these: completed, failed, expired, refunded and the like. Any other word counts as pending.
func Settled(status *model.UniversalTransactionStatus) bool {
	switch strings.ToLower(status.Status) {
	case "completed", "success", "succeeded", "settled",
		"failed", "error", "rejected", "expired", "refunded", "cancelled", "canceled":
		return true
	}
	return false
}
