package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestPaysOverTheRouteThatTheQuotePrices(t *testing.T) {
	host, flags := rehearsal.Host(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), flags, &out))
	rehearsal.Told(t, out.String(),
		"5 chains are live", "Polygon (137) has USDT, 6 decimals", "on Polygon, which expects USDT",
		"from chain 8453 to chain 137", "quote: 30 USDC leave, 29.7 USDT arrive, fee 0.3 USDC", "is completed")

	left := rehearsal.Left(host, "po_")
	require.Len(t, left, 1)
	for _, amount := range left {
		assert.Equal(t, "30", amount.String())
	}
	assert.Equal(t, "0.3", host.Ledger().Balances["fees"]["USDC"].String())
}
