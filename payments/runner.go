package payments

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// runner makes the steps of all due payments, between Resume and Stop.
type runner struct {
	p      *Processor
	paused pauses
	wake   chan struct{} // holds one
	calls  context.Context
	end    context.CancelFunc // ends the calls
	stop   chan struct{}
	done   chan struct{} // closed when nothing runs any more

	mu      sync.Mutex
	started bool
	stopped bool
	running map[job]bool // whether it follows a paid payment
	follows int
	nextDue map[Work]time.Time // when the next work of a class may be due; absent if none is known
	pollAt  time.Time          // when to ask for the work of other processes
	rounds  int
}

// job is a step under way. A payment whose lease has ended can be claimed again while its last step still runs.
type job struct {
	key   moneymovement.Key
	epoch int64
}

func newRunner(p *Processor) *runner {
	return &runner{p: p, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{}),
		running: map[job]bool{}, nextDue: map[Work]time.Time{}}
}

// schedule notes that work is due at a time.
func (r *runner) schedule(work Work, due time.Time) {
	if work == WorkNone {
		return
	}
	r.mu.Lock()
	known, ok := r.nextDue[work]
	sooner := !ok || due.Before(known)
	if sooner {
		r.nextDue[work] = due
	}
	r.mu.Unlock()
	if sooner {
		r.wakeUp()
	}
}

// Resume continues with the payments that are stored, and makes those that are submitted from now on. It returns at
// once, with a summary of what is stored. The work ends with [Processor.Stop], and not with ctx.
//
// A processor is resumed once. Afterwards, and after Stop, the error is *[NotResumable]. Without services, it is
// *errors.InvalidInput. A payment that the services cannot make, such as a transfer without the app API, is put off by
// Policy.RetryMax, also for other processes: give all processes that call Resume the same services.
func (p *Processor) Resume(ctx context.Context) (Summary, error) {
	if err := p.ready(ctx, "Resume"); err != nil {
		return Summary{}, err
	}
	if p.services.account == nil && p.services.transfers == nil {
		return Summary{}, invalid("Resume", "services", errors.FieldMissing,
			"are empty: make the processor with IntegratorServices or SelfServeServices, or do not call Resume")
	}
	summary, err := p.store.Summary(ctx)
	if err != nil {
		return Summary{}, err
	}
	r := p.runner
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.started || r.stopped {
		return Summary{}, &NotResumable{}
	}
	r.started = true
	r.calls, r.end = context.WithCancel(context.WithoutCancel(ctx))
	p.config.Logger.LogAttrs(ctx, slog.LevelInfo, "payments resume", slog.Any("byState", summary.ByState))
	if !summary.RestoredFrom.IsZero() {
		p.config.Logger.LogAttrs(ctx, slog.LevelWarn, "payments: the store was restored from a copy: payments are "+
			"searched for before they are paid. Submit those since the copy again, reconcile the accounts, and call "+
			"EndRestored", slog.Time("restoredFrom", summary.RestoredFrom))
	}
	go r.run()
	return summary, nil
}

// Stop begins no more calls, and waits until those under way have ended. If ctx ends first, Stop cancels them, and
// returns *[Unfinished]: their payments are stored as they are, and the next Resume goes on with them. It then waits
// for at most a second more, in which they store what they know.
//
// After Stop, [Processor.Submit] still stores payments. Close the store after Stop. A processor with Config.Metrics
// must be stopped also if it was not resumed: it reports its load until then.
func (p *Processor) Stop(ctx context.Context) error {
	if err := p.ready(ctx, "Stop"); err != nil {
		return err
	}
	r := p.runner
	r.mu.Lock()
	started := r.started
	if !r.stopped {
		r.stopped = true
		close(r.stop)
	}
	r.mu.Unlock()
	p.load.stop()
	if !started {
		return nil
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
	}
	unfinished := &Unfinished{Keys: r.keys(), Err: ctx.Err()}
	r.end()
	last := time.NewTimer(time.Second)
	defer last.Stop()
	select {
	case <-r.done:
	case <-last.C:
	}
	if len(unfinished.Keys) == 0 {
		return nil
	}
	return unfinished
}

