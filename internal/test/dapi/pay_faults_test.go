package dapi_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// steps are the requests of a payment from nothing; a payout is read only if its confirm is in doubt.
var steps = map[string]struct{ method, path string }{
	"challenge": {"POST", "/auth/challenge"},
	"token":     {"POST", "/auth/token"},
	"refresh":   {"POST", "/auth/refresh"},
	"book":      {"POST", bookPath},
	"confirm":   {"POST", confirmPath},
	"read":      {"GET", "/payouts/*"},
}

// faults are what can happen to any request. None of them lies: what says that nothing happened happens before the
// operation runs.
var faults = map[string]sandbox.Fault{
	"lost before it arrived":     sandbox.DropBefore(),
	"lost after it was done":     sandbox.DropAfterCommit(),
	"answer broken off":          sandbox.Truncate(0),
	"answer broken off early":    sandbox.Truncate(20),
	"half an answer":             sandbox.Respond(http.StatusOK, "").WithBody(`{"id":"po_`).AfterCommit(),
	"an empty success":           sandbox.Respond(http.StatusOK, "").WithBody(`{}`).AfterCommit(),
	"an empty success, not done": sandbox.Respond(http.StatusOK, "").WithBody(`{}`),
	"null":                       sandbox.Respond(http.StatusOK, "").WithBody(`null`).AfterCommit(),
	"proxy's page":               sandbox.Garbage(),
	"proxy's page, done":         sandbox.Garbage().AfterCommit(),
	"slow":                       sandbox.Delay(10 * time.Second),
	"slower than the approval":   sandbox.Delay(130 * time.Second),
	"token expired":              sandbox.ExpireToken(),
	"token unknown":              sandbox.Respond(http.StatusUnauthorized, "unauthenticated"),
	"forbidden":                  sandbox.Respond(http.StatusForbidden, "forbidden"),
	"timeout, done":              sandbox.Respond(http.StatusRequestTimeout, "timeout").AfterCommit(),
	"a little wait": sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
		WithHeader("Retry-After", "2"),
	"a long wait": sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
		WithHeader("Retry-After", "3600"),
	"internal_error":        sandbox.Respond(http.StatusInternalServerError, "internal_error"),
	"internal_error, done":  sandbox.Respond(http.StatusInternalServerError, "internal_error").AfterCommit(),
	"502":                   sandbox.Respond(http.StatusBadGateway, "chain_unavailable"),
	"502, done":             sandbox.Respond(http.StatusBadGateway, "chain_unavailable").AfterCommit(),
	"503":                   sandbox.Respond(http.StatusServiceUnavailable, "provider_unavailable"),
	"503, done":             sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").AfterCommit(),
	"504, done":             sandbox.Respond(http.StatusGatewayTimeout, "").AfterCommit(),
	"a slow answer":         sandbox.Delay(10 * time.Second).AfterCommit(),
	"a very slow answer":    sandbox.Delay(130 * time.Second).AfterCommit(),
	"arrives twice":         sandbox.Duplicate(0),
	"arrives again later":   sandbox.Duplicate(3 * time.Hour),
	"sent twice by a proxy": sandbox.Repeat(),
	"moved elsewhere": sandbox.Respond(http.StatusTemporaryRedirect, "").
		WithHeader("Location", "/dapi/v1/chains"),
}

// refusals are what the service can say to a confirm besides.
var refusals = map[string]sandbox.Fault{
	"quote_expired":             sandbox.Respond(http.StatusConflict, "quote_expired"),
	"funding_attempt_expired":   sandbox.Respond(http.StatusConflict, "funding_attempt_expired"),
	"approval_expired":          sandbox.Respond(http.StatusGone, "approval_expired"),
	"approval_mismatch":         sandbox.Respond(http.StatusConflict, "approval_mismatch"),
	"approval_consumed":         sandbox.Respond(http.StatusConflict, "approval_consumed"),
	"approval_consumed, done":   sandbox.Respond(http.StatusConflict, "approval_consumed").AfterCommit(),
	"conflict, done":            sandbox.Respond(http.StatusConflict, "conflict").AfterCommit(),
	"unknown conflict, done":    sandbox.Respond(http.StatusConflict, "something_new").AfterCommit(),
	"funding_in_progress":       sandbox.Respond(http.StatusConflict, "funding_in_progress"),
	"funding_in_progress, done": sandbox.Respond(http.StatusConflict, "funding_in_progress").AfterCommit(),
}

