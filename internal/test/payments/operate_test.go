package payments_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/fleet"
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
		w.waitQuietly()
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
		as[*payments.NotResumable](w, err)

		p = w.processor()
		_, err = p.Resume(w.Context())
		require.NoError(w, err)
		_, err = p.Resume(w.Context())
		as[*payments.NotResumable](w, err)
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { assert.NoError(w, p.Stop(w.Context())) })
		}
		all.Wait()
		w.submit(p, w.payment(1)) // stored, for the next process
		w.waitQuietly()
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
		store.failing(func(method string, _ int) bool { return method == "Postpone" })
		w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(time.Hour) })
		p, err := payments.New(store, payments.IntegratorServices(w.platform()),
			payments.Config{PollEvery: 24 * time.Hour})
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
func TestWatchDeliversEveryChange(t *testing.T) {
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
func TestEndedAwaitSaysWhatItWaitsFor(t *testing.T) {
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

// If no process pays, only the processes that submit can say so.
func TestMissingProcessorIsReported(t *testing.T) {
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
		store.failing(func(string, int) bool { return true })
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
		store.failing(func(string, int) bool { return true })
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

// A payment that is refused is not made, and somebody must learn of it. One that a person canceled surprises nobody.
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

// fields is a log that keeps the names of the fields of its records. Those of a group begin with its name.
type fields struct {
	mu   sync.Mutex
	seen map[string]bool
}

func (f *fields) Enabled(context.Context, slog.Level) bool { return true }
func (f *fields) WithAttrs([]slog.Attr) slog.Handler {
	panic("the SDK logs each field with its record")
}
func (f *fields) WithGroup(string) slog.Handler { panic("the SDK logs each field with its record") }

func (f *fields) Handle(_ context.Context, r slog.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Attrs(func(a slog.Attr) bool { f.add("", a); return true })
	return nil
}

func (f *fields) add(prefix string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		f.seen[prefix+a.Key] = true
		return
	}
	for _, inner := range value.Group() {
		f.add(prefix+a.Key+".", inner)
	}
}

// announcing is a service that announces the end of its operations, and its limits.
type announcing struct{ next http.RoundTripper }

func (a announcing) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.next.RoundTrip(r)
	if err == nil {
		for name, value := range map[string]string{"Deprecation": "@1688169599",
			"Sunset":    "Sun, 30 Jun 2030 23:59:59 GMT",
			"Link":      `<https://docs.example/old>; rel="deprecation"`,
			"RateLimit": `"reads";r=9`, "RateLimit-Policy": `"reads";q=600;w=60`} {
			response.Header.Set(name, value)
		}
	}
	return response, err
}

// The tables of docs/operations.md have each field that a client and a processor log, and no other one.
func TestThePageHasEachFieldOfTheLog(t *testing.T) {
	ofClient, ofPayments := &fields{seen: map[string]bool{}}, &fields{seen: map[string]bool{}}
	calls := moneymovement.WithLogger(slog.New(ofClient))
	notes := func(c *payments.Config) { c.Logger = slog.New(ofPayments) }
	for name, happens := range map[string]func(*world){
		"calls that fail, and are repeated": func(w *world) {
			account := w.platform(calls).For(w.account)
			w.Host.Arm(http.MethodPost, "/payouts", sandbox.Respond(503, "provider_unavailable"))
			w.Host.Arm(http.MethodPost, "/payouts", sandbox.DropBefore())
			_, err := account.Payouts.Pay(w.Context(), w.payment(1).Payout, "invoice-1", dapi.PayTerms{})
			require.NoError(w, err)
		},
		"a refusal that the program logs": func(w *world) {
			w.Host.Arm(http.MethodPost, "/payouts", sandbox.Respond(422, "validation_failed").
				WithDetails(map[string]any{"fields": []any{map[string]any{"field": "amount", "code": "decimal_type"}}}))
			account := w.platform().For(w.account)
			payment, _ := account.Payouts.Pay(w.Context(), w.payment(1).Payout, "invoice-1", dapi.PayTerms{})
			slog.New(ofClient).Error("not paid", "refusal", payment.Refusal)
		},
		"a bank account without what its method probably needs": func(w *world) {
			_, err := w.platform(calls).Self().Contacts.Create(w.Context(), dapi.ContactCreate{Name: "Bob",
				Account: dapi.SEPA(dapi.BankFields{AccountHolderName: "Bob Roe"})})
			require.NoError(w, err)
		},
		"a session that ends": func(w *world) {
			own := w.platform(calls).Self()
			w.Host.Arm(http.MethodGet, "/transactions", sandbox.ExpireToken())
			w.Host.Arm(http.MethodPost, "/auth/refresh", sandbox.Respond(http.StatusForbidden, "forbidden"))
			for range 2 {
				_, err := own.Transactions.List(w.Context(), dapi.ListTransactionsParams{})
				require.NoError(w, err)
			}
		},
		"a response that is not as described": func(w *world) {
			w.Host.Arm(http.MethodGet, "/chains", sandbox.Respond(http.StatusOK, "").
				WithBody(`{"items":[{"chainId":8453,"name":7}]}`).WithHeader("Content-Type", "application/json"))
			_, _ = w.platform(calls).Self().Chains.List(w.Context(), dapi.ListChainsParams{})
		},
		"an operation that is deprecated": func(w *world) {
			announces := moneymovement.WithTransport(func(next http.RoundTripper) http.RoundTripper {
				return announcing{next}
			})
			_, err := w.platform(calls, announces).Self().Chains.List(w.Context(), dapi.ListChainsParams{})
			require.NoError(w, err)
		},
		"a window that is full": func(w *world) {
			own := w.platform(calls).Self()
			for began := time.Now(); time.Since(began) < time.Second; {
				_, err := own.Transactions.List(w.Context(), dapi.ListTransactionsParams{})
				require.NoError(w, err)
			}
		},
		"clocks that differ": func(w *world) {
			w.Host.Advance(10 * time.Minute)
			_, err := w.platform(calls).Self().Transactions.List(w.Context(), dapi.ListTransactionsParams{})
			require.NoError(w, err)
		},
		"a payment that is not made in time": func(w *world) {
			w.Host.Arm(http.MethodPost, "/payouts", sandbox.DropBefore().Times(1_000_000))
			w.submit(w.started(notes), w.payment(1))
			time.Sleep(25 * time.Hour)
		},
		"a store that was restored": func(w *world) {
			require.NoError(w, w.store.MarkRestored(w.Context(), time.Now()))
			w.started(notes)
		},
		"a decision": func(w *world) {
			p := w.started(notes)
			w.submit(p, w.dear(1))
			w.becomes(p, w.dear(1).Key, moneymovement.PaymentNeedsDecision)
			w.decide(p, w.dear(1).Key, payments.Cancel("a mistake").By("ops@example.com"))
		},
		"a store that is away": func(w *world) {
			store := watch(w.store)
			w.store = store
			p := w.started(notes)
			store.failing(func(string, int) bool { return true })
			time.Sleep(time.Minute)
			store.failing(nil)
			time.Sleep(10 * time.Minute)
			w.submit(p, w.payment(1))
			w.becomes(p, w.payment(1).Key, moneymovement.PaymentCompleted)
		},
	} {
		t.Run(name, func(t *testing.T) { inBubble(t, happens) })
	}

	page, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "\n## The log\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	tables := strings.Split(section, "\n| Field |")[1:]
	require.Len(t, tables, 2)
	for i, seen := range []map[string]bool{ofClient.seen, ofPayments.seen} {
		var stated []string
		for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(tables[i], -1) {
			for _, name := range strings.Split(row[1], ", ") {
				stated = append(stated, strings.Trim(name, "`"))
			}
		}
		assert.ElementsMatch(t, slices.Collect(maps.Keys(seen)), stated, "the fields that were logged, and the page's")
	}

	// What the code can log was logged above.
	logs := regexp.MustCompile(`(?:slog\.\w+|Milliseconds)\("(\w+)"`)
	for folder, seen := range map[string]map[string]bool{
		"dapi": ofClient.seen, "internal/transport": ofClient.seen, "payments": ofPayments.seen,
	} {
		files, err := filepath.Glob("../../../" + folder + "/*.go")
		require.NoError(t, err)
		require.NotEmpty(t, files)
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			code, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, named := range logs.FindAllStringSubmatch(string(code), -1) {
				name := named[1]
				if strings.HasPrefix(named[0], "Milliseconds") {
					name += "Ms"
				}
				logged := seen[name] || slices.ContainsFunc(slices.Collect(maps.Keys(seen)),
					func(of string) bool { return strings.HasPrefix(of, name+".") })
				assert.True(t, logged, "%s logs %s: let it happen in this test", file, name)
			}
		}
	}
}

// An older program leaves a newer payment alone, also when it is asked to make its step.
func TestAStepOfANewerPayment(t *testing.T) {
	inBubble(t, func(w *world) {
		p := w.processor()
		newer, err := p.Prepare(w.Context(), w.payment(0))
		require.NoError(w, err)
		newer.Needs = payments.RecordVersion + 1
		stored, _, err := w.store.Insert(w.Context(), newer)
		require.NoError(w, err)
		time.Sleep(time.Minute)
		_, err = p.Step(w.Context(), newer.Key)
		assert.True(w, as[*payments.Unreadable](w, err).Newer)
		left, err := w.store.Load(w.Context(), newer.Key)
		require.NoError(w, err)
		assert.Equal(w, stored.Due, left.Due)
		assert.Equal(w, stored.Position, left.Position)
		assert.Zero(w, w.Sent("BookPayout"))
	})
}
