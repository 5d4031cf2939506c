package rules_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// meanPause is the part of its bound that a pause is on average: it is drawn from the upper half.
const meanPause = 0.75

// readsUntil is how many reads a wait with the default pauses makes of something that ends after a time, with pauses of
// average length: the first read is at once, and the last one comes after the end.
func readsUntil(end time.Duration) int {
	pace := transport.DefaultPace
	reads, at := 1, time.Duration(0)
	for pause := pace.Least; at < end; pause = min(pause*3/2, pace.Most) {
		at += time.Duration(float64(pause) * meanPause)
		reads++
	}
	return reads
}

// The numbers of docs/production.md follow from the stated windows and the pauses of waits.
func TestTheNumbersOfPolling(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(root, "docs/production.md"))
	require.NoError(t, err)
	page := strings.Join(strings.Fields(string(content)), " ") // wherever a line ends
	says := func(text string) {
		t.Helper()
		if !strings.Contains(page, text) { // which is too long to be shown
			t.Errorf("docs/production.md does not say: %s", text)
		}
	}
	for said, end := range map[string]time.Duration{
		"10 s": 10 * time.Second, "1 min": time.Minute, "10 min": 10 * time.Minute, "1 h": time.Hour,
	} {
		says(fmt.Sprintf("| %s | %d |", said, readsUntil(end)))
	}

	reads := moneymovement.StatedWindows()[moneymovement.WindowReads]
	forWaits := float64(reads.Calls-reads.Calls/10) * float64(time.Minute) / float64(reads.Span())
	says(fmt.Sprintf("Of the %d reads a minute, the SDK uses at most %.0f for waits", reads.Calls,
		math.Floor(forWaits)))
	for said, most := range map[string]time.Duration{
		"15 s (default)": transport.DefaultPace.Most, "30 s": 30 * time.Second, "1 min": time.Minute,
		"5 min": 5 * time.Minute,
	} {
		each := float64(time.Minute) / (float64(most) * meanPause)
		says(fmt.Sprintf("| %s | %.2f | %.0f |", said, each, math.Floor(forWaits/each)))
	}
	for said, waits := range map[string]float64{"each of 1,000 payouts every 2 minutes": 1_000,
		"each of 10,000 every 19 minutes": 10_000} {
		says(said)
		assert.Contains(t, said, fmt.Sprintf("every %.0f minutes", waits/forWaits))
	}

	writes := moneymovement.StatedWindows()[moneymovement.WindowWrites]
	payments := float64(writes.Calls) / 2 * float64(time.Minute) / float64(writes.Span())
	says(fmt.Sprintf("so about %.0f payments pass in a minute", math.Floor(payments)))
}
