package payments_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// from is a payment of one of several accounts.
func from(account dapi.ClientID, contact dapi.ContactID, name string, n int) payments.Payment {
	return payments.Payment{Key: moneymovement.DeriveKey(name, fmt.Sprint(n)), Account: account,
		Payout: dapi.PayoutCreate{ContactID: contact, Amount: decimal.New(1000+int64(n), -2), Currency: dapi.USDC}}
}

// Three accounts submit many payments at once, and one of them far more than the others. The rate windows are kept, and
// the accounts take turns.
func TestManyPaymentsTakeTurns(t *testing.T) {
	inBubble(t, func(w *world) {
		small, smallContact := w.client("small@example.com", "10000")
		other, otherContact := w.client("other@example.com", "10000")
		large, largeContact := w.client("large@example.com", "10000")
		time.Sleep(2 * time.Minute) // what the clients took of the windows
		p := w.processor(func(c *payments.Config) { c.Logger = nil })
		for n := range 240 {
			w.submit(p, from(large, largeContact, "large", n))
		}
		for n := range 30 {
			w.submit(p, from(other, otherContact, "other", n))
			w.submit(p, from(small, smallContact, "small", n))
		}
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		paidAt := map[string]time.Time{}
		last := func(name string, account dapi.ClientID, contact dapi.ContactID, many int) {
			for n := range many {
				done := w.becomes(p, from(account, contact, name, n).Key, moneymovement.PaymentCompleted)
				if done.PaidAt.After(paidAt[name]) {
					paidAt[name] = done.PaidAt
				}
			}
		}
		last("small", small, smallContact, 30)
		last("other", other, otherContact, 30)
		last("large", large, largeContact, 240)
		w.assertPaid(300)
		for _, r := range w.Host.Requests() {
			assert.NotEqual(w, 429, r.Status, "%s at %s", r.Operation, r.Time)
		}
		for _, few := range []string{"small", "other"} {
			ahead := paidAt["large"].Sub(paidAt[few])
			assert.Greater(w, ahead, 90*time.Second, "%s was held up behind the large account", few)
		}
		require.NoError(w, p.Stop(w.Context()))
	}, sandbox.WithRateLimits())
}

func TestTwoProcessesShareAStore(t *testing.T) {
	inBubble(t, func(w *world) {
		first, second := w.started(), w.started()
		for n := range 60 {
			w.submit([]*payments.Processor{first, second}[n%2], w.payment(n))
		}
		for n := range 60 {
			done := w.becomes(second, w.payment(n).Key, moneymovement.PaymentCompleted)
			assert.Equal(w, 1, done.Calls)
		}
		w.assertPaid(60)
		assert.Equal(w, 60, w.Key.Approvals())
		assert.Equal(w, 60, w.Sent("BookPayout"))
	})
}

// A process loses its lease while its signer is slow, because it cannot renew it. Another one goes on, and the first
// one stores nothing more.
func TestALeaseThatIsTakenOver(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Key.BeforeApproval(func(n int) {
			if n == 1 {
				time.Sleep(40 * time.Second)
			}
		})
		store := watch(w.store)
		p, err := payments.New(store, payments.Integrator(w.platform()), payments.Config{Owner: "first"})
		require.NoError(w, err)
		store.failing(func(method string, _ int) failure {
			if method == "Extend" {
				return before
			}
			return fine
		})
		_, err = p.Resume(w.Context())
		require.NoError(w, err)
		w.submit(p, w.payment(1))
		time.Sleep(20 * time.Second)
		second := w.started(func(c *payments.Config) { c.Owner = "second" })
		w.becomes(second, w.payment(1).Key, moneymovement.PaymentCompleted)
		time.Sleep(time.Minute)
		w.assertPaid(1)
		require.NoError(w, p.Stop(w.Context()))
	})
}

// The service asks for a pause, and the store fails. The pause is kept: if the lease ends in it, and the process claims
// the payment again, it makes no second step beside the first one.
func TestAPauseIsKeptThoughTheStoreFails(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, after string
		fail                func(method string, n int) failure
	}{
		"a booking whose lease ends":         {http.MethodPost, "/payouts", "61", failsFor("Extend", 1000)},
		"a look whose lease ends":            {http.MethodGet, "/payouts/{payoutId}", "61", failsFor("Extend", 1000)},
		"a booking whose next claim is slow": {http.MethodPost, "/payouts", "61", slowlyClaimedAgain()},
		"a look that is put off":             {http.MethodGet, "/payouts/{payoutId}", "300", failsFor("Postpone", 2)},
		"a look that is not stored":          {http.MethodGet, "/payouts/{payoutId}", "300", failsFor("Postpone", 30)},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				refused := w.Host.Arm(c.method, c.path,
					sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", c.after))
				store := watch(w.store)
				store.failing(c.fail)
				p, err := payments.New(store, payments.Integrator(w.platform()), payments.Config{})
				require.NoError(w, err)
				_, err = p.Resume(w.Context())
				require.NoError(w, err)
				w.submit(p, w.payment(1))
				w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
				require.NoError(w, p.Stop(w.Context()))
				w.assertPaid(1)
				require.Equal(w, 1, refused.Consumed())
				var paused sandbox.Request
				var again time.Duration
				for _, r := range w.Host.Requests() {
					switch {
					case r.Status == http.StatusTooManyRequests:
						paused = r
					case r.Method == paused.Method && r.Path == paused.Path && again == 0:
						again = r.Time.Sub(paused.Time)
					}
				}
				asked, err := time.ParseDuration(c.after + "s")
				require.NoError(w, err)
				assert.GreaterOrEqual(w, again, asked, "the pause that the service asked for")
			})
		})
	}
}

