package transport_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// canned returns responses with as few allocations as possible, so that only our own and http.Client's are measured.
type canned struct{ header http.Header }

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: c.header, Body: io.NopCloser(strings.NewReader(oneThing)),
		ContentLength: int64(len(oneThing)), Request: req}, nil
}

// This finds gross waste, such as a second decode or a buffer for each response. Benchmarks measure the rest.
func TestOneReadCostsLittle(t *testing.T) {
	if testing.CoverMode() != "" || raceDetector {
		t.Skip("code that the race detector instruments allocates more; make allocations runs it without")
	}
	client := newClient(t, host, through(canned{http.Header{"Content-Type": {"application/json"}}}),
		limitedBy(transport.NewLocalLimiter(map[transport.Window]transport.Allowance{
			transport.WindowReads: {Calls: 1 << 20, Per: 1}})))
	ctx := t.Context()
	allocations := testing.AllocsPerRun(200, func() {
		_, err := send(ctx, client, &readThing, transport.Call{})
		require.NoError(t, err)
	})
	t.Logf("%v allocations", allocations)
	require.LessOrEqual(t, allocations, 20.0)
}
