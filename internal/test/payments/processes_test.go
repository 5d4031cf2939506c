package payments_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
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

// The service asks for a pause, and the store fails. The pause is kept: if the lease ends in it, and the process claims
// the payment again, it makes no second step beside the first one.
func TestPauseIsKeptWhenTheStoreFails(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, after string
		fail                func(method string, n int) bool
	}{
		"a booking whose lease ends":         {http.MethodPost, "/payouts", "61", failsFor("Extend", 1000)},
		"a read whose lease ends":            {http.MethodGet, "/payouts/{payoutId}", "61", failsFor("Extend", 1000)},
		"a booking whose next claim is slow": {http.MethodPost, "/payouts", "61", slowlyClaimedAgain()},
		"a read that is put off":             {http.MethodGet, "/payouts/{payoutId}", "300", failsFor("Postpone", 2)},
		"a read that is not stored":          {http.MethodGet, "/payouts/{payoutId}", "300", failsFor("Postpone", 30)},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				refused := w.Host.Arm(c.method, c.path,
					sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", c.after))
				store := watch(w.store)
				store.failing(c.fail)
				p, err := payments.New(store, payments.IntegratorServices(w.platform()), payments.Config{})
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
func failsFor(method string, times int) func(string, int) bool {
	return func(called string, n int) bool {
		if called == method && n <= times {
			return true
		}
		return false
	}
}

// slowlyClaimedAgain lets no lease be renewed. The step is slow to end after it has lost its lease, and the next claim
// takes longer than a lease, so that the step under it ends first.
func slowlyClaimedAgain() func(string, int) bool {
	var began time.Time
	slow := false
	return func(called string, n int) bool {
		switch {
		case called == "Extend":
			return true
		case called == "Claim" && n == 1:
			began = time.Now()
		case called == "Claim" && !slow && time.Since(began) > 15*time.Second:
			slow = true
			time.Sleep(16 * time.Second)
		case called == "Save" && n == 2:
			time.Sleep(40 * time.Second)
		}
		return false
	}
}

// A process cannot renew its lease while it opens an escrow. Another process may have the payment by then, so the first
// one ends its call and signs nothing.
func TestALeaseThatCannotBeRenewedEndsTheCall(t *testing.T) {
	inBubble(t, func(w *world) {
		k := w.kinds()["escrow"]()
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

// Each kind of step releases its lease at its end: another process can make the next one at once.
func TestAStepReleasesItsLease(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(w *world, p *payments.Payment)
		between time.Duration // between a first step and the one that is checked, 0 without a first one
		state   moneymovement.PaymentState
	}{
		"it pays": {func(*world, *payments.Payment) {}, 0, moneymovement.PaymentPaid},
		"it ends a payment that is late": {func(_ *world, p *payments.Payment) {
			p.Deadline = time.Now().Add(-time.Second)
		}, 0, moneymovement.PaymentRefused},
		"it waits until the key is forgotten": {func(w *world, _ *payments.Payment) {
			w.Host.Arm("POST", "/payouts", sandbox.Respond(http.StatusServiceUnavailable, "provider_unavailable").
				Times(9))
		}, 7 * 24 * time.Hour, moneymovement.PaymentAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				payment := w.payment(1)
				c.arrange(w, &payment)
				p, another := w.processor(), w.processor()
				w.submit(p, payment)
				if c.between > 0 {
					_, err := p.Step(w.Context(), payment.Key)
					require.NoError(w, err)
					time.Sleep(c.between)
				}
				sent := w.Sent("BookPayout")
				r, err := p.Step(w.Context(), payment.Key)
				require.NoError(w, err)
				assert.Equal(w, c.state, r.State)
				if c.between > 0 {
					assert.Equal(w, sent, w.Sent("BookPayout"), "nothing is sent meanwhile")
				}
				_, err = another.Step(w.Context(), payment.Key)
				require.NoError(w, err)
			})
		})
	}
}

// A process can die while its call waits for room. The next step stores that it waits no more.
func TestAStepEndsTheWaitOfAnother(t *testing.T) {
	inBubble(t, func(w *world) {
		payment := w.payment(1)
		w.submit(w.processor(), payment)
		claimed, _, err := w.store.Claim(w.Context(), payments.Claim{Owner: "dead", Key: payment.Key, For: time.Minute,
			Now: time.Now()})
		require.NoError(w, err)
		claimed[0].WaitsFor, claimed[0].WaitsUntil = "room in the rate window writes", time.Now().UTC()
		_, err = w.store.Save(w.Context(), claimed[0], true)
		require.NoError(w, err)
		_, err = w.processor().Step(w.Context(), payment.Key)
		require.NoError(w, err)
		r, err := w.store.Load(w.Context(), payment.Key)
		require.NoError(w, err)
		assert.Empty(w, r.WaitsFor)
		assert.True(w, r.WaitsUntil.IsZero())
	})
}

// While all calls pause, a step only puts its payment off. If that cannot be stored, the caller learns it.
func TestStepThatCannotStoreAPause(t *testing.T) {
	inBubble(t, func(w *world) {
		store := watch(w.store)
		w.store = store
		p := w.processor()
		w.submit(p, w.payment(1))
		w.submit(p, w.payment(2))
		w.Host.Arm("POST", "/payouts", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
			WithHeader("Retry-After", "300"))
		_, err := p.Step(w.Context(), w.payment(1).Key)
		require.NoError(w, err)
		sent := w.Sent("BookPayout")
		store.failing(func(method string, _ int) bool { return method == "Postpone" })
		ctx, cancel := context.WithTimeout(w.Context(), time.Second)
		defer cancel()
		_, err = p.Step(ctx, w.payment(2).Key)
		require.ErrorIs(w, err, errStore)
		assert.Equal(w, sent, w.Sent("BookPayout"))
		store.failing(nil)
	})
}

// silent lets a number of requests to a path wait until their context ends. A client without a timeout of its own then
// waits for ever.
type silent struct {
	next http.RoundTripper
	path string
	left int
}

func (s *silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Path == s.path && s.left > 0 {
		s.left--
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	return s.next.RoundTrip(r)
}

// A step ends, also if the service is silent for ever. The payment is then tried again.
func TestStepEndsIfTheServiceNeverResponds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		host := &silent{next: w.Wire, path: "/dapi/v1/payouts", left: 1}
		platform := w.platform(moneymovement.WithHTTPClient(&http.Client{Transport: host}))
		p, err := payments.New(w.store, payments.IntegratorServices(platform), payments.Config{})
		require.NoError(t, err)
		_, err = p.Resume(t.Context())
		require.NoError(t, err)
		began := time.Now()
		_, err = p.Submit(t.Context(), w.payment(1))
		require.NoError(t, err)
		done, err := p.Await(t.Context(), w.payment(1).Key)
		require.NoError(t, err)
		assert.Equal(t, moneymovement.PaymentCompleted, done.State)
		assert.Equal(t, 2, done.Calls)
		assert.InDelta(t, (5 * time.Minute).Seconds(), time.Since(began).Seconds(), 10)
		require.NoError(t, p.Stop(t.Context()))
	})
}

