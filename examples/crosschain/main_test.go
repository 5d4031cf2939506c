package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestRunsAlone(t *testing.T) { rehearsal.RunAlone(t, run) }

func TestPaysOverTheRouteThatTheQuotePrices(t *testing.T) {
	host, flags := rehearsal.Host(t)
	rehearsal.Run(t, run, flags,
		"5 chains are live", "Polygon (137) has USDT, 6 decimals", "on Polygon, which expects USDT",
		"from chain 8453 to chain 137", "quote: 30 USDC leave, 29.7 USDT arrive, fee 0.3 USDC", "is completed")

	rehearsal.PaidOnce(t, host, "30")
	assert.Equal(t, "0.3", host.Ledger().Balances["fees"]["USDC"].String())
}
