package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// hasty moves the host's clock when the program prints that it waits.
type hasty struct {
	bytes.Buffer
	host *sandbox.Host
}

func (h *hasty) Write(line []byte) (int, error) {
	switch text := string(line); {
	case strings.Contains(text, "the money can be taken back after two windows of 1h0m0s"):
		h.host.Advance(2*time.Hour + time.Second)
	case strings.Contains(text, "the service reads an escrow from chain once in 15 seconds"):
		h.host.Advance(16 * time.Second)
	}
	return h.Buffer.Write(line)
}

var steps = []string{
	"(Website) holds 35 USDC: active, available [release]", "confirmed the release of escrow esc_",
	"(Logo) holds 20 USDC: active, available [release]", "confirmed the refund of escrow esc_",
	"(Website) is released in transaction 0x", "(Logo) is refunded in transaction 0x",
	"the ledger, newest first",
}

func TestRunsAlone(t *testing.T) { rehearsal.RunAlone(t, run) }

func TestOwnHostSkipsWaits(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	out := rehearsal.Run(t, run, []string{"-window", "1h"}, steps[:3]...)
	rehearsal.CheckSteps(t, out, "moved the clock of this program's own host by 2h0m1s", steps[3],
		"moved the clock of this program's own host by 16s", steps[4], steps[5])
}

func TestReleasesOneEscrowAndRefundsTheOther(t *testing.T) {
	host, flags := rehearsal.Host(t)
	out := &hasty{host: host}
	require.NoError(t, run(t.Context(), append(flags, "-window", "1h"), out))
	ledger := rehearsal.CheckSteps(t, out.String(), steps...)
	assert.Regexp(t, `escrow +in +20\.00[^\n]+\n +escrow +out +20\.00[^\n]+\n +escrow +out +35\.00`, ledger)

	var left []string
	for _, amount := range rehearsal.Left(host, "esc_") {
		left = append(left, amount.String())
	}
	assert.ElementsMatch(t, []string{"35", "0"}, left, "the released money left, the refunded came back")
}
