package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestRunsAlone(t *testing.T) { rehearsal.RunAlone(t, run) }

func TestPaysNoMoreThanAPersonHasAllowed(t *testing.T) {
	host, flags := rehearsal.Host(t)
	rehearsal.Run(t, run, flags,
		"25 USDC: completed", "30 USDC: completed",
		"45 USDC: needs_decision", "policy: it debits 45 USDC, and the cap of a payment is 40",
		"20 USDC: needs_decision", "75 USDC would be paid on", "the cap of a day is 60",
		"a person raises the cap", "20 USDC: needs_decision",
		"the person decides", "20 USDC: completed")
	paid := 0
	for _, entry := range host.Ledger().Entries {
		if entry.Kind == "payout_funding" && entry.Amount.IsNegative() {
			paid++
		}
	}
	assert.Equal(t, 3, paid)
}
