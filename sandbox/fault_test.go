package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestDropAfterCommit(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	armed := w.host.Arm("POST", "/clients", sandbox.DropAfterCommit())

	_, err := me.attempt("POST", "/clients", object{"email": "acme@example.com"})
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

func TestDropBefore(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	w.host.Arm("POST", "/clients", sandbox.DropBefore())

	_, err := me.attempt("POST", "/clients", object{"email": "acme@example.com"})
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

func TestRespondFaultAfterCommit(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	w.host.Arm("POST", "/clients", sandbox.Respond(500, "internal_error").AfterCommit())
	refused(t, 500, "internal_error", me.call("POST", "/clients", object{"email": "acme@example.com"}))
	me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
}

func TestGarbageAndTruncatedResponses(t *testing.T) {
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
		cut, err := me.attempt("GET", "/chains", nil)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, http.StatusOK, cut.status)
		assert.Less(t, len(cut.raw), len(whole))
		assert.True(t, strings.HasPrefix(string(whole), string(cut.raw)))
	}
}

func TestExpireTokenFault(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	w.host.Arm("", "/**", sandbox.ExpireToken())
	refused(t, http.StatusUnauthorized, "token_expired", me.call("GET", "/chains", nil))
	refused(t, http.StatusUnauthorized, "token_expired", me.call("GET", "/chains", nil))
	renewed := w.call("POST", "/dapi/v1/auth/refresh", object{"refreshToken": me.refresh})
	assert.Equal(t, http.StatusCreated, renewed.status)
}

