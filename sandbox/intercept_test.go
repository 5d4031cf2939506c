package sandbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestAFunctionDecidesAboutFaults(t *testing.T) {
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
		_, err := p.try("POST", "/payouts", body, "Idempotency-Key", "invoice-42")
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

// The function may call the host, since no lock is held: keys and tokens end between two steps, and clocks jump.
func TestTheFunctionMayCallTheHost(t *testing.T) {
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

func TestInterceptionsAndArmedFaults(t *testing.T) {
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

func TestAnInterceptionWithAnInvalidFaultPanics(t *testing.T) {
	host := sandbox.New()
	host.Intercept(func(sandbox.Request) sandbox.Fault { return sandbox.Respond(99, "gone") })
	defer func() {
		err, _ := recover().(error)
		assert.ErrorContains(t, err, "sandbox: Host.Intercept: ")
		assert.ErrorContains(t, err, "fault.status")
	}()
	host.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/dapi/v1/chains", nil))
}

func TestNewFaultsOverHTTP(t *testing.T) {
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

// A function may hold requests back until all of them wait: the host keeps no lock meanwhile, and its time is the
// bubble's.
func TestAFunctionHoldsRequestsBack(t *testing.T) {
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
