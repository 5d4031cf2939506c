package refapi

import (
	"context"
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Quotes are prices for one payment each; here is how far that payment has come.
//
// Source: Universal transaction status; Events.
type Quotes struct{ low lowLevel }

// Status reads how far the payment of a quote has come. Amounts are exact, from the digits of the JSON numbers.
func (s *Quotes) Status(
	ctx context.Context, quoteID string, options ...moneymovement.CallOption,
) (*model.UniversalTransactionStatus, error) {
	return transport.Of(s).low.GetTransactionStatus(ctx, quoteID, options)
}

// Wait reads the status, with growing pauses, until the payment has come to an end, whether a good one or not: look at
// Status. When that is, [Settled] says, or [Until]. If ctx ends first, the error is *[StillPending], beside the status
// as last read.
func (s *Quotes) Wait(
	ctx context.Context, quoteID string, options ...WaitOption,
) (*model.UniversalTransactionStatus, error) {
	return transport.Of(s).low.wait(ctx, quoteID, options, func(ctx context.Context) (*model.UniversalTransactionStatus,
		error) {
		return s.Status(ctx, quoteID, asPoll)
	})
}

// Settled reports that a payment's status is final. The words are assumed, since the description shows no values of
// status; one that is not among them counts as under way.
func Settled(status *model.UniversalTransactionStatus) bool {
	switch strings.ToLower(status.Status) {
	case "completed", "success", "succeeded", "settled",
		"failed", "error", "rejected", "expired", "refunded", "cancelled", "canceled":
		return true
	}
	return false
}