func TestDelayFaultThenHandlesRequest(t *testing.T) {
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

func TestInvalidFaultPanics(t *testing.T) {
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

// Faults can be armed for the paths of every surface.
func TestArmAcceptsPathsOfEverySurface(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ method, path string }{
		{"POST", "/dapi/v1/payouts/{payoutId}/confirm"}, {"post", "/payouts/po_1/confirm"}, {"GET", "/user"},
		{"GET", "/api/v1/accounts/cards"}, {"GET", "/utils/rates/{currency}"}, {"GET", "/public/invoices/*/pdf"},
	} {
		assert.Equal(t, 1, w.host.Arm(c.method, c.path, sandbox.Garbage()).Remaining())
	}
}

func TestDisarmedFaultDoesNotFire(t *testing.T) {
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

// arrivals are the requests for an operation.
func (w *world) arrivals(operation string) (arrived []sandbox.Request) {
	for _, request := range w.host.Requests() {
		if request.Operation == operation {
			arrived = append(arrived, request)
		}
	}
	return arrived
}

func TestDuplicateIsDeliveredAtOnce(t *testing.T) {
	p := newPayer(t)
	armed := p.host.Arm("POST", "/payouts/{payoutId}/confirm", sandbox.DeliverTwice(0))
	booked := p.book("invoice-42", "20")
	confirmed := p.confirm(booked)
	require.Equal(t, http.StatusOK, confirmed.status)
	assert.Equal(t, 1, armed.Consumed())
	assert.Equal(t, "80", p.balance(), "the money moved once")

	arrived := p.arrivals("ConfirmPayout")
	require.Len(t, arrived, 2)
	first, second := arrived[0], arrived[1]
	assert.Equal(t, http.StatusOK, first.Status)
	assert.Equal(t, "duplicate", first.Fault)
	assert.False(t, first.Repeated)
	assert.Equal(t, "funding_in_progress", second.Slug, "which nobody gets to see")
	assert.True(t, second.Repeated)
	assert.Empty(t, second.Fault)
	assert.Equal(t, []int{1, 2}, []int{first.Attempt, second.Attempt})
	assert.Equal(t, booked.body.text("id"), second.ResourceID)
	assert.NotEmpty(t, first.BodyDigest)
	assert.Equal(t, first.BodyDigest, second.BodyDigest)
	assert.NotEqual(t, first.RequestID, second.RequestID)
}

func TestDuplicateIsDeliveredLater(t *testing.T) {
	p := newPayer(t)
	p.host.Arm("POST", "/payouts", sandbox.DeliverTwice(3*time.Hour))
	p.host.Arm("POST", "/payouts/{payoutId}/confirm", sandbox.DeliverTwice(5*time.Hour))
	booked := p.book("invoice-42", "20")
	require.Equal(t, http.StatusOK, p.confirm(booked).status)
	assert.Equal(t, 2, p.host.PendingDeliveries())

	p.host.Advance(3*time.Hour - time.Nanosecond)
	assert.Len(t, p.arrivals("BookPayout"), 1)
	p.host.Advance(time.Nanosecond)
	created := p.arrivals("BookPayout")
	require.Len(t, created, 2)
	assert.Equal(t, http.StatusOK, created[1].Status, "a replay, although the token has expired")
	assert.Equal(t, p.account, created[1].Account)
	assert.Equal(t, 1, p.host.PendingDeliveries())

	p.host.Advance(8 * 24 * time.Hour)
	assert.Zero(t, p.host.PendingDeliveries())
	confirmed := p.arrivals("ConfirmPayout")
	require.Len(t, confirmed, 2)
	assert.Equal(t, "already_funded", confirmed[1].Slug)
	assert.Equal(t, "80", p.balance())

	p.session = p.loginAs(p.email, p.key).as(p.account)
	p.host.Arm("POST", "/payouts", sandbox.DeliverTwice(time.Hour))
	p.book("invoice-43", "20")
	p.host.Reset()
	assert.Zero(t, p.host.PendingDeliveries())
}

func TestProxyRetryReturnsSecondResponse(t *testing.T) {
	p := newPayer(t)
	p.host.Arm("POST", "/payouts", sandbox.ProxyRetry())
	p.host.Arm("POST", "/payouts/{payoutId}/confirm", sandbox.ProxyRetry())
	booked := p.book("invoice-42", "20")
	assert.Equal(t, http.StatusOK, booked.status)
	assert.Equal(t, "true", booked.header.Get("Idempotency-Replayed"))
	refused(t, http.StatusConflict, "funding_in_progress", p.confirm(booked))
	assert.Equal(t, "80", p.balance())
	arrived := p.arrivals("ConfirmPayout")
	require.Len(t, arrived, 2)
	assert.Equal(t, []int{http.StatusOK, http.StatusConflict}, []int{arrived[0].Status, arrived[1].Status})
	assert.Equal(t, []bool{false, true}, []bool{arrived[0].Repeated, arrived[1].Repeated})
}

func TestMisroutedResponse(t *testing.T) {
	p := newPayer(t)
	armed := p.host.Arm("POST", "/payouts", sandbox.MisroutedResponse())
	first := p.book("first", "20")
	assert.Equal(t, "first", first.body.text("idempotencyKey"))
	assert.Zero(t, armed.Consumed(), "there is no other response yet")
	second := p.book("second", "30")
	assert.Equal(t, 1, armed.Consumed())
	assert.Equal(t, first.raw, second.raw)
	assert.Equal(t, http.StatusCreated, second.status)
	assert.Equal(t, http.StatusCreated, p.book("second", "30").status, "it was not booked before")

	p.host.Arm("POST", "/payouts", sandbox.MisroutedResponse().AfterCommit())
	assert.Equal(t, "second", p.book("third", "40").body.text("idempotencyKey"))
	assert.Equal(t, http.StatusOK, p.book("third", "40").status, "it was booked")

	other := p.as("").readyClient("other@example.com")
	theirs := (&payer{session: other, contact: other.walletContact()}).book("theirs", "1")
	p.host.Arm("POST", "/payouts", sandbox.MisroutedResponse().OtherAccount())
	assert.Equal(t, theirs.body, p.book("fourth", "1").body)
	p.host.Arm("GET", "/payouts/{payoutId}", sandbox.MisroutedResponse())
	p.status(first)
	got := p.must(http.StatusOK, "GET", "/payouts/"+theirs.body.text("id"), nil)
	assert.Equal(t, first.body.text("id"), got.body.text("id"))
}

// Each form of 429 that a proxy or the service sends, and responses that the operation does not have.
func TestRespondFaultStatusesAndBodies(t *testing.T) {
	const date, long = "Fri, 01 May 2026 12:05:00 GMT", "99999999999999999999"
	p, limited := newPayer(t), sandbox.Respond(429, "rate_limited")
	p.server.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	key := 0
	for name, c := range map[string]struct {
		fault      sandbox.Fault
		status     int
		retryAfter string
		media      string
		body       string
	}{
		"429 with seconds": {limited.WithHeader("Retry-After", "7"), 429, "7", "", "rate_limited"},
		"429 with a date":  {limited.WithHeader("Retry-After", date), 429, date, "", "rate_limited"},
		"429 without":      {limited, 429, "", "", "rate_limited"},
		"429, very long":   {limited.WithHeader("Retry-After", long), 429, long, "", "rate_limited"},
		"429 with a word": {sandbox.Respond(429, "").WithHeader("Retry-After", "soon").WithBody("slow down"), 429,
			"soon",
			"", "slow down"},
		"an empty 201": {sandbox.Respond(201, ""), 201, "", "application/json", ""},
		"a page with 200": {sandbox.Respond(200, "").WithBody("<html>").WithHeader("Content-Type", "text/html"), 200,
			"",
			"text/html", "<html>"},
		"301": {sandbox.Respond(301, "").WithHeader("Location", "/dapi/v1/chains"), 301, "", "", ""},
		"302": {sandbox.Respond(302, "").WithHeader("Location", "/dapi/v1/chains"), 302, "", "", ""},
		"307": {sandbox.Respond(307, "").WithHeader("Location", "/dapi/v1/chains"), 307, "", "", ""},
		"308": {sandbox.Respond(308, "").WithHeader("Location", "http://elsewhere.invalid/"), 308, "", "", ""},
	} {
		for when, scripted := range map[string]sandbox.Fault{"before": c.fault, "after": c.fault.AfterCommit()} {
			t.Run(name+" "+when, func(t *testing.T) {
				key++
				p.host.Arm("POST", "/payouts", scripted)
				got := p.book(fmt.Sprint("k", key), "1")
				assert.Equal(t, c.status, got.status)
				assert.Equal(t, c.retryAfter, got.header.Get("Retry-After"))
				if c.media != "" {
					assert.Equal(t, c.media, got.header.Get("Content-Type"))
				}
				assert.Contains(t, string(got.raw), c.body)
			})
		}
	}
	created := 0
	for _, request := range p.arrivals("BookPayout") {
		if request.Fault == "respond" {
			created++
		}
	}
	assert.Equal(t, 11, created, "those that ran the operation")
}

// With AfterCommit the money has moved before the caller gives up waiting for the response.
func TestDelayFaultAfterCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPayingClient(t)
		c.host.Arm("POST", "/payouts", sandbox.Delay(time.Hour).AfterCommit())
		c.host.Arm("POST", "/payouts", sandbox.Delay(time.Minute))
		body := object{"contactId": c.contact, "amount": "12.5", "currency": "USDC"}
		start, done := time.Now(), make(chan time.Duration, 2)
		go func() {
			c.send("POST", "/payouts", http.StatusCreated, body, "k")
			done <- time.Since(start)
		}()
		synctest.Wait()
		other := *c.inProcess
		go func() {
			other.send("POST", "/payouts", http.StatusOK, body, "k")
			done <- time.Since(start)
		}()
		assert.Equal(t, time.Minute, <-done, "the operation of the first has run, and nothing waits for its response")
		assert.Equal(t, time.Hour, <-done)
	})
}

