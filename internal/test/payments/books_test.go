package payments_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// confirmPath is where a payout is confirmed.
const confirmPath = "/payouts/{payoutId}/confirm"

// inBubble runs a test with a world in which time passes when everything waits.
func inBubble(t *testing.T, test func(w *world), options ...sandbox.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, options...)
		w.settle = synctest.Wait
		test(w)
	})
}

// assertPaid checks that so many payouts were paid, each of them once.
func (w *world) assertPaid(payouts int) {
	w.Helper()
	moved := w.Moved("payout_funding")
	assert.Len(w, moved, payouts)
	for id, times := range moved {
		assert.Equal(w, 1, times, id)
	}
}

func (w *world) submit(p *payments.Processor, s payments.Submission) payments.Record {
	w.Helper()
	r, err := p.Submit(w.Context(), s)
	require.NoError(w, err)
	return r
}

// becomes waits until a payment is in a state. In a bubble, what the processor says of it is said then, too.
func (w *world) becomes(
	p *payments.Processor, key moneymovement.Key, state moneymovement.PaymentState,
) payments.Record {
	w.Helper()
	r, err := p.Await(w.Context(), key, moneymovement.PaymentNeedsDecision, moneymovement.PaymentRefused,
		moneymovement.PaymentCameBack, moneymovement.PaymentCompleted, state)
	require.NoError(w, err)
	require.Equal(w, state, r.State, "%+v", r.Reason)
	if w.settle != nil {
		w.settle()
	}
	return r
}

func (w *world) decide(p *payments.Processor, key moneymovement.Key, d payments.Decision) payments.Record {
	w.Helper()
	r, err := p.Decide(w.Context(), key, d)
	require.NoError(w, err)
	return r
}

func as[E error](t testing.TB, err error) E { t.Helper(); return worlds.As[E](t, err) }

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// aWhile is a time without events, for what must not happen.
func (w *world) aWhile() {
	time.Sleep(time.Hour)
	synctest.Wait()
}

// rarely lets a processor ask its store rarely: in a test that takes days, that is most of the work.
func rarely(c *payments.Config) { c.PollEvery, c.LoadEvery = 10*time.Minute, time.Hour }

// onConfirm makes the next confirms fail.
func (w *world) onConfirm(f sandbox.Fault) *sandbox.ArmedFault {
	return w.Host.Arm(http.MethodPost, confirmPath, f)
}

// assertSilent checks that no text has a secret.
func (w *world) assertSilent(text string) {
	w.Helper()
	for _, secret := range []string{"Bearer", "PRIVATE KEY", w.Host.Credentials().APIKey.Reveal()} {
		assert.NotContains(w, text, secret)
	}
}
