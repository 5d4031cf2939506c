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

// stopped makes a clock that moves only when advanced, so that a window is as
// long as it is said to be.
func stopped() sandbox.Option {
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return sandbox.WithClock(func() time.Time { return start })
}

// limited asserts that a window is used up, and answers when it opens again.
func limited(t *testing.T, got reply) time.Duration {
	t.Helper()
	refused(t, http.StatusTooManyRequests, "rate_limited", got)
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	require.NoError(t, err)
	return time.Duration(seconds) * time.Second
}

// Rule: rate.writes, rate.reads, rate.per-credential, rate.refresh, rate.retry-after, status.429
func TestReadsAndWritesAreCountedPerCredential(t *testing.T) {
	w := newWorld(t, sandbox.WithRateLimits(), stopped())
	me := w.login()
	acme := me.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"}).body.text("id")

	for i := range 600 {
		caller := me
		if i%2 == 0 {
			caller = me.as(acme)
		}
		caller.must(http.StatusOK, "GET", "/chains", nil)
	}
	assert.Equal(t, time.Minute, limited(t, me.call("GET", "/chains", nil)))
	assert.Equal(t, time.Minute, limited(t, me.as(acme).call("GET", "/chains", nil)), "not per acted-for account")

	for range 118 {
		me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
	}
	refresh := object{"refreshToken": me.refresh}
	require.Equal(t, http.StatusCreated, w.call("POST", "/dapi/v1/auth/refresh", refresh).status)
	limited(t, w.call("POST", "/dapi/v1/auth/refresh", refresh))
	limited(t, me.call("POST", "/clients", object{"email": "acme@example.com"}))

	w.host.Advance(time.Minute)
	me.must(http.StatusOK, "GET", "/chains", nil)
	me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
}

// Rule: rate.login-address, rate.login-email, rate.login-challenge, rate.retry-after
func TestLoginsAreCountedPerAddressEmailAndChallenge(t *testing.T) {
	t.Run("challenges per email", func(t *testing.T) {
		w := newWorld(t, sandbox.WithRateLimits(), stopped())
		for range 10 {
			require.Equal(t, http.StatusCreated, w.challenge("one@example.com").status)
		}
		assert.Equal(t, 5*time.Minute, limited(t, w.challenge("One@example.com")))
		assert.Equal(t, http.StatusCreated, w.challenge("two@example.com").status)
	})
	t.Run("tokens per challenge", func(t *testing.T) {
		w := newWorld(t, sandbox.WithRateLimits(), stopped())
		challenge := w.challenge(w.email)
		for range 10 {
			refused(t, http.StatusForbidden, "key_not_registered", w.token(challenge, newSigner(t)))
		}
		limited(t, w.token(challenge, w.key))
	})
	t.Run("both per address", func(t *testing.T) {
		w := newWorld(t, sandbox.WithRateLimits(), stopped())
		for range 10 {
			w.login()
		}
		limited(t, w.challenge("another@example.com"))
		w.host.Advance(5 * time.Minute)
		assert.Equal(t, http.StatusCreated, w.challenge("another@example.com").status)
	})
}

// Rule: rate.sandbox-money, rate.retry-after
func TestSandboxMoneyIsCountedPerAccount(t *testing.T) {
	w := newWorld(t, sandbox.WithRateLimits(), stopped())
	me := w.login()
	acme, other := me.readyClient("acme@example.com"), me.readyClient("other@example.com")
	deposit := func(s *session, n int) reply {
		return s.call("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"}, "Idempotency-Key", fmt.Sprint("d-", n))
	}
	for n := range 60 {
		require.Equal(t, http.StatusCreated, deposit(acme, n).status)
	}
	assert.Greater(t, limited(t, deposit(acme, 60)), 50*time.Minute)
	assert.Equal(t, http.StatusCreated, deposit(other, 0).status)
	w.host.Advance(time.Hour)
	me.access = w.call("POST", "/dapi/v1/auth/refresh", object{"refreshToken": me.refresh}).body.text("accessToken")
	assert.Equal(t, http.StatusCreated, deposit(me.as(acme.account), 60).status)
}

// Rule: rate.off
func TestCountersAreOffUnlessAskedFor(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	for range 130 {
		me.call("POST", "/clients", object{"email": "acme@example.com"})
	}
	me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
}
