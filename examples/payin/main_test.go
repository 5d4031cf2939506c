package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestRunsAlone(t *testing.T) { rehearsal.RunAlone(t, run) }

func TestReceivesFromAChainAndFromABank(t *testing.T) {
	host, flags := rehearsal.Host(t)
	ledger := rehearsal.Run(t, run, flags,
		"quoted payin pi_", "40 USDC from Ethereum", "39.7 USDC arrive", "the payer sends it here:",
		"Wallet address  0x", "Reference", "is completed",
		"the client's verification is approved",
		"quoted payin pi_", "60 EUR over SEPA", "60 EURC arrive", "the payer sends it here:", "IBAN            DE",
		"Reference", "is completed",
		"the ledger, newest first")
	assert.Regexp(t, `payin +in +60\.00 +EURC +completed\n +payin +in +39\.70 +USDC +completed\n$`, ledger)

	var arrived []string
	for _, amount := range rehearsal.Left(host, "pi_") {
		arrived = append(arrived, amount.Neg().String())
	}
	assert.ElementsMatch(t, []string{"39.7", "60"}, arrived)
}
