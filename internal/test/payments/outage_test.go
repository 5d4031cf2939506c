package payments_test

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
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// all submits payments, and returns a function that waits until each is completed.
func (w *world) all(p *payments.Processor, first, many int) (wait func()) {
	w.Helper()
	for n := range many {
		w.submit(p, w.payment(first+n))
	}
	return func() {
		w.Helper()
		for n := range many {
			w.becomes(p, w.payment(first+n).Key, moneymovement.PaymentCompleted)
		}
	}
}

// 429 in every form: the processor sends nothing before the time that the service named, and then goes on by itself.
func TestTooManyRequestsPauseAllCalls(t *testing.T) {
	for name, fault := range map[string]sandbox.Fault{
		"the service's": sandbox.Respond(429, "rate_limited").WithHeader("Retry-After", "300"),
		"another slug":  sandbox.Respond(429, "one_of_tomorrow").WithHeader("Retry-After", "300"),
		"a proxy's": sandbox.Respond(429, "").WithBody("<html>slow down</html>").WithHeader("Retry-After", "300").
			WithHeader("Content-Type", "text/html"),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				armed := w.Host.Arm(http.MethodPost, "/payouts", fault)
				p := w.started(func(c *payments.Config) { c.InFlight = 1 })
				wait := w.all(p, 0, 5)
				time.Sleep(200 * time.Second)
				before := len(w.Host.Requests())
				time.Sleep(80 * time.Second)
				assert.Len(w, w.Host.Requests(), before, "requests during the pause")
				wait()
				assert.Equal(w, 1, armed.Consumed())
				w.assertPaid(5)
			})
		})
	}
}

// Nothing waits for years because a Retry-After says so.
func TestRetryAfterOfYearsIsBounded(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Host.Arm(http.MethodPost, "/payouts",
			sandbox.Respond(429, "rate_limited").WithHeader("Retry-After", "999999999"))
		p := w.started()
		wait := w.all(p, 0, 3)
		began := time.Now()
		wait()
		assert.Less(w, time.Since(began), 2*time.Hour)
		w.assertPaid(3)
	})
}

// While the login is refused or the key is gone, payments are rarely tried, and wait without a decision. Then it goes
// on.
func TestCredentialsThatTheServiceRefuses(t *testing.T) {
	fresh, err := signing.Generate()
	require.NoError(t, err)
	for name, c := range map[string]struct {
		begin, end func(w *world, use func(signing.Signer) error)
	}{
		"no login": {
			func(w *world, _ func(signing.Signer) error) {
				w.Configure(func(s *sandbox.Settings) { s.LoginAvailable = false })
			},
			func(w *world, _ func(signing.Signer) error) {
				w.Configure(func(s *sandbox.Settings) { s.LoginAvailable = true })
			},
		},
		"no key": {
			func(w *world, _ func(signing.Signer) error) {
				require.NoError(w, w.Host.DeleteKey(w.Host.Credentials().KeyID))
			},
			func(w *world, use func(signing.Signer) error) {
				_, err := w.Host.RegisterKey(sandbox.KeyRegistration{Email: w.Host.Credentials().Email,
					PublicKey: fresh.PublicKey()})
				require.NoError(w, err)
				require.NoError(w, use(&testkit.CountingKey{Signer: fresh}))
			},
		},
		"no database": {
			func(w *world, _ func(signing.Signer) error) {
				w.Configure(func(s *sandbox.Settings) { s.DatabaseAvailable = false })
			},
			func(w *world, _ func(signing.Signer) error) {
				w.Configure(func(s *sandbox.Settings) { s.DatabaseAvailable = true })
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				platform := w.platform()
				p, err := payments.New(w.store, payments.IntegratorServices(platform), payments.Config{})
				require.NoError(w, err)
				_, err = p.Resume(w.Context())
				require.NoError(w, err)
				if name != "no login" { // with a session, no login is needed
					w.all(p, 0, 2)()
				}
				c.begin(w, platform.UseKey)
				before := len(w.Host.Requests())
				wait := w.all(p, 10, 20)
				time.Sleep(10 * time.Minute)
				tried := len(w.Host.Requests()) - before
				assert.Less(w, tried, 1000, "requests in ten minutes of an outage")
				for n := range 20 {
					r, err := p.Get(w.Context(), w.payment(10+n).Key)
					require.NoError(w, err)
					assert.Contains(w, []moneymovement.PaymentState{moneymovement.PaymentAccepted,
						moneymovement.PaymentPaying, moneymovement.PaymentInDoubt}, r.State)
				}
				w.Logf("%d requests in ten minutes", tried)
				c.end(w, platform.UseKey)
				ended := time.Now()
				wait()
				assert.Less(w, time.Since(ended), 10*time.Minute)
				for id, times := range w.Moved("payout_funding") {
					assert.Equal(w, 1, times, id)
				}
				require.NoError(w, p.Stop(w.Context()))
			})
		})
	}
}