// payments makes one payment by any number of calls, and finds what a call says that the ledger does not.
type payments struct {
	*payWorld
	lies []string
}

func newPayments(t *testing.T) *payments {
	t.Helper()
	p := &payments{payWorld: newPayWorld(t)}
	p.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(20 * time.Second) })
	return p
}

// restart is what is left of a process that crashed: nothing but the key and the terms.
func (w *payWorld) restart() { w.account = w.integrator().Self() }

// attempt pays once and judges what came back by the books, over all calls that were made for the payment.
func (p *payments) attempt(timeout time.Duration, options ...payOption) (paid bool) {
	ctx, cancel := context.WithTimeout(p.Context(), timeout)
	defer cancel()
	began := time.Now()
	payment, err := p.PayEnded(p.account.Payouts.Pay(ctx, p.asked, "invoice-42", payTerms(options...)))
	state, moved := payment.State, p.Fundings()
	lie := func(what string) {
		p.lies = append(p.lies, fmt.Sprintf("%s: %s: %T: %v (%d times in the books)", what, state, err, err, moved))
	}
	_, refused := errors.AsType[*errors.Refusal](err)
	_, funded := errors.AsType[*errors.AlreadyFunded](err)
	failure, typed := errors.AsType[errors.Failure](err)
	switch {
	case moved > 1:
		lie("paid twice")
	case time.Since(began) > 12*time.Hour:
		lie("went on for hours")
	case err == nil && (moved != 1 || payment.Payout == nil || payment.Payout.ID == ""):
		lie("a success that is none")
	case err != nil && !typed:
		lie("has no type")
	case moved == 1 && state != moneymovement.PaymentPaid && state != moneymovement.PaymentInDoubt:
		lie("says that it is not paid")
	case moved == 1 && err != nil && failure.MovedByCall() == errors.NotMoved:
		lie("reads as if nothing had moved")
	case moved == 1 && refused && !funded:
		lie("matches the type of a refusal")
	case moved == 0 && state == moneymovement.PaymentPaid:
		lie("says that it is paid")
	}
	return err == nil
}

// untilPaid repeats the payment until it succeeds, as a caller would who keeps the key.
func (p *payments) untilPaid() {
	for range 50 {
		if p.attempt(24*time.Hour, quoteTolerance(amount("0.05"))) || len(p.lies) > 0 {
			return
		}
		time.Sleep(time.Minute)
	}
	p.lies = append(p.lies, "the payment never succeeded")
}

// TestEveryFaultAtEveryStep lets one thing go wrong, once or for long, in a process that goes on, is restarted, or
// whose caller leaves: after trying again with the same key, there is one payment in the books, and no call on the way
// said what was not so.
//
// Rule: idempotency.bank-payout, status.502
func TestEveryFaultAtEveryStep(t *testing.T) {
	courses := map[string]struct {
		times    int
		timeout  time.Duration
		restarts bool
	}{
		"once":                        {1, time.Hour, false},
		"for long, then restarted":    {6, time.Hour, true},
		"the caller leaves, restarts": {2, 5 * time.Second, true},
	}
	for step, at := range steps {
		for fault, goesWrong := range faultsAt(step) {
			for name, c := range courses {
				t.Run(step+"/"+fault+"/"+name, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						p := newPayments(t)
						p.leadTo(step)
						armed := p.Host.Arm(at.method, at.path, goesWrong.Times(c.times))
						paid := p.attempt(c.timeout)
						assert.Positive(t, armed.Consumed(), "it did happen")
						if c.restarts {
							p.restart()
						}
						if !paid {
							p.untilPaid()
						}
						assert.Empty(t, p.lies)
						assert.Equal(t, 1, p.Fundings())
						time.Sleep(10 * time.Minute) // for a login that its caller left alone
					})
				})
			}
		}
	}
}

