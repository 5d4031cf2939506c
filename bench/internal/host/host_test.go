package host

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/bench/internal/report"
)

func TestHostIsMeasured(t *testing.T) {
	t.Chdir("../..")
	figures, err := Measure(t.Context(), Plan{Entries: 300, Requests: 60, Starts: 1})
	require.NoError(t, err)
	require.Len(t, figures, 5)
	for _, figure := range figures {
		assert.Positive(t, figure.Value, figure.Name)
	}
}

func TestMetricsOfBenchmarks(t *testing.T) {
	assert.Equal(t, []report.Figure{
		{Name: "a client's day (make bench-host)", Value: 15000.5, Unit: "requests/s"},
		{Name: "memory of a payout that is kept", Value: 2.62144, Unit: "kB"},
	}, metricsIn("goos: linux\n"+
		"BenchmarkMixedRequests-2   	  1000	 900 ns/op	 60.1 ns/request	 15000.5 requests/s	 7 B/op\n"+
		"BenchmarkMemoryOfPayouts/kept   10000	 900 ns/op	 250 MiB/100000	 10 records/payout\nok\n"))
}
