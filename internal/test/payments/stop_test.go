package payments_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestStopFinishesWhatIsUnderWay(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor()
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		w.onConfirm(sandbox.Delay(5 * time.Second).Times(3))
		for n := range 3 {
			w.submit(p, w.payment(n))
		}
		time.Sleep(2 * time.Second)
		began := time.Now()
		stopping, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		require.NoError(w, p.Stop(stopping))
		assert.Less(w, time.Since(began), 10*time.Second)
		for n := range 3 {
			r, err := p.Get(w.Context(), w.payment(n).Key)
			require.NoError(w, err)
			assert.Equal(w, moneymovement.PaymentPaid, r.State)
		}
		requests := len(w.Host.Requests())
		w.aWhile()
		assert.Len(w, w.Host.Requests(), requests, "requests after Stop")
		w.assertPaid(3)
	})
}

func TestStopLeavesWhatTakesTooLong(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor()
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		w.onConfirm(sandbox.Delay(30 * time.Second).Times(2))
		keys := []moneymovement.Key{w.submit(p, w.payment(1)).Key, w.submit(p, w.payment(2)).Key}
		slices.Sort(keys)
		time.Sleep(2 * time.Second)
		began := time.Now()
		stopping, cancel := context.WithTimeout(w.Context(), 3*time.Second)
		defer cancel()
		unfinished := as[*payments.Unfinished](w, p.Stop(stopping))
		assert.Equal(w, keys, unfinished.Keys)
		require.ErrorIs(w, unfinished, context.DeadlineExceeded)
		assert.LessOrEqual(w, time.Since(began), 4*time.Second)
		for _, key := range keys {
			r, err := p.Get(w.Context(), key)
			require.NoError(w, err)
			assert.True(w, r.MayHaveLeft)
		}
		next := w.started()
		for _, key := range keys {
			w.becomes(next, key, moneymovement.PaymentCompleted)
		}
		w.assertPaid(2)
	})
}

func TestStopAndResumeInEachOrder(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor()
		require.NoError(w, p.Stop(w.Context()), "without Resume")
		require.NoError(w, p.Stop(w.Context()), "twice")
		_, err := p.Resume(w.Context())
		as[*payments.NotRunning](w, err)

		p = w.processor()
		_, err = p.Resume(w.Context())
		require.NoError(w, err)
		_, err = p.Resume(w.Context())
		as[*payments.NotRunning](w, err)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { assert.NoError(w, p.Stop(w.Context())) })
		}
		all.Wait()
		w.submit(p, w.payment(1)) // stored, for the next process
		w.aWhile()
		w.assertPaid(0)
		next := w.processor()
		found, err := next.Resume(w.Context())
		require.NoError(w, err)
		assert.Equal(w, map[moneymovement.PaymentState]int{moneymovement.PaymentAccepted: 1}, found.ByState)
		w.becomes(next, w.payment(1).Key, moneymovement.PaymentCompleted)
		w.assertPaid(1)
		require.NoError(w, next.Stop(w.Context()))
	})
}

// The end of the context of Resume does not end the work, and Stop with a context that has ended returns at once.
func TestContextsOfResumeAndStop(t *testing.T) {
	inBubble(t, func(w *world) {
		ctx, cancel := context.WithCancel(w.Context())
		p := w.processor()
		_, err := p.Resume(ctx)
		require.NoError(w, err)
		cancel()
		w.submit(p, w.payment(1))
		w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		w.onConfirm(sandbox.Delay(time.Hour))
		w.submit(p, w.payment(2))
		time.Sleep(time.Second)
		began := time.Now()
		as[*payments.Unfinished](w, p.Stop(ctx))
		assert.LessOrEqual(w, time.Since(began), time.Second)
	})
}

// A processor that polls rarely stops as fast as another one, also after a step that failed.
func TestStopDoesNotWaitForThePoll(t *testing.T) {
	inBubble(t, func(w *world) {
		store := watch(w.store)
		store.failing(func(method string, _ int) failure {
			if method == "Postpone" {
				return before
			}
			return fine
		})
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		p, err := payments.New(store, payments.Integrator(w.platform()), payments.Config{PollEvery: 24 * time.Hour})
		require.NoError(w, err)
		_, err = p.Resume(w.Context())
		require.NoError(w, err)
		w.submit(p, w.payment(1))
		time.Sleep(time.Minute)
		began := time.Now()
		require.NoError(w, p.Stop(w.Context()))
		assert.Less(w, time.Since(began), time.Minute)
	})
}

// No change is left out, over restarts of the reader and of the processors.
func TestWatchLeavesNothingOut(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Host.Arm(http.MethodPost, confirmPath, sandbox.DropAfterCommit().Times(7))
		var position payments.Position
		seen := map[moneymovement.Key]moneymovement.PaymentState{}
		positions := map[payments.Position]bool{}
		for round := range 5 {
			p := w.started()
			for n := range 6 {
				w.submit(p, w.payment(round*10+n))
			}
			read := 0
			for r, err := range p.Watch(w.Context(), position) {
				require.NoError(w, err)
				assert.False(w, positions[r.Position], "a position came twice")
				positions[r.Position], position, seen[r.Key] = true, r.Position, r.State
				if read++; read == 4+round {
					break // the reader dies
				}
			}
			require.NoError(w, p.Stop(w.Context()))
		}
		p := w.started()
		waiting, cancel := context.WithTimeout(w.Context(), time.Hour)
		defer cancel()
		for r, err := range p.Watch(waiting, position) {
			if err != nil {
				require.ErrorIs(w, err, context.DeadlineExceeded)
				break
			}
			seen[r.Key] = r.State
		}
		assert.Len(w, seen, 30)
		for key, state := range seen {
			assert.Equal(w, moneymovement.PaymentCompleted, state, key)
		}
		w.assertPaid(30)
	})
}

