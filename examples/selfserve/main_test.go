package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestTheOwnerPaysFromTheirOwnAccount(t *testing.T) {
	host, flags := rehearsal.Host(t)
	ledger := rehearsal.Run(t, run, flags,
		"acting as "+host.Credentials().Email, "credited 40 USDC", "created contact ct_", "confirmed payout po_",
		"quote: 25 USDC leave", "is completed", "the ledger, newest first")
	assert.Regexp(t, `payout +out +25\.00 +USDC +completed\n +deposit +in +40\.00 +USDC +completed\n$`, ledger)

	for _, request := range host.Requests() {
		if request.Account != "" {
			assert.Equal(t, "self", request.Account, "%s acts for nobody else", request.Operation)
		}
	}
}
