package sandbox_test

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// arrivals are the requests for an operation.
func (w *world) arrivals(operation string) (arrived []sandbox.Request) {
	for _, request := range w.host.Requests() {
		if request.Operation == operation {
			arrived = append(arrived, request)
		}
	}
	return arrived
}

func TestADuplicateArrivesAtOnce(t *testing.T) {
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

func TestADuplicateArrivesHoursLater(t *testing.T) {
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

func TestAProxyRepeatsARequest(t *testing.T) {
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

func TestAForeignResponse(t *testing.T) {
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

// Every form of 429 that a proxy or the service sends, and responses that are no responses of the operation.
func TestResponsesOfProxies(t *testing.T) {
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
	made := 0
	for _, request := range p.arrivals("BookPayout") {
		if request.Fault == "respond" {
			made++
		}
	}
	assert.Equal(t, 11, made, "those that ran the operation")
}

// A response that is late moves the money before its caller gives up waiting.
func TestADelayMayComeAfterTheOperation(t *testing.T) {
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