func (r *runner) keys() []moneymovement.Key {
	r.mu.Lock()
	defer r.mu.Unlock()
	var keys []moneymovement.Key
	for step := range r.running {
		keys = append(keys, step.key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// run dispatches work until it is stopped, and then waits for what is under way.
func (r *runner) run() {
	var steps sync.WaitGroup
	defer close(r.done)
	defer r.end()
	defer steps.Wait()
	for !r.isStopped() { // a select picks any of the cases that are ready
		next := r.dispatch(&steps)
		timer := time.NewTimer(max(next.Sub(r.p.config.Now()), 0))
		select {
		case <-r.stop:
			timer.Stop()
			return
		case <-r.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (r *runner) isStopped() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

// dispatch claims due work and begins it. It returns when to claim again, if nothing wakes the runner before.
func (r *runner) dispatch(steps *sync.WaitGroup) time.Time {
	now := r.p.config.Now()
	if paused := r.paused.untilAny(r.p.services); paused.After(now) { // also for reads: they are calls, too
		return paused
	}
	pays, follows := r.capacity(now)
	// A quarter of the room is for new payments, however many old ones wait.
	forNew := pays / 4
	if r.rounds++; forNew == 0 && r.rounds%4 == 0 {
		forNew = pays
	}
	again := r.claim(steps, WorkAgain, pays-forNew, now)
	begun := r.claim(steps, WorkBegin, pays-again, now)
	again += r.claim(steps, WorkAgain, pays-again-begun, now)
	following := r.claim(steps, WorkFollow, follows, now)
	return r.nextWork(pays > again+begun, follows > following)
}

// capacity returns how many calls that pay and how many reads may begin. When it is time to ask for the work of other
// processes, all classes may have some.
func (r *runner) capacity(now time.Time) (pays, follows int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !now.Before(r.pollAt) {
		r.pollAt = now.Add(r.p.config.PollEvery)
		for _, work := range []Work{WorkBegin, WorkAgain, WorkFollow} {
			r.nextDue[work] = now
		}
	}
	return r.p.config.InFlight - (len(r.running) - r.follows), r.p.config.Following - r.follows
}

// nextWork returns when work is due for which there is room. Without room, the end of a step wakes the runner.
func (r *runner) nextWork(pays, follows bool) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.pollAt
	for work, due := range r.nextDue {
		if work == WorkFollow && follows || work != WorkFollow && pays {
			next = earlier(next, due)
		}
	}
	return next
}

// claim begins at most so many due steps of a class, and returns how many.
func (r *runner) claim(steps *sync.WaitGroup, work Work, most int, now time.Time) int {
	r.mu.Lock()
	due, some := r.nextDue[work]
	some = some && !due.After(now) && most > 0 && !r.stopped // Stop can come between two claims
	if some {
		delete(r.nextDue, work) // before the claim: what is stored from now on is noted anew
	}
	r.mu.Unlock()
	if !some {
		return 0
	}
	began := time.Now()
	claimed, next, err := r.p.store.Claim(r.calls,
		Claim{Owner: r.p.config.Owner, Work: work, Limit: most, Now: now, For: r.p.config.LeaseFor})
	if r.p.outage.record(r.calls, "it gives no work", err); err != nil {
		return 0 // the next poll asks again
	}
	for _, one := range claimed {
		r.addJob(job{one.Key, one.Lease.Epoch}, work == WorkFollow)
		steps.Go(func() { r.step(one, began) })
	}
	if !next.IsZero() {
		if len(claimed) < most { // it is not due by the clock of the store, which can be late
			next = later(next, now.Add(minClaimPause))
		}
		r.schedule(work, next)
	}
	return len(claimed)
}

// minClaimPause is the shortest pause before a class of work is claimed again that had nothing due.
const minClaimPause = 10 * time.Millisecond

func (r *runner) addJob(step job, follow bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[step] = follow
	if follow {
		r.follows++
	}
}

func (r *runner) removeJob(step job) {
	r.mu.Lock()
	if r.running[step] {
		r.follows--
	}
	delete(r.running, step)
	r.mu.Unlock()
	r.wakeUp()
}

func (r *runner) step(claimed Claimed, at time.Time) {
	defer r.removeJob(job{claimed.Key, claimed.Lease.Epoch})
	_, err := r.p.run(r.calls, claimed, at)
	if err == nil {
		return
	}
	_, lost := errors.AsType[*LeaseLost](err)
	_, unreadable := errors.AsType[*Unreadable](err)
	_, invalid := errors.AsType[*errors.InvalidInput](err)
	if lost || unreadable || invalid { // the store works
		r.p.config.Logger.LogAttrs(r.calls, slog.LevelWarn, "payments: a step has failed",
			slog.String("key", string(claimed.Key)), slog.Any("error", err))
	}
	if lost || unreadable {
		return
	}
	select { // the store fails: this step keeps its place for a while, so that work slows down
	case <-time.After(r.p.config.PollEvery):
	case <-r.stop:
	}
}

func (r *runner) wakeUp() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// The pauses after calls that the service refuses for all payments, if it does not say when to come back.
const (
	shortestPause = time.Second
	longestPause  = time.Minute
)

// api is an API with a credential and rate windows of its own.
type api int

const (
	platformAPI api = iota
	appAPI
	apis
)

// apiOf returns the API that pays a kind of payments.
func apiOf(kind Kind) api {
	if kind == KindTransfer {
		return appAPI
	}
	return platformAPI
}

// pauses are the times in which an API gets no calls, because it said so or because it refuses the credential.
type pauses struct {
	mu  sync.Mutex
	all [apis]pause
}

type pause struct {
	until    time.Time
	failures int // in a row, of calls that were refused for all payments
}

// until returns when the calls for a kind of payments may go on.
func (p *pauses) until(kind Kind) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[apiOf(kind)].until
}

// untilAny returns when the calls of any of the services may go on.
func (p *pauses) untilAny(s Services) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch platform, app := p.all[platformAPI].until, p.all[appAPI].until; {
	case s.transfers == nil:
		return platform
	case s.account == nil:
		return app
	default:
		return earlier(platform, app)
	}
}

// untilAll returns when all calls may go on.
func (p *pauses) untilAll() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return later(p.all[platformAPI].until, p.all[appAPI].until)
}

// record notes the result of a call for a kind of payments.
func (p *pauses) record(kind Kind, result callResult, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := &p.all[apiOf(kind)]
	switch {
	case result.next == outcome.Pause:
	case result.unchanged, result.state == moneymovement.PaymentInDoubt && !result.keyTooOld(),
		result.state == moneymovement.PaymentNotPaid: // perhaps the call was refused, too
		return
	default:
		of.failures = 0
		return
	}
	if !of.until.After(now) {
		of.failures++
	}
	wait := doubled(shortestPause, longestPause, of.failures)
	if !result.retryAt.IsZero() {
		wait = 0
	}
	of.until = later(of.until, dueAfter(now, wait, result.retryAt))
}

// NotResumable says that a processor cannot be resumed: it was resumed before, or was stopped.
type NotResumable struct{}

// Error returns one line.
func (e *NotResumable) Error() string {
	return errorbase.Text(e, "the processor was resumed or stopped before, and is resumed only once: make a new one")
}

// Unfinished says that calls were under way when the time to stop had passed. Their payments are stored, and the next
// Resume goes on with them.
type Unfinished struct {
	// Keys are the payments.
	Keys []moneymovement.Key
	// Err is the error of the context.
	Err error
}

// Error returns one line, safe to log.
func (e *Unfinished) Error() string {
	return errorbase.Textf(e, "%d payments were under way when the time to stop had passed (%v); they are stored, "+
		"and the next Resume goes on with them", len(e.Keys), e.Err)
}

// Unwrap returns Err.
func (e *Unfinished) Unwrap() error { return e.Err }