// A processor with the clock of the host goes with it: an advance makes due what would be due in hours, and makes a key
// old whose payment is in doubt.
func TestAProcessorWithTheClockOfAHost(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started(func(c *payments.Config) { c.Now = w.Host.Now })
		w.Configure(func(s *sandbox.Settings) { s.PartnerDown = true })
		w.submit(p, w.payment(1))
		for range 12 {
			time.Sleep(2 * time.Second)
			w.Host.Advance(5 * time.Minute)
		}
		r, err := p.Get(w.Context(), w.payment(1).Key)
		require.NoError(w, err)
		assert.GreaterOrEqual(w, r.Calls, 8, "an hour has passed")
		w.Configure(func(s *sandbox.Settings) { s.PartnerDown = false })
		w.Host.Advance(5 * time.Minute)
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)

		lost := w.onConfirm(sandbox.DropBefore().Times(1_000_000))
		w.submit(p, w.payment(2))
		doubt := w.becomes(p, w.payment(2).Key, moneymovement.PaymentInDoubt)
		assert.WithinDuration(w, w.Host.Now(), doubt.FirstUsed, 5*time.Minute)
		w.Host.Advance(8 * 24 * time.Hour)
		old := w.becomes(p, doubt.Key, moneymovement.PaymentRefused)
		assert.Equal(w, payments.ReasonEnded, old.Reason.Code, "the payout shows that it expired")
		lost.Disarm()
		w.assertPaid(1)
	})
}

// The service says when to come back, by its own clock. A processor with another clock comes back as much later.
func TestThePauseOfTheServiceByAnotherClock(t *testing.T) {
	inBubble(t, func(w *world) {
		now := func() time.Time { return time.Now().Add(-24 * time.Hour) }
		p := w.processor(func(c *payments.Config) { c.Now = now })
		w.submit(p, w.payment(1))
		w.Host.Arm(http.MethodPost, "/payouts", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").
			WithHeader("Retry-After", "300"))
		r, err := p.Step(w.Context(), w.payment(1).Key)
		require.NoError(w, err)
		assert.WithinDuration(w, now().Add(5*time.Minute), r.Due, 10*time.Second)
	})
}

// The user's own code, the SDK and the host in one bubble: the client has no socket, so time passes when all wait.
func TestSynctestBubbleAroundTheUsersCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := sandbox.New(sandbox.WithSettings(func(s *sandbox.Settings) { s.SetProgress(time.Hour) }))
		own := host.Credentials()
		account, err := dapi.NewSelfServe("https://sandbox.example", dapi.Developer{Email: own.Email, Key: own.Key},
			moneymovement.WithHTTPClient(host.Client()))
		require.NoError(t, err)
		_, err = account.Sandbox.Deposit(t.Context(), dapi.DepositCreate{Amount: amount("50"), Currency: dapi.USDC})
		require.NoError(t, err)
		contact, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Bob", Account: worlds.SEPA()})
		require.NoError(t, err)
		host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm", sandbox.DropAfterCommit())
		p, err := payments.New(payments.NewMemoryStore(), payments.SelfServeServices(account), payments.Config{})
		require.NoError(t, err)
		_, err = p.Resume(t.Context())
		require.NoError(t, err)
		_, err = p.Submit(t.Context(), payments.Payment{Key: "invoice-42-1",
			Payout: dapi.PayoutCreate{ContactID: contact.ID, Amount: amount("12.50"), Currency: dapi.USDC}})
		require.NoError(t, err)
		r, err := p.Await(t.Context(), "invoice-42-1")
		require.NoError(t, err)
		assert.Equal(t, moneymovement.PaymentCompleted, r.State, "%+v", r.Reason)
		left := 0
		for _, balance := range host.Ledger().Balances {
			if balance["USDC"].Equal(amount("37.5")) {
				left++
			}
		}
		assert.Equal(t, 1, left, "%v", host.Ledger().Balances)
		require.NoError(t, p.Stop(context.Background()))
	})
}