func TestInterceptReturnsFaults(t *testing.T) {
	p := newPayer(t)
	var mu sync.Mutex
	var seen []sandbox.Request
	interception := p.host.Intercept(func(r sandbox.Request) sandbox.Fault {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r)
		switch {
		case r.Operation == "BookPayout" && r.Attempt == 1:
			return sandbox.DropBefore()
		case r.Operation == "BookPayout" && r.Attempt == 2:
			return sandbox.DropAfterCommit()
		case r.Operation == "ConfirmPayout" && r.Attempt == 1:
			return sandbox.Respond(503, "provider_unavailable").AfterCommit()
		default:
			return sandbox.Fault{}
		}
	})
	body := object{"contactId": p.contact, "amount": "20", "currency": "USDC"}
	for range 2 {
		_, err := p.attempt("POST", "/payouts", body, "Idempotency-Key", "invoice-42")
		require.Error(t, err)
	}
	booked := p.book("invoice-42", "20")
	require.Equal(t, http.StatusOK, booked.status, "the second attempt booked it")
	refused(t, 503, "provider_unavailable", p.confirm(booked))
	refused(t, http.StatusConflict, "funding_in_progress", p.confirm(booked))
	assert.Equal(t, map[string]int{"drop_before": 1, "drop_after_commit": 1, "respond": 1}, interception.Consumed())

	require.Len(t, seen, 5)
	assert.Equal(t, []int{1, 2, 3, 1, 2}, []int{seen[0].Attempt, seen[1].Attempt, seen[2].Attempt, seen[3].Attempt,
		seen[4].Attempt})
	first, confirm := seen[0], seen[3]
	assert.Equal(t, "POST", first.Method)
	assert.Equal(t, "/dapi/v1/payouts", first.Path)
	assert.Equal(t, "invoice-42", first.IdempotencyKey)
	assert.Equal(t, p.account, first.Account)
	assert.Zero(t, first.Status)
	assert.Empty(t, first.ResourceID)
	assert.Equal(t, booked.body.text("id"), confirm.ResourceID)

	interception.End()
	require.Equal(t, http.StatusCreated, p.book("invoice-43", "1").status)
	assert.Len(t, seen, 5)
	interception.End() // a second time changes nothing
}

