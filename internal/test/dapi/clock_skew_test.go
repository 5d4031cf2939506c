package dapi_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// A machine whose clock is off by minutes logs in and pays by the service's clock.
func TestPayWithAWrongClock(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": 20 * time.Minute, "behind": -20 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.WithClock(func() time.Time { return time.Now().Add(-off) }))
				account := w.account()
				_, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
					ContactID: w.Contact(account.Contacts, sepa()), Amount: amount("25"), Currency: dapi.USDC,
				}, "invoice-42", dapi.PayTerms{})
				require.NoError(t, err)
			})
		})
	}
}

// misdated puts a wrong Date into some responses.
func (w *world) misdated(ahead time.Duration, wrong func(*http.Request) bool) {
	w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
		if wrong(r) {
			response.Header.Set("Date", w.Host.Now().Add(ahead).Format(http.TimeFormat))
		}
	})
}

// One response with a wrong Date before the booking's does not close a good approval, and does not extend it. The
// booking's own Date may be late: it bounds how long the approval is open, and earlier responses say that it is open.
func TestWrongDateDoesNotCloseApprovals(t *testing.T) {
	isBooking := func(r *http.Request) bool { return r.URL.Path == "/dapi/v1/payouts" }
	isChains := func(r *http.Request) bool { return r.URL.Path == "/dapi/v1/chains" }
	for when, c := range map[string]struct {
		ahead time.Duration
		wrong func(*http.Request) bool
	}{
		"the booking's, later": {time.Hour, isBooking}, "before it, later": {time.Hour, isChains},
		"before it, earlier": {-time.Hour, isChains}, "before it, in a century": {100 * 365 * 24 * time.Hour, isChains},
	} {
		t.Run(when, func(t *testing.T) {
			w := newPayWorld(t)
			w.misdated(c.ahead, c.wrong)
			for i := range 3 {
				require.NoError(t, read(t.Context(), w.account))
				_, err := w.payAs(moneymovement.Key(fmt.Sprintf("invoice-%d", i)))
				require.NoError(t, err)
			}
			assert.Equal(t, 3, w.traffic().books, "none is booked again")
			assert.Equal(t, 3, w.Fundings())
		})
	}
}

// endsAt lets approvals end at a time of their own, in the response and in the payload.
func (w *payWorld) endsAt(end func() time.Time) {
	w.onBooking(func(payout map[string]any) {
		at := end().UTC().Format(time.RFC3339)
		w.rewritePayload(payout, func(m map[string]any) { m["expiresAt"] = at })
		payout["approval"].(map[string]any)["expiresAt"] = at
	})
}

// An approval ends at most 120 seconds, and 10 for the clocks, after the Date of the response that brought it. What
// earlier responses said about the clock does not lengthen it.
//
// Source: Limits, Lifetimes.
func TestAnApprovalEndsSoonAfterTheDateOfItsResponse(t *testing.T) {
	for name, c := range map[string]struct {
		ahead time.Duration // of earlier responses
		open  time.Duration
		good  bool
	}{
		"as stated":                            {0, 120 * time.Second, true},
		"with the clocks apart":                {0, 129 * time.Second, true},
		"longer":                               {0, 133 * time.Second, false},
		"an hour, which other responses allow": {time.Hour, time.Hour + 100*time.Second, false},
		"as stated, and others are behind":     {-time.Hour, 120 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				w.misdated(c.ahead, func(r *http.Request) bool { return r.URL.Path != bookPath })
				for range 2 {
					require.NoError(t, read(t.Context(), w.account))
				}
				w.endsAt(func() time.Time { return w.Host.Now().Add(c.open) })
				booked, err := w.account.Payouts.Book(t.Context(), w.asked)
				require.NoError(t, err)
				_, err = w.account.Payouts.Confirm(t.Context(), w.asked, booked)
				if c.good { // signed, although the host may know another payload
					assert.Equal(t, 1, w.Key.Approvals())
					return
				}
				refused := as[*signing.ApprovalRefused](t, err)
				assert.Equal(t, "expiresAt", refused.Field)
				assert.False(t, refused.Expired)
				assert.Zero(t, w.Key.Approvals())
				assert.Zero(t, w.traffic().confirms)
			})
		})
	}
}

