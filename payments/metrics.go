package payments

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Metrics receives what a processor counts. Its methods must be fast and safe for concurrent use, and must not panic:
// as in your own goroutines, a panic ends the process. Module otel has one for OpenTelemetry.
type Metrics interface {
	// Changed is called after a payment's state was stored, and after the first time.
	Changed(ctx context.Context, change ChangeMetrics)
	// Stepped is called after each step: a call that pays, a read of a paid payment, a search.
	Stepped(ctx context.Context, step StepMetrics)
	// Load is called every Config.LoadEvery from [New] to [Processor.Stop], also if the processor is not resumed.
	Load(ctx context.Context, load LoadMetrics)
}

// ChangeMetrics describes a change of state. The names are few: use them as labels. Account has as many values as you
// have clients.
type ChangeMetrics struct {
	Kind     Kind
	Account  dapi.ClientID
	From, To moneymovement.PaymentState // From is empty for a new payment
	Reason   ReasonCode                 // empty without a reason
	Age      time.Duration              // since the payment was accepted
}

// StepMetrics describes one step.
type StepMetrics struct {
	Kind    Kind
	Step    string                     // pay, follow or search
	Outcome moneymovement.PaymentState // the result of the step; not_paid if nothing was paid and the payment goes on
	Took    time.Duration              // the whole step
	Queued  time.Duration              // the part of its last call that waited for room in a rate window
}

// LoadMetrics describes what a processor has to do.
type LoadMetrics struct {
	InFlight  int           // calls that pay, under way in this process
	Waiting   int           // those of them that wait for room in a rate window, for more than a few seconds
	Following int           // reads of paid payments under way in this process
	Overdue   time.Duration // for how long the oldest work has been due; zero if that cannot be read now
	Late      int           // payments of this process that are not made in time: see Policy.Late
	PausedFor time.Duration // for how long an API gets no calls, because it said so or refuses the credential
	// ByState is how many payments of the whole store are in each state; nil if that cannot be counted now.
	ByState map[moneymovement.PaymentState]int
	// StoreFailures is how many calls of the store have failed in this process. It only rises.
	StoreFailures int64
}

// Tracer keeps the spans of a payment together, over restarts and processes. Module otel has one for
// OpenTelemetry.
type Tracer interface {
	// Submitted returns what identifies the trace of the submitting context, as text that is stored with the payment,
	// such as a W3C traceparent. Empty means that there is no trace.
	Submitted(ctx context.Context, key moneymovement.Key) string
	// Step begins a span for a step of a payment with this stored text. The returned context is that of the step's
	// calls. end is called when the step has ended.
	Step(ctx context.Context, trace string, step StepTrace) (stepped context.Context, end func(StepResult))
}

// StepTrace describes a step that begins.
type StepTrace struct {
	Key   moneymovement.Key
	Kind  Kind
	State moneymovement.PaymentState
	Step  string // pay, follow or search
	Calls int    // the calls that were begun before
}

// StepResult describes a step that has ended.
type StepResult struct {
	State   moneymovement.PaymentState
	Outcome moneymovement.PaymentState // as in StepMetrics
	Reason  *Reason                    // nil if there is nothing to say
}

// noMetrics and noTracer stand in for hooks that are not set.
type noMetrics struct{}

// Changed implements [Metrics].
func (noMetrics) Changed(context.Context, ChangeMetrics) {}

// Stepped implements [Metrics].
func (noMetrics) Stepped(context.Context, StepMetrics) {}

// Load implements [Metrics].
func (noMetrics) Load(context.Context, LoadMetrics) {}

type noTracer struct{}

// Submitted implements [Tracer].
func (noTracer) Submitted(context.Context, moneymovement.Key) string { return "" }

// Step implements [Tracer].
func (noTracer) Step(ctx context.Context, _ string, _ StepTrace) (context.Context, func(StepResult)) {
	return ctx, func(StepResult) {}
}

// load reports what there is to do, from New to Stop. A process that is not resumed reports it, too: otherwise nobody
// would if no process is.
type load struct {
	p            *Processor
	end          context.CancelFunc
	done         chan struct{}
	waitingCalls atomic.Int64 // that wait for room in a rate window

	mu   sync.Mutex
	late map[moneymovement.Key]time.Time // payments that are late, and when another process may have them
}

func newLoad(p *Processor) *load {
	l := &load{p: p, late: map[moneymovement.Key]time.Time{}, done: make(chan struct{})}
	if _, none := p.config.Metrics.(noMetrics); none {
		l.end = func() {}
		close(l.done)
		return l
	}
	var ctx context.Context
	ctx, l.end = context.WithCancel(context.Background())
	go l.run(ctx)
	return l
}

