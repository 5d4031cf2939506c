package sandbox_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAnAnswerIsLostAfterTheOperationRan(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	armed := w.host.Arm("POST", "/clients", sandbox.DropAfterCommit())

	_, err := me.try("POST", "/clients", object{"email": "acme@example.com"})
	require.Error(t, err)
	assert.Equal(t, 1, armed.Consumed())
	assert.Zero(t, armed.Remaining())

	again := me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"), "the first call made the client")

	require.Len(t, w.host.Requests(), 4, "a login's two, and one for each call")
	lost := w.host.Requests()[2]
	assert.Equal(t, "drop_after_commit", lost.Fault)
	assert.Equal(t, "CreateClient", lost.Operation)
	assert.Zero(t, lost.Status)
}

func TestTheConnectionClosesBeforeTheOperationRuns(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	w.host.Arm("POST", "/clients", sandbox.DropBefore())

	_, err := me.try("POST", "/clients", object{"email": "acme@example.com"})
	require.Error(t, err)
	me.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"})
}

func TestScriptedRefusals(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	armed := w.host.Arm("GET", "/dapi/v1/chains", sandbox.Respond(503, "provider_unavailable").
		WithHeader("Retry-After", "7").WithDetails(map[string]any{"partner": "down"}).Times(2))

	for range 2 {
		got := me.call("GET", "/chains", nil)
		refused(t, 503, "provider_unavailable", got)
		assert.Equal(t, "7", got.header.Get("Retry-After"))
		assert.Equal(t, "down", got.body.text("error", "details", "partner"))
		assert.Equal(t, got.header.Get("X-Request-ID"), got.body.text("error", "details", "requestId"))
	}
	me.must(http.StatusOK, "GET", "/chains", nil)
	assert.Equal(t, 2, armed.Consumed())
	assert.Equal(t, "provider_unavailable", w.host.Requests()[2].Slug)
}

func TestAScriptedAnswerMayComeAfterTheOperationRan(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	w.host.Arm("POST", "/clients", sandbox.Respond(500, "internal_error").AfterCommit())
	refused(t, 500, "internal_error", me.call("POST", "/clients", object{"email": "acme@example.com"}))
	me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
}

func TestAnswersThatAreNone(t *testing.T) {
	w := newWorld(t)
	me := w.login()

	w.host.Arm("GET", "/chains", sandbox.Garbage())
	garbage := me.call("GET", "/chains", nil)
	assert.Equal(t, http.StatusBadGateway, garbage.status)
	assert.Equal(t, "text/html; charset=utf-8", garbage.header.Get("Content-Type"))

	w.host.Arm("GET", "/chains", sandbox.Respond(200, "").WithBody(`{"items":`))
	request, err := http.NewRequest(http.MethodGet, w.server.URL+"/dapi/v1/chains", http.NoBody)
	require.NoError(t, err)
	response, err := w.server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	assert.Equal(t, `{"items":`, string(text))

	whole := me.must(http.StatusOK, "GET", "/chains", nil).raw
	for _, keep := range []int{0, 5, 1 << 20} {
		w.host.Arm("GET", "/chains", sandbox.Truncate(keep))
		cut, err := me.try("GET", "/chains", nil)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, http.StatusOK, cut.status)
		assert.Less(t, len(cut.raw), len(whole))
		assert.True(t, strings.HasPrefix(string(whole), string(cut.raw)))
	}
}

func TestATokenExpiresUnderARequest(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	w.host.Arm("", "/**", sandbox.ExpireToken())
	refused(t, http.StatusUnauthorized, "token_expired", me.call("GET", "/chains", nil))
	refused(t, http.StatusUnauthorized, "token_expired", me.call("GET", "/chains", nil))
	renewed := w.call("POST", "/dapi/v1/auth/refresh", object{"refreshToken": me.refresh})
	assert.Equal(t, http.StatusCreated, renewed.status)
}

