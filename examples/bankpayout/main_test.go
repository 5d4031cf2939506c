package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestRunsAlone(t *testing.T) { rehearsal.RunAlone(t, run) }

func TestPaysTheInvoiceOnce(t *testing.T) {
	host, flags := rehearsal.Host(t)
	ledger := rehearsal.Run(t, run, flags,
		"can be paid: true", "by sepa in EUR",
		"booked payout po_", "awaiting_approval; no money has moved",
		"quote: 25 USDC leave, 22.42 EUR arrive, fee 0.5 USDC",
		"confirmed the payout, which is now funding", "is completed",
		"paid invoice 42 again with the same key: it is payout po_", "completed, and no more money has left",
		"the ledger, newest first")
	assert.Regexp(t, `payout +out +25\.00 +USDC +completed\n +deposit +in +50\.00 +USDC +completed\n$`, ledger)

	rehearsal.PaidOnce(t, host, "25")
}
