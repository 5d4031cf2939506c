package dapi_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/suites/worlds"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A machine whose clock is off by minutes logs in and pays by the service's clock.
func TestPaysWithAClockThatIsOff(t *testing.T) {
	for name, off := range map[string]time.Duration{"ahead": 20 * time.Minute, "behind": -20 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, sandbox.WithClock(func() time.Time { return time.Now().Add(-off) }))
				account := w.account()
				_, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{
					ContactID: w.Contact(account.Contacts, sepa()), Amount: amount("25"), Currency: dapi.USDC,
				}, "invoice-42")
				require.NoError(t, err)
			})
		})
	}
}

// A session that the host does not know any more, as after its restart, is minted anew.
func TestSessionThatTheHostForgotIsMintedAnew(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	require.NoError(t, read(t.Context(), account))
	w.Host.Reset()
	require.NoError(t, read(t.Context(), account))
}

// The host's own clock may have been moved far ahead, by a test: logins still work, over a real socket as well.
func TestLoginAfterTheHostsClockWasMoved(t *testing.T) {
	w := worlds.Serve(t)
	w.Host.Advance(3 * time.Hour)
	require.NoError(t, read(t.Context(), w.Integrator(w.Developer()).Self()))
}

// misdated puts a wrong Date into some answers.
func (w *world) misdated(ahead time.Duration, wrong func(*http.Request) bool) {
	w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
		if wrong(r) {
			answer.Header.Set("Date", w.Host.Now().Add(ahead).Format(http.TimeFormat))
		}
	})
}

// One answer with a wrong Date, be it the booking's own or one before it, makes no good approval a closed one, nor one
// without end.
func TestWrongDateDoesNotCloseApprovals(t *testing.T) {
	isBooking := func(r *http.Request) bool { return r.URL.Path == "/dapi/v1/payouts" }
	for when, ahead := range map[string]time.Duration{"later": time.Hour, "earlier": -time.Hour,
		"much later": 200 * 365 * 24 * time.Hour} {
		t.Run(when, func(t *testing.T) {
			w := newPayWorld(t)
			w.misdated(ahead, isBooking)
			for i := range 3 {
				_, err := w.payAs(moneymovement.Key(fmt.Sprintf("invoice-%d", i)))
				require.NoError(t, err)
			}
			assert.Equal(t, 3, w.traffic().books, "none is booked again")

			w.misdated(ahead, func(r *http.Request) bool { return r.URL.Path == "/dapi/v1/chains" })
			require.NoError(t, read(t.Context(), w.account))
			_, err := w.pay()
			require.NoError(t, err)
			assert.Equal(t, 4, w.traffic().books)
			assert.Equal(t, 4, w.Fundings())
		})
	}
}

// A clock that is set, here or there, is noticed at the first booking after it.
func TestPaysRightAfterAClockWasSet(t *testing.T) {
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
				w.Wire.OnAnswer(func(_ *http.Request, answer *http.Response) { answer.Header.Del("Date") })
				w.account = w.integrator().Self()
				var left time.Duration
				_, err := w.pay(dapi.BeforeSigning(func(ctx context.Context, _ *dapi.Payout) error {
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