func TestADelayLetsTheRequestThrough(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	w.host.Arm("GET", "/chains", sandbox.Delay(50*time.Millisecond))
	start := time.Now()
	me.must(http.StatusOK, "GET", "/chains", nil)
	assert.GreaterOrEqual(t, time.Since(start), 50*time.Millisecond)

	armed := w.host.Arm("POST", "/clients", sandbox.Delay(time.Hour))
	ctx, giveUp := context.WithCancel(t.Context())
	defer giveUp()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.URL+"/dapi/v1/clients",
		strings.NewReader(`{"email":"acme@example.com"}`))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+me.access)
	ended := make(chan error, 1)
	go func() {
		response, err := w.server.Client().Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		ended <- err
	}()
	require.Eventually(t, func() bool { return armed.Consumed() == 1 }, time.Minute, time.Millisecond)
	giveUp()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Eventually(t, func() bool {
		return me.call("POST", "/clients", object{"email": "acme@example.com"}).status == http.StatusOK
	}, time.Minute, 10*time.Millisecond, "who gives up waiting does not take back what was asked for")
}

func TestAFaultThatCouldNeverHappenIsRefused(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	ok := sandbox.DropBefore()
	for _, c := range []struct {
		method, path string
		fault        sandbox.Fault
		says         string
	}{
		{"PUT", "/payouts", ok, "POST /dapi/v1/payouts"},
		{"POST", "/payout/{payoutId}/confirm", ok, "did you mean POST /dapi/v1/payouts/{payoutId}/confirm"},
		{"POST", "payouts", ok, "POST /dapi/v1/payouts"},
		{"POST", "/chains", ok, "GET /dapi/v1/chains"},
		{"GET", "/api/v1/accounts/card", ok, "GET /api/v1/accounts/cards"},
		{"", "/_host/clock", ok, "did you mean"},
		{"", "/**", sandbox.Fault{}, "fault.kind"},
		{"", "/**", sandbox.Respond(99, "gone"), "fault.status"},
		{"", "/**", sandbox.Delay(0), "fault.delay"},
		{"", "/**", sandbox.Truncate(-1), "fault.keep"},
		{"", "/**", sandbox.DropBefore().AfterCommit(), "fault.afterCommit"},
		{"", "/**", sandbox.Garbage().WithHeader("Retry-After", "1"), "fault.headers"},
		{"", "/**", ok.Times(-1), "times"},
	} {
		func() {
			defer func() {
				err, _ := recover().(error)
				assert.ErrorContains(t, err, c.says, "%s %s", c.method, c.path)
			}()
			w.host.Arm(c.method, c.path, c.fault)
		}()
	}
	assert.Empty(t, w.call("GET", "/_host/faults", nil).body.at("items"))
}

// TestAFaultForEachOperation: each surface's paths are known.
func TestAFaultForEachOperation(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ method, path string }{
		{"POST", "/dapi/v1/payouts/{payoutId}/confirm"}, {"post", "/payouts/po_1/confirm"}, {"GET", "/user"},
		{"GET", "/api/v1/accounts/cards"}, {"GET", "/utils/rates/{currency}"}, {"GET", "/public/invoices/*/pdf"},
	} {
		assert.Equal(t, 1, w.host.Arm(c.method, c.path, sandbox.Garbage()).Remaining())
	}
}

func TestADisarmedFaultHappensNoMore(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	down := w.host.Arm("GET", "/chains", sandbox.Respond(503, "provider_unavailable").Times(100))
	other := w.host.Arm("POST", "/clients", sandbox.DropBefore())
	refused(t, http.StatusServiceUnavailable, "provider_unavailable", me.call("GET", "/chains", nil))

	down.Disarm()
	assert.Equal(t, 1, down.Consumed())
	assert.Zero(t, down.Remaining())
	me.must(http.StatusOK, "GET", "/chains", nil)
	assert.Equal(t, 1, other.Remaining(), "the others stay armed")

	w.host.DisarmAll()
	assert.Zero(t, other.Remaining())
	me.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"})
	again := w.host.Arm("GET", "/chains", sandbox.Respond(503, "provider_unavailable"))
	refused(t, http.StatusServiceUnavailable, "provider_unavailable", me.call("GET", "/chains", nil))
	assert.Equal(t, 1, again.Consumed())

	w.host.Reset()
	again.Disarm()
	assert.Zero(t, again.Consumed())
}