// failsFor lets the first calls of a method fail.
func failsFor(method string, times int) func(string, int) failure {
	return func(called string, n int) failure {
		if called == method && n <= times {
			return before
		}
		return fine
	}
}

// slowlyClaimedAgain lets no lease be renewed. The step is slow to end after it has lost its lease, and the next claim
// takes longer than a lease, so that the step under it ends first.
func slowlyClaimedAgain() func(string, int) failure {
	var began time.Time
	slow := false
	return func(called string, n int) failure {
		switch {
		case called == "Extend":
			return before
		case called == "Claim" && n == 1:
			began = time.Now()
		case called == "Claim" && !slow && time.Since(began) > 15*time.Second:
			slow = true
			time.Sleep(16 * time.Second)
		case called == "Save" && n == 2:
			time.Sleep(40 * time.Second)
		}
		return fine
	}
}

// A process stalls between the booking and the signature, longer than its lease. When it goes on, it signs nothing: it
// can no longer store that money may leave.
func TestAProcessThatStallsBeforeItSigns(t *testing.T) {
	eachOf(t, func(w *world, k kind) {
		store, signed := watch(w.store), w.Key.Approvals()
		store.failing(func(method string, n int) failure {
			if method == "Save" && n == 2 { // the one before the signature
				time.Sleep(20 * time.Second)
			}
			if method == "Extend" {
				return before
			}
			return fine
		})
		p := w.process(k, store)
		key := w.submit(p, k.submission).Key
		stepped := make(chan error, 1)
		go func() {
			_, err := p.Step(w.Context(), key)
			stepped <- err
		}()
		time.Sleep(16 * time.Second)
		other, err := w.process(k, w.store).Decide(w.Context(), key, payments.Cancel("stalled"))
		require.NoError(w, err)
		assert.Equal(w, moneymovement.PaymentRefused, other.State)
		w.aWhile()
		as[*payments.LeaseLost](w, <-stepped)
		assert.Equal(w, signed, w.Key.Approvals())
		w.assertMoved(k, 0)
	}, flows...)
}

// A process cannot renew its lease while it opens a deal. Another process may have the payment by then, so the first
// one ends its call and signs nothing.
func TestALeaseThatCannotBeRenewedEndsTheCall(t *testing.T) {
	inBubble(t, func(w *world) {
		k := w.kinds()["deal"]()
		store := watch(w.store)
		store.failing(failsFor("Extend", 1000))
		w.Host.Arm(http.MethodPost, "/escrow", sandbox.Delay(time.Minute))
		p := w.process(k, store)
		submitted := w.submit(p, k.submission)
		began := time.Now()
		r, err := p.Step(w.Context(), submitted.Key)
		require.NoError(w, err)
		assert.Equal(w, 15*time.Second, time.Since(began).Round(time.Second), "the lease")
		assert.Zero(w, w.Key.Approvals())
		assert.False(w, r.State.Final(), "%+v", r.Reason)
		w.assertMoved(k, 0)

		_, err = p.Resume(w.Context())
		require.NoError(w, err)
		w.becomes(p, submitted.Key, moneymovement.PaymentCompleted)
		w.assertMoved(k, 1)
		require.NoError(w, p.Stop(w.Context()))
	})
}

// A record that cannot be read is left alone, and the payments behind it go on.
func TestUnreadableRecordsDoNotHoldUpTheOthers(t *testing.T) {
	inBubble(t, func(w *world) {
		for n := range 50 {
			_, _, err := w.store.Insert(w.Context(), payments.Record{Key: moneymovement.Key(fmt.Sprint("damaged-", n)),
				Account: w.account, Kind: "of_tomorrow", State: moneymovement.PaymentInDoubt, MayHaveLeft: true,
				Due: time.Now().Add(-time.Hour)})
			require.NoError(w, err)
		}
		p := w.started(func(c *payments.Config) { c.InFlight = 4 })
		began := time.Now()
		used := w.payment(1)
		used.FirstUsed = time.Now()
		w.submit(p, used)
		w.becomes(p, used.Key, moneymovement.PaymentCompleted)
		assert.Less(w, time.Since(began), 30*time.Second)
		_, err := p.Get(w.Context(), "damaged-1")
		as[*payments.Unreadable](w, err)
	})
}
