package payments

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// load reports what there is to do, from New to Stop: also in a process that is not resumed, because nobody else
// reports that no process is.
type load struct {
	p     *Processor
	end   context.CancelFunc
	over  chan struct{}
	calls atomic.Int64 // that wait for room in a rate window

	mu   sync.Mutex
	late map[moneymovement.Key]time.Time // payments that are late, and when another process may have them
}

func newLoad(p *Processor) *load {
	l := &load{p: p, late: map[moneymovement.Key]time.Time{}, over: make(chan struct{})}
	if _, none := p.config.Metrics.(noMetrics); none {
		l.end = func() {}
		close(l.over)
		return l
	}
	var ctx context.Context
	ctx, l.end = context.WithCancel(context.Background())
	go l.run(ctx)
	return l
}

func (l *load) stop() { l.end(); <-l.over }

func (l *load) run(ctx context.Context) {
	defer close(l.over)
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
	l.p.outage.noted(ctx, "it cannot be counted", err)
	now := l.p.config.Now()
	of := LoadMetrics{ByState: summary.ByState, Waiting: int(l.calls.Load()), Late: l.count(now),
		StoreFailures: l.p.outage.failures()}
	if err == nil && of.ByState == nil {
		of.ByState = map[moneymovement.PaymentState]int{}
	}
	if !summary.OldestDue.IsZero() {
		of.Overdue = max(now.Sub(summary.OldestDue), 0)
	}
	r := l.p.runner
	r.mu.Lock()
	of.InFlight, of.Following = len(r.running)-r.looks, r.looks
	r.mu.Unlock()
	of.PausedFor = max(r.paused.untilAll().Sub(now), 0)
	l.p.config.Metrics.Load(ctx, of)
}

// note says once that a payment is not made in time.
func (l *load) note(ctx context.Context, r *Record, now time.Time) {
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

// count returns how many payments of this process are late. Another process may have gone on with one.
func (l *load) count(now time.Time) int {
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
	logger *slog.Logger
	mu     sync.Mutex
	since  time.Time // zero while the store works
	last   time.Time // when a call last failed
	now    int       // calls that failed in this outage
	all    int64     // calls that failed
}

// outageEnds is how long no call must fail until an outage is over: some calls can work while others fail.
const outageEnds = time.Minute

// noted notes how a call of the store ended. A store that works also returns errors: that the payment is busy or not
// there, or that the caller has ended the call.
func (o *outage) noted(ctx context.Context, what string, err error) {
	if err != nil && (ctx.Err() != nil || answered(err)) {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	at := time.Now()
	if err == nil {
		if !o.since.IsZero() && at.Sub(o.last) >= outageEnds {
			o.logger.LogAttrs(ctx, slog.LevelInfo, "payments: the store works again",
				slog.Int("failures", o.now), transport.Milliseconds("after", o.last.Sub(o.since)))
			o.since, o.now = time.Time{}, 0
		}
		return
	}
	o.last = at
	o.now++
	o.all++
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
	return o.all
}

// answered reports an error with which a store that works responds.
func answered(err error) bool {
	_, lost := errors.AsType[*LeaseLost](err)
	_, busy := errors.AsType[*CallInProgress](err)
	_, missing := errors.AsType[*NotFound](err)
	return lost || busy || missing
}