// The end of an approval moves with the service's clock. So a clock that is further away than allowed signs nothing, be
// it that of a payout or of an escrow, and the error names both clocks.
func TestNothingIsSignedWithClocksTooFarApart(t *testing.T) {
	const day = 24 * time.Hour
	for name, ahead := range map[string]time.Duration{
		"a month": 30 * day, "ninety years": 90 * 365 * day, "two centuries": 200 * 365 * day, "a month ago": -30 * day,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t, sandbox.WithClock(func() time.Time { return time.Now().Add(ahead) }))
				asked := 0
				_, err := w.pay(beforeSigning(func(context.Context, *dapi.Payout) error { asked++; return nil }),
					firstUsedAt(time.Now().Add(-time.Hour)))
				refused := as[*signing.ApprovalRefused](t, reason(err))
				assert.Contains(t, refused.Reason, "moneymovement.WithClockDifference")
				assert.WithinDuration(t, time.Now().Add(max(-100*365*day, min(ahead, 100*365*day))),
					parsed(t, refused.Got), 2*time.Second)
				assert.WithinDuration(t, time.Now(), parsed(t, strings.TrimPrefix(refused.Want, "about ")),
					2*time.Second)
				assert.Zero(t, asked)
				w.assertNothingSigned(t)

				booked, err := w.account.Payouts.Book(t.Context(), w.asked)
				require.NoError(t, err)
				_, err = w.account.Payouts.Confirm(t.Context(), w.asked, booked)
				assert.Contains(t, as[*signing.ApprovalRefused](t, err).Reason, "WithClockDifference")
				_, err = w.account.Escrows.Confirm(t.Context(), dapi.EscrowCreate{Amount: amount("1"),
					Currency: dapi.USDC, Payee: payee}, "esc_1", dapi.EscrowActionTypeRelease,
					&dapi.EscrowAction{Approval: booked.Approval})
				assert.Contains(t, as[*signing.ApprovalRefused](t, err).Reason, "WithClockDifference")
				assert.Zero(t, w.Key.Approvals())
			})
		})
	}
}

// A key that is an hour old is not too old because a Date is of next month. A difference that the caller allows counts.
func TestWrongDateDoesNotMakeAKeyTooOld(t *testing.T) {
	const month = 30 * 24 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t, sandbox.WithClock(func() time.Time { return time.Now().Add(month) }))
		used := firstUsedAt(time.Now().Add(-time.Hour))
		_, err := w.pay(used)
		_, old := errors.AsType[*dapi.KeyTooOld](err)
		assert.False(t, old, "%v", err)
		as[*signing.ApprovalRefused](t, reason(err))
		assert.Zero(t, w.Key.Approvals())

		w.account = w.Integrator(w.Developer(), moneymovement.WithClockDifference(month+time.Hour)).Self()
		require.NoError(t, read(t.Context(), w.account))
		_, err = w.payAs("invoice-43", used)
		as[*dapi.KeyTooOld](t, refusalIn(err))
		_, err = w.payAs("invoice-44")
		require.NoError(t, err)
		assert.Equal(t, 1, w.Fundings())
	})
}

// reason returns the last refusal of a payment in doubt, or the error itself.
func reason(err error) error {
	if inDoubt, ok := errors.AsType[*errors.InDoubt](err); ok {
		return inDoubt.Cause
	}
	return err
}

func parsed(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err)
	return at
}

// A clock that is set, here or there, is noticed at the first booking after it.
func TestPayRightAfterTheClockWasSet(t *testing.T) {
	w := newPayWorld(t)
	for paid := 1; paid <= 3; paid++ {
		w.Host.Advance(15 * time.Minute)
		_, err := w.payAs(moneymovement.Key(fmt.Sprintf("invoice-%d", paid)))
		require.NoError(t, err)
		assert.Equal(t, paid, w.traffic().books, "none is booked again")
		assert.Equal(t, paid, w.Fundings())
	}
}

// Without a Date header the SDK cannot know that this machine's clock is ahead. The service still returns the same
// approval, so the SDK tries it, and BeforeSigning has time to store what it must.
func TestBeforeSigningHasTimeWithAClockThatIsAheadAndNoDate(t *testing.T) {
	for _, ahead := range []time.Duration{50 * time.Second, 110 * time.Second, 130 * time.Second} {
		t.Run(ahead.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t, sandbox.WithClock(func() time.Time { return time.Now().Add(-ahead) }))
				w.Wire.OnResponse(func(_ *http.Request, response *http.Response) { response.Header.Del("Date") })
				w.account = w.integrator().Self()
				var left time.Duration
				_, err := w.pay(beforeSigning(func(ctx context.Context, _ *dapi.Payout) error {
					end, bounded := ctx.Deadline()
					require.True(t, bounded)
					left = time.Until(end)
					return ctx.Err()
				}))
				require.NoError(t, err)
				assert.GreaterOrEqual(t, left, 10*time.Second)
				assert.Equal(t, 1, w.Fundings())
			})
		})
	}
}
