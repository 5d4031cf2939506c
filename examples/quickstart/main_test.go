package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

// steps are what a run prints, in this order.
var steps = []string{
	"created client cl_",
	"client is ready with wallet 0x",
	"credited 50 USDC",
	"created SEPA contact ct_",
	"created Base wallet contact ct_",
	"booked bank payout po_",
	"bank payout is completed",
	"booked wallet payout po_",
	"wallet payout is completed",
	"the ledger, newest first",
}

func TestRunsOnAnEmbeddedHost(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, &out))
	rehearsal.CheckSteps(t, out.String(), "started a sandbox host", "made developer key")
	assertLedger(t, rehearsal.CheckSteps(t, out.String(), steps...))
}

func TestRunsOnAHostThatFlagsName(t *testing.T) {
	_, flags := rehearsal.Host(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), flags, &out))
	rehearsal.CheckSteps(t, out.String(), "using the sandbox host at "+flags[1])
	assertLedger(t, rehearsal.CheckSteps(t, out.String(), steps...))
}

// assertLedger checks the table: two payouts and the deposit, in aligned columns.
func assertLedger(t *testing.T, table string) {
	t.Helper()
	lines := strings.Split(strings.Trim(table, ":\n"), "\n")
	require.Len(t, lines, 4, table)
	for i, want := range []string{"AMOUNT", "7.25", "12.50", "50.00"} {
		assert.Contains(t, lines[i], want)
		end := strings.Index(lines[i], want) + len(want)
		assert.Equal(t, strings.Index(lines[0], "AMOUNT")+len("AMOUNT"), end, "amounts are not aligned:\n%s", table)
	}
}
