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

// hasty moves the host's clock whenever the program says that it waits.
type hasty struct {
	bytes.Buffer
	host *sandbox.Host
}

func (h *hasty) Write(line []byte) (int, error) {
	switch text := string(line); {
	case strings.Contains(text, "waiting until the money can be taken back"):
		h.host.Advance(2*time.Hour + time.Second)
	case strings.Contains(text, "waiting until both deals are read from chain"):
		h.host.Advance(16 * time.Second)
	}
	return h.Buffer.Write(line)
}

func TestReleasesOneDealAndRefundsTheOther(t *testing.T) {
	host, flags := rehearsal.Host(t)
	out := &hasty{host: host}
	require.NoError(t, run(t.Context(), append(flags, "-window", "1h"), out))
	ledger := rehearsal.Told(t, out.String(),
		"(Website) holds 35 USDC: active, available [release]", "confirmed the release of deal esc_",
		"(Logo) holds 20 USDC: active, available [release]", "confirmed the refund of deal esc_",
		"(Website) is released in transaction 0x", "(Logo) is refunded in transaction 0x",
		"the ledger, newest first")
	assert.Regexp(t, `escrow +in +20\.00[^\n]+\n +escrow +out +20\.00[^\n]+\n +escrow +out +35\.00`, ledger)

	var left []string
	for _, amount := range rehearsal.Left(host, "esc_") {
		left = append(left, amount.String())
	}
	assert.ElementsMatch(t, []string{"35", "0"}, left, "the released money left, the refunded came back")
}
