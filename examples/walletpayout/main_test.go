package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestWhatLeavesArrives(t *testing.T) {
	host, flags := rehearsal.Host(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), flags, &out))
	ledger := rehearsal.Told(t, out.String(),
		"credited 20 EURC", "created contact ct_", "confirmed payout po_", "quote: 7.25 EURC leave, 7.25 EURC arrive, fee 0 EURC",
		"is completed in transaction 0x", "the ledger, newest first")
	assert.Regexp(t, `payout +out +7\.25 +EURC +completed\n`, ledger)

	left := rehearsal.Left(host, "po_")
	require.Len(t, left, 1)
	for _, amount := range left {
		assert.Equal(t, "7.25", amount.String())
	}
	assert.NotContains(t, host.Ledger().Balances, "fees", "a direct payout costs nothing")
}
