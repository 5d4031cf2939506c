package transport_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// canned returns responses with as few allocations as possible, so that only our own and http.Client's are measured.
type canned struct {
	status int
	body   string
	header http.Header
}

func (c canned) RoundTrip(req *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: c.status, Header: c.header, Body: io.NopCloser(strings.NewReader(c.body)),
		ContentLength: int64(len(c.body)), Request: req}, nil
}

var cannedHeader = http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"req_1"}}

// This finds gross waste, such as a second decode or a buffer for each response. Benchmarks measure the rest.
func TestOneReadCostsLittle(t *testing.T) {
	if testing.CoverMode() != "" || raceDetector {
		t.Skip("code that the race detector instruments allocates more; make allocations runs it without")
	}
	client := newClient(t, host, through(canned{http.StatusOK, oneThing, cannedHeader}),
		limitedBy(ratewindow.New(windows{
			moneymovement.WindowReads: {Calls: 1 << 20, Per: 1}}, nil)))
	ctx := t.Context()
	allocations := testing.AllocsPerRun(200, func() {
		_, err := send(ctx, client, &readThing, transport.Call{})
		require.NoError(t, err)
	})
	t.Logf("%v allocations", allocations)
	require.LessOrEqual(t, allocations, 20.0)
}

// A refusal that is not repeated does not reach the code for retries, and makes no value. Looking for secrets in it,
// and for a wait in its header, costs no allocation.
func TestOneRefusalCostsLittle(t *testing.T) {
	if testing.CoverMode() != "" || raceDetector {
		t.Skip("code that the race detector instruments allocates more; make allocations runs it without")
	}
	const refused = `{"error":{"code":"not_found","message":"no such thing","details":{"requestId":"req_1"}}}`
	client := newClient(t, host, through(canned{http.StatusNotFound, refused, cannedHeader}))
	ctx, call := t.Context(), transport.Call{Auth: bearing{"token-of-the-canary-that-is-longer-than-a-buffer",
		"key-of-it"}}
	allocations := testing.AllocsPerRun(200, func() {
		_, err := send(ctx, client, &readThing, call)
		require.Error(t, err)
	})
	t.Logf("%v allocations", allocations)
	require.LessOrEqual(t, allocations, 23.0)
}