// hooks records what a processor says of itself.
type hooks struct {
	mu      sync.Mutex
	changes []payments.ChangeMetrics
	steps   []payments.StepMetrics
	loads   []payments.LoadMetrics
	begun   []payments.StepTrace
	ended   []payments.StepResult
	traces  []string
}

func (h *hooks) with(f func()) { h.mu.Lock(); defer h.mu.Unlock(); f() }

func (h *hooks) Changed(_ context.Context, c payments.ChangeMetrics) {
	h.with(func() { h.changes = append(h.changes, c) })
}

func (h *hooks) Stepped(_ context.Context, s payments.StepMetrics) {
	h.with(func() { h.steps = append(h.steps, s) })
}

func (h *hooks) Load(_ context.Context, l payments.LoadMetrics) {
	h.with(func() { h.loads = append(h.loads, l) })
}

func (h *hooks) Submitted(_ context.Context, key moneymovement.Key) string {
	return "trace of " + string(key)
}

func (h *hooks) Step(
	ctx context.Context, trace string, s payments.StepTrace,
) (context.Context, func(payments.StepResult)) {
	h.with(func() { h.begun, h.traces = append(h.begun, s), append(h.traces, trace) })
	return ctx, func(r payments.StepResult) { h.with(func() { h.ended = append(h.ended, r) }) }
}

func TestHooksAreCalled(t *testing.T) {
	inBubble(t, func(w *world) {
		h, log := &hooks{}, &bytes.Buffer{}
		hooked := func(c *payments.Config) {
			c.Metrics, c.Tracer, c.LoadEvery = h, h, time.Second
			c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		}
		dead := w.processor(hooked)
		r := w.submit(dead, w.payment(1))
		require.NoError(w, dead.Stop(w.Context()))
		p := w.processor(hooked)
		_, err := p.Resume(w.Context())
		require.NoError(w, err)
		w.becomes(p, r.Key, moneymovement.PaymentCompleted)
		time.Sleep(3 * time.Second)
		require.NoError(w, p.Stop(w.Context()))
		synctest.Wait()

		var states []string
		for _, c := range h.changes {
			states = append(states, fmt.Sprintf("%s %s>%s", c.Account, c.From, c.To))
			assert.Equal(w, payments.KindPayout, c.Kind)
			assert.GreaterOrEqual(w, c.Age, time.Duration(0))
		}
		account := string(w.account)
		assert.Equal(w, []string{account + " >accepted", account + " accepted>paying", account + " paying>paid",
			account + " paid>completed"}, states)
		require.NotEmpty(w, h.steps)
		assert.Equal(w, "pay", h.steps[0].Step)
		assert.Equal(w, moneymovement.PaymentPaid, h.steps[0].Outcome)
		assert.Equal(w, moneymovement.PaymentCompleted, h.steps[len(h.steps)-1].Outcome)
		assert.Len(w, h.ended, len(h.begun))
		assert.Len(w, h.steps, len(h.begun))
		for _, trace := range h.traces {
			assert.Equal(w, "trace of "+string(r.Key), trace)
		}
		require.GreaterOrEqual(w, len(h.loads), 2)
		assert.Equal(w, map[moneymovement.PaymentState]int{moneymovement.PaymentCompleted: 1},
			h.loads[len(h.loads)-1].ByState)
		assert.Zero(w, h.loads[len(h.loads)-1].InFlight)
		assert.Zero(w, h.loads[len(h.loads)-1].Following)
		assert.Contains(w, log.String(), "payment is completed")
		w.assertSilent(log.String())
	})
}

// A wait that its context ends says for what the payment waits.
func TestAnAwaitThatEndsSaysWhy(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor()
		w.submit(p, w.payment(1))
		minute, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		r, err := p.Await(minute, w.payment(1).Key)
		require.ErrorIs(w, err, context.DeadlineExceeded)
		require.ErrorContains(w, err, "is still accepted (no process has begun it: call Resume")
		assert.Equal(w, moneymovement.PaymentAccepted, r.State)
		w.Configure(func(s *sandbox.Settings) { s.PartnerDown = true })
		_, err = p.Resume(w.Context())
		require.NoError(w, err)
		later, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		_, err = p.Await(later, w.payment(1).Key)
		require.ErrorContains(w, err, "the last call: BookPayout: 503 provider_unavailable")
		_, err = p.Await(w.Context(), w.payment(1).Key, "complete")
		as[*errors.InvalidInput](w, err)
		require.NoError(w, p.Stop(w.Context()))
	})
}