func faultsAt(step string) map[string]sandbox.Fault {
	all := maps.Clone(faults)
	if step == "confirm" {
		maps.Copy(all, refusals)
	}
	return all
}

// leadTo makes the next call come to a step that not every payment has.
func (w *payWorld) leadTo(step string) {
	switch step {
	case "challenge", "token":
		w.restart() // which logs in
	case "refresh":
		time.Sleep(2 * time.Hour)
	case "read":
		w.refuse(http.StatusConflict, "approval_consumed")
	}
}

// mishap is a fault that waits at a step.
type mishap struct {
	Step, Fault string
	Times       int
}

// course is one call of a payment, and what happens around it.
type course struct {
	Mishaps  []mishap
	Restarts bool
	Leaves   time.Duration // when the caller does
	Later    time.Duration // than the call before
	Signing  time.Duration // that it takes the first time
	Worse    string        // the price after it
}

func drawCourse(t *rapid.T) course {
	minutes := func(name string, some ...float64) time.Duration {
		return time.Duration(rapid.SampledFrom(some).Draw(t, name) * float64(time.Minute))
	}
	drawn := course{
		Restarts: rapid.Bool().Draw(t, "restarts"),
		Leaves:   minutes("leaves", 1440, 0.02, 0.2, 1.2, 10),
		Later:    minutes("later", 0, 0.02, 0.6, 3, 120),
		Signing:  minutes("signing", 0, 0.6, 2.2),
		Worse:    rapid.SampledFrom([]string{"0", "0.02"}).Draw(t, "worse"),
	}
	for range rapid.IntRange(0, 3).Draw(t, "mishaps") {
		step := rapid.SampledFrom(slices.Sorted(maps.Keys(steps))).Draw(t, "step")
		drawn.Mishaps = append(drawn.Mishaps, mishap{
			Step:  step,
			Fault: rapid.SampledFrom(slices.Sorted(maps.Keys(faultsAt(step)))).Draw(t, "fault"),
			Times: rapid.SampledFrom([]int{1, 2, 4, 8}).Draw(t, "times"),
		})
	}
	return drawn
}

// TestAnySequenceOfFaultsIsOnePayment lets any number of things go wrong at once, while time passes and the price
// moves.
func TestAnySequenceOfFaultsIsOnePayment(t *testing.T) {
	rapid.Check(t, func(drawn *rapid.T) {
		courses := rapid.SliceOfN(rapid.Custom(drawCourse), 1, 4).Draw(drawn, "courses")
		var lies []string
		synctest.Test(t, func(t *testing.T) {
			p := newPayments(t)
			for _, c := range courses {
				p.take(c)
			}
			p.Key.BeforeApproval(nil)
			p.untilPaid()
			time.Sleep(10 * time.Minute) // for a login that its caller left alone
			lies = p.lies
		})
		if len(lies) > 0 {
			drawn.Fatal(lies)
		}
	})
}

func (p *payments) take(c course) {
	time.Sleep(c.Later)
	for _, m := range c.Mishaps {
		p.Host.Arm(steps[m.Step].method, steps[m.Step].path, faultsAt(m.Step)[m.Fault].Times(m.Times))
	}
	if c.Restarts {
		p.restart()
	}
	p.worsen("0")
	signed := false
	p.Key.BeforeApproval(func(int) {
		if !signed {
			signed = true
			p.worsen(c.Worse)
			p.Host.Advance(c.Signing)
		}
	})
	p.attempt(c.Leaves)
}
