package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestRunsAlone(t *testing.T) { rehearsal.RunAlone(t, run) }

func TestWalletPayoutArrivesInFull(t *testing.T) {
	host, flags := rehearsal.Host(t)
	ledger := rehearsal.Run(t, run, flags,
		"credited 20 EURC", "created contact ct_", "confirmed payout po_",
		"quote: 7.25 EURC leave, 7.25 EURC arrive, fee 0 EURC",
		"is completed in transaction 0x", "the ledger, newest first")
	assert.Regexp(t, `payout +out +7\.25 +EURC +completed\n`, ledger)

	rehearsal.PaidOnce(t, host, "7.25")
	assert.NotContains(t, host.Ledger().Balances, "fees", "a direct payout costs nothing")
}
