package payments_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

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
func TestABubbleAroundTheUsersCode(t *testing.T) {
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
		p, err := payments.New(payments.NewMemoryStore(), payments.SelfServe(account), payments.Config{})
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
