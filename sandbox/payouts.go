package sandbox

import (
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// MovePayout moves a funded payout to another status, as its partner would report: processing, completed, failed or
// refunded. It then no longer moves by itself. It is what the service's own sandbox call does, without a session, and
// without the rate window of that call. The settings FailOneIn and RefundOneIn choose payouts in place of the test.
//
// For an unknown id, the error contains not_found. For a payout that nobody funded, it contains quote_not_submitted or
// payout_not_fundable, and for a move that is not possible, conflict.
func (h *Host) MovePayout(id, status string) error {
	return h.platform.Move(id, platformwire.PayoutStatus(status))
}