func (l *load) stop() { l.end(); <-l.done }

func (l *load) run(ctx context.Context) {
	defer close(l.done)
	ticker := time.NewTicker(l.p.config.LoadEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.report(ctx)
		}
	}
}

func (l *load) report(ctx context.Context) {
	summary, err := l.p.store.Summary(ctx)
	if ctx.Err() != nil {
		return
	}
	l.p.outage.record(ctx, "it cannot be counted", err)
	now := l.p.config.Now()
	of := LoadMetrics{ByState: summary.ByState, Waiting: int(l.waitingCalls.Load()), Late: l.countLate(now),
		StoreFailures: l.p.outage.failures()}
	if err == nil && of.ByState == nil {
		of.ByState = map[moneymovement.PaymentState]int{}
	}
	if !summary.OldestDue.IsZero() {
		of.Overdue = max(now.Sub(summary.OldestDue), 0)
	}
	r := l.p.runner
	r.mu.Lock()
	of.InFlight, of.Following = len(r.running)-r.follows, r.follows
	r.mu.Unlock()
	of.PausedFor = max(r.paused.untilAll().Sub(now), 0)
	l.p.config.Metrics.Load(ctx, of)
}

// noteLate says once that a payment is not made in time.
func (l *load) noteLate(ctx context.Context, r *Record, now time.Time) {
	open := r.State == moneymovement.PaymentAccepted || r.State == moneymovement.PaymentPaying ||
		r.State == moneymovement.PaymentInDoubt
	l.mu.Lock()
	defer l.mu.Unlock()
	if !open || now.Sub(r.AcceptedAt) < l.p.config.Policy.Late {
		delete(l.late, r.Key)
		return
	}
	_, known := l.late[r.Key]
	l.late[r.Key] = later(now, r.Due).Add(l.p.config.Policy.RetryMax + l.p.config.StepTimeout)
	if known {
		return
	}
	attributes := []slog.Attr{slog.String("key", string(r.Key)), slog.String("account", string(r.Account)),
		slog.String("state", string(r.State)), slog.Int("calls", r.Calls), slog.Time("accepted", r.AcceptedAt)}
	if r.Reason != nil {
		attributes = append(attributes, slog.String("reason", string(r.Reason.Code)),
			slog.String("message", r.Reason.Message))
	}
	l.p.config.Logger.LogAttrs(ctx, slog.LevelWarn, "payments: a payment is not made in time", attributes...)
}

// countLate returns how many payments of this process are late. Another process may have gone on with one.
func (l *load) countLate(now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, until := range l.late {
		if now.After(until) {
			delete(l.late, key)
		}
	}
	return len(l.late)
}

// outage logs an outage of the store once, however many calls fail.
type outage struct {
	logger     *slog.Logger
	mu         sync.Mutex
	since      time.Time // zero while the store works
	last       time.Time // when a call last failed
	failed     int       // calls that failed in this outage
	failedEver int64     // calls that failed
}

// outageEnds is how long no call must fail until an outage is over: some calls can work while others fail.
const outageEnds = time.Minute

// record notes how a call of the store ended. A store that works also returns errors: that a call is being made for the
// payment or that it is not there, or that the caller has ended the call.
func (o *outage) record(ctx context.Context, what string, err error) {
	if err != nil && (ctx.Err() != nil || isResponse(err)) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	at := time.Now()
	if err == nil {
		if !o.since.IsZero() && at.Sub(o.last) >= outageEnds {
			o.logger.LogAttrs(ctx, slog.LevelInfo, "payments: the store works again",
				slog.Int("failures", o.failed), transport.Milliseconds("after", o.last.Sub(o.since)))
			o.since, o.failed = time.Time{}, 0
		}
		return
	}
	o.last = at
	o.failed++
	o.failedEver++
	level := slog.LevelDebug
	if o.since.IsZero() {
		o.since, level = at, slog.LevelWarn
	}
	o.logger.LogAttrs(ctx, level, "payments: the store fails: "+what, slog.Any("error", err))
}

// failures returns how many calls of the store have failed.
func (o *outage) failures() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failedEver
}

// isResponse reports an error with which a store that works responds.
func isResponse(err error) bool {
	_, leaseLost := errors.AsType[*LeaseLost](err)
	_, inProgress := errors.AsType[*CallInProgress](err)
	_, missing := errors.AsType[*NotFound](err)
	_, overCap := errors.AsType[*CapReached](err)
	return leaseLost || inProgress || missing || overCap
}
