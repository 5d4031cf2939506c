package simulation

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/test/oracle"
	"github.com/moneymovement/moneymovement-go/payments"
)

// Many runs are recorded for a comparison with another version: stormy ones, and runs of one payment, without and with
// crashes. In those of one payment, one step more or less changes nothing that happens later.
func TestRecordedRuns(t *testing.T) {
	if !oracle.Recording() {
		t.Skip("compares two versions; .ci/oracle runs it")
	}
	for name := range programs {
		storm := stormy(name)
		storm.Record, storm.Even = name+" in a storm", true
		alone := Plan{Program: programs[name], Payments: 1, Faults: 0.3, Even: true, Record: name + " of one payment"}
		if name == "payments" {
			alone.Deck = []payments.Kind{payments.KindPayout, payments.KindEscrow, payments.KindEscrowAction,
				payments.KindTransfer}
		}
		crashes := alone
		crashes.Crashes, crashes.Record = 0.02, name+" of one payment with crashes"
		for _, plan := range []Plan{storm, alone, crashes} {
			for seed := Seed(1); seed <= 1000; seed++ {
				assert.Empty(t, run(t, seed, plan).Violations)
			}
		}
	}
}
