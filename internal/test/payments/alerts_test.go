package payments_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/fleet"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// logged is a log that can be read while a processor writes.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.text.String() }

// observed are settings that keep what a processor says.
func observed(h *hooks, log *logged) func(*payments.Config) {
	return func(c *payments.Config) {
		c.Metrics = h
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	}
}

func (h *hooks) last(w *world) (last payments.LoadMetrics) {
	w.Helper()
	h.with(func() {
		require.NotEmpty(w, h.loads)
		last = h.loads[len(h.loads)-1]
	})
	return last
}

// If no process pays, nobody but those that submit can say so.
func TestWorkThatNobodyDoesIsReported(t *testing.T) {
	inBubble(t, func(w *world) {
		h := &hooks{}
		p := w.processor(observed(h, &logged{}))
		w.submit(p, w.payment(1))
		time.Sleep(time.Hour)
		assert.Greater(w, h.last(w).Overdue, 59*time.Minute)
		require.NoError(w, p.Stop(w.Context()))
	})
}

// An outage of the store is one warning and a count, however many calls fail, and its end is a line.
func TestAnOutageOfTheStoreIsOneWarning(t *testing.T) {
	inBubble(t, func(w *world) {
		h, log := &hooks{}, &logged{}
		store := watch(w.store)
		w.store = store
		p := w.started(observed(h, log))
		for n := range 10 {
			w.submit(p, w.payment(n))
		}
		store.failing(func(string, int) failure { return before })
		time.Sleep(10 * time.Minute)
		assert.Equal(w, 1, strings.Count(log.String(), "level=WARN"), log.String())
		assert.Contains(w, log.String(), "the store fails")
		assert.Nil(w, h.last(w).ByState)
		assert.Greater(w, h.last(w).StoreFailures, int64(100))
		store.failing(nil)
		for n := range 10 {
			w.becomes(p, w.payment(n).Key, moneymovement.PaymentCompleted)
		}
		time.Sleep(10 * time.Minute) // for a report of all failures
		failed := h.last(w).StoreFailures
		time.Sleep(10 * time.Minute)
		assert.Equal(w, failed, h.last(w).StoreFailures)
		store.failing(func(string, int) failure { return before })
		time.Sleep(time.Minute)
		assert.Equal(w, 2, strings.Count(log.String(), "level=WARN"), "the next outage is another one")
		store.failing(nil)
		w.assertPaid(10)
	})
}

// A payment that is not made in time is a warning with the reason, and a number, until it is made.
func TestAPaymentThatIsNotMadeInTime(t *testing.T) {
	inBubble(t, func(w *world) {
		h, log := &hooks{}, &logged{}
		down := w.Host.Arm(http.MethodPost, "/payouts", sandbox.DropBefore().Times(1_000_000))
		p := w.started(observed(h, log))
		w.submit(p, w.payment(1))
		time.Sleep(50 * time.Minute)
		assert.Zero(w, h.last(w).Late)
		assert.Empty(w, log.String())
		time.Sleep(23 * time.Hour)
		assert.Equal(w, 1, h.last(w).Late)
		assert.Equal(w, 1, strings.Count(log.String(), "is not made in time"), log.String())
		assert.Contains(w, log.String(), "reason=")
		down.Disarm()
		w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		time.Sleep(time.Minute)
		assert.Zero(w, h.last(w).Late)
		w.assertPaid(1)
	})
}

// A payment that is refused is not made, and somebody must learn of it. One that a person has canceled is no surprise.
func TestARefusedPaymentIsAWarning(t *testing.T) {
	inBubble(t, func(w *world) {
		log := &logged{}
		p := w.started(observed(&hooks{}, log))
		late := w.payment(1)
		late.Deadline = time.Now().Add(-time.Minute)
		w.submit(p, late)
		w.becomes(p, late.Key, moneymovement.PaymentRefused)
		assert.Equal(w, 1, strings.Count(log.String(), `level=WARN msg="payment is refused"`), log.String())
		w.submit(p, w.dear(2))
		w.becomes(p, w.dear(2).Key, moneymovement.PaymentNeedsDecision)
		w.decide(p, w.dear(2).Key, payments.Cancel("a mistake"))
		assert.Equal(w, 1, strings.Count(log.String(), `level=WARN msg="payment is refused"`), log.String())
	})
}

// A payment that waits for room in a rate window says so, and until when, whoever keeps the window.
func TestAPaymentThatWaitsForItsWindowSaysSo(t *testing.T) {
	t.Run("the client", func(t *testing.T) { inBubble(t, (*world).waitsForItsWindow) })
	t.Run("a fleet", func(t *testing.T) {
		inBubble(t, func(w *world) {
			shared, err := fleet.NewLimiter(new(fleet.Memory), "credential")
			require.NoError(w, err)
			w.options = []moneymovement.Option{moneymovement.WithRateLimiter(shared)}
			w.waitsForItsWindow()
		})
	})
}

func (w *world) waitsForItsWindow() {
	h := &hooks{}
	p := w.started(observed(h, &logged{}), func(c *payments.Config) { c.LoadEvery = time.Second })
	for n := range 150 {
		small := w.payment(n)
		small.Payout.Amount = amount("1")
		w.submit(p, small)
	}
	time.Sleep(20 * time.Second)
	waiting := 0
	for r, err := range p.List(w.Context(),
		payments.ListParams{States: []moneymovement.PaymentState{moneymovement.PaymentPaying}}) {
		require.NoError(w, err)
		if r.WaitsFor == "" {
			continue
		}
		waiting++
		assert.Equal(w, "room in the rate window writes", r.WaitsFor)
		assert.Greater(w, time.Until(r.WaitsUntil), time.Duration(0))
		assert.Less(w, time.Until(r.WaitsUntil), 2*time.Minute)
	}
	assert.Positive(w, waiting)
	assert.Equal(w, waiting, h.last(w).Waiting)
	for n := range 150 {
		w.becomes(p, w.payment(n).Key, moneymovement.PaymentCompleted)
	}
	for r, err := range p.List(w.Context(), payments.ListParams{}) {
		require.NoError(w, err)
		assert.Empty(w, r.WaitsFor)
		assert.Zero(w, r.WaitsUntil)
	}
	assert.Zero(w, h.last(w).Waiting)
	w.assertPaid(150)
}