// A key that signs wrongly must not refuse every payment for good.
func TestASignerThatFails(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.started()
		w.all(p, 0, 1)()
		w.Key.Fails = signing.ErrNoKey
		wait := w.all(p, 10, 5)
		time.Sleep(time.Minute)
		r, err := p.Get(w.Context(), w.payment(10).Key)
		require.NoError(w, err)
		require.NotNil(w, r.Reason)
		assert.Equal(w, payments.ReasonNotSigned, r.Reason.Code)
		assert.False(w, r.MayHaveLeft)
		synctest.Wait()
		w.Key.Fails = nil
		wait()
		w.assertPaid(6)
	})
}

// What one API or one operation refuses does not hold back other payments: the app API has a credential of its own, and
// a key without the scope for escrows may have the one for payouts.
func TestRefusalsStopOnlyTheirOwnPayments(t *testing.T) {
	for name, c := range map[string]struct {
		refused func(n int, contact string, w *world) payments.Submission
		path    string
		fault   sandbox.Fault
	}{
		"the app API's key": {
			func(n int, contact string, _ *world) payments.Submission {
				return payments.TransferPayment{Key: moneymovement.DeriveKey("transfer", fmt.Sprint(n)),
					To: appapi.ToContact{ContactID: contact, Amount: amount("1.5")}}
			},
			"/apps/transfer", sandbox.Respond(http.StatusForbidden, "forbidden"),
		},
		"a scope": {
			func(n int, _ string, w *world) payments.Submission {
				return payments.EscrowPayment{Key: moneymovement.DeriveKey("escrow", fmt.Sprint(n)), Account: w.account,
					Escrow: newEscrow()}
			},
			"/escrow", sandbox.Respond(http.StatusForbidden, "forbidden").
				WithDetails(map[string]any{"requiredScope": "escrow", "scope": []string{"payouts"}}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				app, contact := w.app()
				armed := w.Host.Arm(http.MethodPost, c.path, c.fault.Times(1_000_000))
				p, err := payments.New(w.store, payments.IntegratorServices(w.platform()).WithTransfers(app),
					payments.Config{})
				require.NoError(w, err)
				_, err = p.Resume(w.Context())
				require.NoError(w, err)
				defer func() { require.NoError(w, p.Stop(context.Background())) }()
				var refused []moneymovement.Key
				for n := range 5 {
					refused = append(refused, w.submit(p, c.refused(n, contact, w)).Key)
				}
				time.Sleep(10 * time.Minute)
				for tried := armed.Consumed(); armed.Consumed() == tried; {
					time.Sleep(time.Second)
				}
				wait := w.all(p, 0, 10)
				began := time.Now()
				wait()
				assert.Less(w, time.Since(began), 30*time.Second, "payouts wait for what is refused")
				assert.Less(w, armed.Consumed(), 100, "refused calls in ten minutes")
				armed.Disarm()
				for _, key := range refused {
					w.becomes(p, key, moneymovement.PaymentCompleted)
				}
				w.assertPaid(10)
			})
		})
	}
}

// A partner of the service that is down for days refuses each booking. By the policy, a person must decide in the end.
func TestPartnerOutageOfDaysNeedsADecision(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Configure(func(s *sandbox.Settings) { s.PartnerDown = true })
		p := w.started(pollRarely)
		w.submit(p, w.payment(1))
		day, cancel := context.WithTimeout(w.Context(), 24*time.Hour)
		defer cancel()
		r, err := p.Await(day, w.payment(1).Key, moneymovement.PaymentNeedsDecision)
		require.NoError(w, err, "%s after %d calls, with %d refusals", r.State, r.Calls, r.Refusals)
		assert.Equal(w, payments.ReasonRefusalsUsedUp, r.Reason.Code)
		assert.Equal(w, errors.CodeProviderUnavailable, r.Reason.Slug)
		assert.False(w, r.MayHaveLeft)
		w.Configure(func(s *sandbox.Settings) { s.PartnerDown = false })
		w.decide(p, r.Key, payments.Retry())
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
	})
}
