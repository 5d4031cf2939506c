package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestPaysTheInvoiceOnce(t *testing.T) {
	host, flags := rehearsal.Host(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), flags, &out))
	ledger := rehearsal.Told(t, out.String(),
		"can be paid: true", "by sepa in EUR",
		"booked payout po_", "awaiting_approval; no money has moved", "quote: 25 USDC leave, 22.42 EUR arrive, fee 0.5 USDC",
		"confirmed it: funding", "is completed",
		"asked to pay invoice 42 again: it is payout po_", "completed, and nothing more has left",
		"the ledger, newest first")
	assert.Regexp(t, `payout +out +25\.00 +USDC +completed\n +deposit +in +50\.00 +USDC +completed\n$`, ledger)

	left := rehearsal.Left(host, "po_")
	require.Len(t, left, 1)
	for _, amount := range left {
		assert.Equal(t, "25", amount.String())
	}
}
