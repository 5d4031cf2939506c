package sandbox_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// rateLimited asserts that a window is used up, and returns when it opens again.
func rateLimited(t *testing.T, got reply) time.Duration {
	t.Helper()
	refused(t, http.StatusTooManyRequests, "rate_limited", got)
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	require.NoError(t, err)
	return time.Duration(seconds) * time.Second
}

// Rule: rate.writes, rate.reads, rate.per-credential, rate.refresh, rate.retry-after, status.429
func TestReadsAndWritesAreCountedPerCredential(t *testing.T) {
	w := newWorld(t, sandbox.WithRateLimits())
	me := w.login()
	acme := me.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"}).body.text("id")

	for i := range 600 {
		caller := me
		if i%2 == 0 {
			caller = me.as(acme)
		}
		caller.must(http.StatusOK, "GET", "/chains", nil)
	}
	assert.Equal(t, time.Minute, rateLimited(t, me.call("GET", "/chains", nil)))
	assert.Equal(t, time.Minute, rateLimited(t, me.as(acme).call("GET", "/chains", nil)), "not per acted-for account")

	for range 118 {
		me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
	}
	refresh := object{"refreshToken": me.refresh}
	require.Equal(t, http.StatusCreated, w.call("POST", "/dapi/v1/auth/refresh", refresh).status)
	assert.Equal(t, time.Minute, rateLimited(t, w.call("POST", "/dapi/v1/auth/refresh", refresh)))
	rateLimited(t, w.loginAs(w.email, w.key).call("POST", "/clients", object{"email": "acme@example.com"}))
	for method, path := range map[string]string{"POST": "/clients", "PUT": "/client/kyb", "PATCH": "/contacts/ct_1",
		"DELETE": "/contacts/ct_1"} {
		rateLimited(t, me.call(method, path, object{}))
	}

	w.host.Advance(time.Minute - time.Nanosecond)
	assert.Equal(t, time.Second, rateLimited(t, me.call("GET", "/chains", nil)), "whole seconds, and long enough")
	assert.Equal(t, time.Second, rateLimited(t, me.call("POST", "/clients", object{"email": "acme@example.com"})))
	w.host.Advance(time.Nanosecond)
	me.must(http.StatusOK, "GET", "/chains", nil)
	me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
}

// Writes of every method share one window.
// Rule: rate.writes
func TestEveryWriteMethodCountsAsWrite(t *testing.T) {
	for method, path := range map[string]string{"PUT": "/client/kyb", "PATCH": "/contacts/ct_1",
		"DELETE": "/contacts/ct_1"} {
		me := newWorld(t, sandbox.WithRateLimits()).login()
		for range 120 {
			assert.NotEqual(t, http.StatusTooManyRequests, me.call(method, path, nil).status, method)
		}
		rateLimited(t, me.call(method, path, nil))
		rateLimited(t, me.call("POST", "/clients", object{"email": "acme@example.com"}))
		me.must(http.StatusOK, "GET", "/chains", nil)
	}
}

// Rule: rate.login-address, rate.login-email, rate.login-challenge, rate.retry-after
func TestLoginsAreCountedPerAddressEmailAndChallenge(t *testing.T) {
	t.Run("challenges per email", func(t *testing.T) {
		w := newWorld(t, sandbox.WithRateLimits())
		for range 10 {
			require.Equal(t, http.StatusCreated, w.challenge("one@example.com").status)
		}
		assert.Equal(t, 5*time.Minute, rateLimited(t, w.challenge("One@example.com")))
		assert.Equal(t, http.StatusCreated, w.challenge("two@example.com").status)
	})
	t.Run("tokens per challenge", func(t *testing.T) {
		w := newWorld(t, sandbox.WithRateLimits())
		challenge := w.challenge(w.email)
		for range 10 {
			refused(t, http.StatusForbidden, "key_not_registered", w.token(challenge, newSigner(t)))
		}
		assert.Equal(t, 5*time.Minute, rateLimited(t, w.token(challenge, w.key)))
	})
	t.Run("both per address", func(t *testing.T) {
		w := newWorld(t, sandbox.WithRateLimits())
		for range 10 {
			w.login()
		}
		assert.Equal(t, 5*time.Minute, rateLimited(t, w.challenge("another@example.com")))
		w.host.Advance(5*time.Minute - time.Nanosecond)
		rateLimited(t, w.challenge("another@example.com"))
		w.host.Advance(time.Nanosecond)
		assert.Equal(t, http.StatusCreated, w.challenge("another@example.com").status)
	})
}

// Rule: rate.sandbox-money, rate.retry-after
func TestSandboxMoneyIsCountedPerAccount(t *testing.T) {
	w := newWorld(t, sandbox.WithRateLimits())
	me := w.login()
	acme, other := me.readyClient("acme@example.com"), me.readyClient("other@example.com")
	deposit := func(s *session, n int) reply {
		return s.call("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"}, "Idempotency-Key",
			fmt.Sprint("d-", n))
	}
	for n := range 60 {
		require.Equal(t, http.StatusCreated, deposit(acme, n).status)
	}
	assert.Equal(t, time.Hour, rateLimited(t, deposit(acme, 60)))
	assert.Equal(t, time.Hour, rateLimited(t, acme.call("POST", "/sandbox/payins/pi_1/complete", nil)))
	assert.Equal(t, time.Hour,
		rateLimited(t, acme.call("POST", "/sandbox/payouts/po_1/status", object{"status": "failed"})))
	assert.Equal(t, http.StatusCreated, deposit(other, 0).status)
	assert.Equal(t, http.StatusCreated, deposit(me, 0).status)
	w.host.Advance(time.Hour)
	me.access = w.call("POST", "/dapi/v1/auth/refresh", object{"refreshToken": me.refresh}).body.text("accessToken")
	assert.Equal(t, http.StatusCreated, deposit(me.as(acme.account), 60).status)
}

// Rule: rate.off
func TestRateLimitsAreOffByDefault(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	for range 130 {
		me.call("POST", "/clients", object{"email": "acme@example.com"})
	}
	me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
}

// Rule: rate.retry-after
func TestRateMinuteShortensWindows(t *testing.T) {
	w := newWorld(t, sandbox.WithRateLimits(), sandbox.WithControl())
	changed := w.call("PUT", "/_host/settings", object{"rateMinute": "1s"})
	require.Equal(t, http.StatusOK, changed.status)
	assert.Equal(t, "1s", changed.body.text("rateMinute"))
	me := w.login()
	for range 3 { // windows
		for range 600 {
			me.must(http.StatusOK, "GET", "/chains", nil)
		}
		assert.Equal(t, time.Second, rateLimited(t, me.call("GET", "/chains", nil)))
		w.host.Advance(750 * time.Millisecond)
		assert.Equal(t, time.Second, rateLimited(t, me.call("GET", "/chains", nil)), "whole seconds, and long enough")
		w.host.Advance(250 * time.Millisecond)
	}
	for _, minute := range []string{"0s", "61s", "-1s"} {
		got := w.call("PUT", "/_host/settings", object{"rateMinute": minute})
		assert.Equal(t, http.StatusBadRequest, got.status, minute)
		assert.Contains(t, string(got.raw), "rateMinute")
	}
}
