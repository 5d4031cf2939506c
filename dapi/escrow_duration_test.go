package dapi_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// Rule: size.escrow-duration
func TestEscrowDurations(t *testing.T) {
	for want, d := range map[dapi.EscrowDuration]time.Duration{
		"14d":   14 * 24 * time.Hour,
		"1h":    time.Hour,
		"90m":   90 * time.Minute,
		"45s":   45 * time.Second,
		"9999d": 9999 * 24 * time.Hour,
	} {
		assert.Equal(t, want, dapi.EscrowDurationOf(d))
		assert.Equal(t, d, want.Duration())
	}
	for _, malformed := range []dapi.EscrowDuration{"", "d", "1", "-1d", "+1d", "1.5h", "10000s", "1dd", "1 d", "1D",
		"1w"} {
		assert.Zero(t, malformed.Duration(), "%q", malformed)
	}
}

func TestEscrowDurationsRoundTrip(t *testing.T) {
	stated := regexp.MustCompile(`^\d{1,4}[smhd]$`)
	rapid.Check(t, func(t *rapid.T) {
		d := dapi.EscrowDuration(rapid.StringMatching(`\d{1,4}[smhd]`).Draw(t, "duration"))
		again := dapi.EscrowDurationOf(d.Duration())
		if d.Duration() > 0 && (!stated.MatchString(string(again)) || again.Duration() != d.Duration()) {
			t.Fatalf("%s is %s, which is written %s", d, d.Duration(), again)
		}
	})
}
