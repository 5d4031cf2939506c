package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// TestMain runs the program if the program, under test, started itself.
func TestMain(m *testing.M) {
	if program.StartedAgain() {
		main()
	}
	os.Exit(m.Run())
}

func TestTheProgramKillsItselfAndGoesOn(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	t.Setenv("TMPDIR", t.TempDir())
	rehearsal.Run(t, run, nil,
		"first start: another process, which is killed when payment 5 has left", "the file has no payments", "killed: ",
		"second start: the same file", "the file has ", "invoice 1: completed, payout po_", "invoice 12: completed",
		"the host's books: 12 payouts for 12 invoices, 139.50 USDC in all; no invoice was paid twice")
}

func TestTheFileStays(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	store := filepath.Join(t.TempDir(), "payments.db")
	rehearsal.Run(t, run, []string{"-store", store, "-kill-after", "0", "-invoices", "2"}, "the file has no payments",
		"the host's books: 2 payouts for 2 invoices")
	_, err := os.Stat(store)
	require.NoError(t, err)
}

// The same command on a host that stays pays nothing a second time, and nobody else.
func TestTheSameCommandGoesOn(t *testing.T) {
	host, flags := rehearsal.Host(t, sandbox.WithAudit())
	flags = append(flags, "-store", filepath.Join(t.TempDir(), "payments.db"), "-invoices")
	rehearsal.Run(t, run, append(flags, "2"), "the file has no payments", "invoice 2: completed")
	rehearsal.Run(t, run, append(flags, "3"), "the file has 2 completed", "invoice 1: completed", "invoice 3: completed")
	var fundings int
	for paid := range host.Audit() {
		fundings += paid.Fundings
	}
	assert.Equal(t, 3, fundings)
}
