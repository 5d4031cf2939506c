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

// Wait polls the status until the payment has ended, and returns the last status. The payment may have failed, so check
// the Status. [Settled] decides whether a status is an end; the option [Until] replaces it. The pauses between reads
// grow; the option [PollEvery] sets them. An invalid option fails with *errors.InvalidInput, and nothing is sent. If
// ctx ends first, Wait returns the last status that it read and a *[StillPending] error.
func (s *Quotes) Wait(
	ctx context.Context, quoteID string, options ...WaitOption,
) (*model.UniversalTransactionStatus, error) {
	low := transport.Of(s).low
	low.class = moneymovement.ClassPoll
	return low.wait(ctx, quoteID, options, func(ctx context.Context) (*model.UniversalTransactionStatus, error) {
		return low.GetTransactionStatus(ctx, quoteID, nil)
	})
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