// The function may call the host, because no lock is held. Keys and tokens may end and the clock may move during the
// call.
func TestInterceptMayCallTheHost(t *testing.T) {
	p := newPayer(t)
	booked := p.book("invoice-42", "20")
	var id string
	for _, key := range p.host.Keys() {
		if string(key.PublicKey) == string(p.key.public(t)) {
			id = key.ID
		}
	}
	interception := p.host.Intercept(func(r sandbox.Request) sandbox.Fault {
		switch {
		case r.Operation != "ConfirmPayout":
			return sandbox.Fault{}
		case r.Attempt == 1:
			return sandbox.ExpireToken()
		case r.Attempt == 2:
			assert.NoError(t, p.host.DeleteKey(id))
		default:
			p.host.Advance(2 * time.Minute)
		}
		return sandbox.Fault{}
	})
	refused(t, http.StatusUnauthorized, "token_expired", p.confirm(booked))
	p.session = p.loginAs(p.email, p.key).as(p.account)
	refused(t, http.StatusForbidden, "forbidden", p.confirm(booked))
	_, err := p.host.RegisterKey(sandbox.KeyRegistration{Email: p.email, PublicKey: p.key.public(t)})
	require.NoError(t, err)
	p.session = p.loginAs(p.email, p.key).as(p.account)
	refused(t, http.StatusConflict, "funding_attempt_expired", p.confirm(booked))
	assert.Equal(t, map[string]int{"expire_token": 1}, interception.Consumed())
}

