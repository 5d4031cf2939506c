package refapi

import (
	"context"
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Quotes reads the status of payments by the id of their quote. Package appapi asks for quotes.
type Quotes struct{ low lowLevel }

// Status returns the status of the payment of a quote. Amounts are exact decimals in units of their currency.
func (s *Quotes) Status(
	ctx context.Context, quoteID string, options ...moneymovement.CallOption,
) (*model.UniversalTransactionStatus, error) {
	return transport.Of(s).low.GetTransactionStatus(ctx, quoteID, options)
}

// Wait polls the status until done returns true, and returns the last status. [Settled] is the done of a payment that
// has ended; the payment may have failed, so check the Status. If ctx ends first, Wait returns the last status that it
// read and *moneymovement.StillPending. If done is nil, Wait fails with *errors.InvalidInput.
func (s *Quotes) Wait(
	ctx context.Context, quoteID string, done func(*model.UniversalTransactionStatus) bool,
	options ...moneymovement.WaitOption,
) (*model.UniversalTransactionStatus, error) {
	low := transport.Of(s).low
	low.class = moneymovement.ClassPoll
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