func TestInterceptionWinsOverArmedFault(t *testing.T) {
	p := newPayer(t)
	down := p.host.Arm("GET", "/chains", sandbox.Respond(503, "provider_unavailable").Times(2))
	interception := p.host.Intercept(func(r sandbox.Request) sandbox.Fault {
		if r.Attempt == 1 {
			return sandbox.MisroutedResponse() // of which there is no response yet
		}
		return sandbox.Respond(500, "internal_error")
	})
	refused(t, 503, "provider_unavailable", p.call("GET", "/chains", nil))
	refused(t, 500, "internal_error", p.call("GET", "/chains", nil))
	assert.Equal(t, 1, down.Remaining())
	assert.Equal(t, map[string]int{"respond": 1}, interception.Consumed())

	other := p.host.Intercept(func(sandbox.Request) sandbox.Fault { return sandbox.Garbage() })
	interception.End()
	assert.Equal(t, http.StatusBadGateway, p.call("GET", "/chains", nil).status, "the other one stays")
	p.host.DisarmAll()
	p.must(http.StatusOK, "GET", "/chains", nil)
	assert.Equal(t, map[string]int{"garbage": 1}, other.Consumed())

	p.host.Intercept(func(sandbox.Request) sandbox.Fault { return sandbox.Garbage() })
	p.host.Reset()
	assert.Equal(t, http.StatusUnauthorized, p.call("GET", "/chains", nil).status)
}

func TestInterceptPanicsOnInvalidFault(t *testing.T) {
	host := sandbox.New()
	host.Intercept(func(sandbox.Request) sandbox.Fault { return sandbox.Respond(99, "gone") })
	defer func() {
		err, _ := recover().(error)
		assert.ErrorContains(t, err, "sandbox: Host.Intercept: ")
		assert.ErrorContains(t, err, "fault.status")
	}()
	host.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/dapi/v1/chains", nil))
}

func TestArmFaultsOverHTTP(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	me := w.login()
	for _, fault := range []object{{"kind": "duplicate", "after": "1h"}, {"kind": "repeat"},
		{"kind": "foreign", "otherAccount": true, "afterCommit": true},
		{"kind": "delay", "delay": "1ms", "afterCommit": true}} {
		armed := w.call("POST", "/_host/faults", object{"method": "POST", "path": "/clients", "fault": fault})
		require.Equal(t, http.StatusCreated, armed.status, "%s", armed.raw)
	}
	for i := range 4 {
		me.call("POST", "/clients", object{"email": fmt.Sprint(i, "@example.com")})
	}
	assert.Len(t, w.arrivals("CreateClient"), 5, "the repeat is two")
	listed := w.call("GET", "/_host/faults", nil).body
	assert.EqualValues(t, 1, listed.at("pendingDuplicates"))
	w.call("POST", "/_host/clock", object{"advance": "1h"})
	assert.EqualValues(t, 0, w.call("GET", "/_host/faults", nil).body.at("pendingDuplicates"))
	requests, _ := w.call("GET", "/_host/requests", nil).body.at("items").([]any)
	last := object(requests[len(requests)-1].(map[string]any))
	assert.Equal(t, true, last.at("repeated"))
	assert.NotEmpty(t, last.text("bodyDigest"))
}

// The function may block several requests at once: the host holds no lock during the call, and its time is that of the
// bubble.
func TestInterceptMayBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newPayingClient(t)
		release := make(chan struct{})
		c.host.Intercept(func(r sandbox.Request) sandbox.Fault {
			if r.Operation == "BookPayout" {
				<-release
			}
			return sandbox.Fault{}
		})
		const payments = 5
		var wg sync.WaitGroup
		var mu sync.Mutex
		booked := 0
		for i := range payments {
			other := *c.inProcess
			wg.Go(func() {
				other.send("POST", "/payouts", http.StatusCreated,
					object{"contactId": c.contact, "amount": "12.5", "currency": "USDC"}, fmt.Sprint("k", i))
				mu.Lock()
				defer mu.Unlock()
				booked++
			})
		}
		for i := range payments {
			synctest.Wait()
			assert.Equal(t, i, booked)
			c.send("GET", "/chains", http.StatusOK, nil)
			release <- struct{}{}
		}
		wg.Wait()
		assert.Equal(t, payments, booked)
	})
}
