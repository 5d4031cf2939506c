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
	wakes  chan struct{} // holds one
	calls  context.Context
	end    context.CancelFunc // ends the calls
	stop   chan struct{}
	over   chan struct{} // closed when nothing runs any more

	mu      sync.Mutex
	started bool
	stopped bool
	running map[job]bool // whether it is a look
	looks   int
	soonest map[Work]time.Time // when the next work of a class may be due; absent if none is known
	pollAt  time.Time          // when to ask for the work of other processes
	turns   int
}

// job is a step under way. A payment whose lease has ended can be claimed again while its last step still runs.
type job struct {
	key   moneymovement.Key
	epoch int64
}

func newRunner(p *Processor) *runner {
	return &runner{p: p, wakes: make(chan struct{}, 1), stop: make(chan struct{}), over: make(chan struct{}),
		running: map[job]bool{}, soonest: map[Work]time.Time{}}
}

// expect notes that work is due at a time.
func (r *runner) expect(work Work, due time.Time) {
	if work == WorkNone {
		return
	}
	r.mu.Lock()
	known, ok := r.soonest[work]
	sooner := !ok || due.Before(known)
	if sooner {
		r.soonest[work] = due
	}
	r.mu.Unlock()
	if sooner {
		r.wakeUp()
	}
}

// Resume goes on with the payments that are stored, and begins to make those that are submitted. It returns what it has
// found. It returns at once: the work goes on until [Processor.Stop]. The end of ctx does not end the work.
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
			"are empty: make the processor with Integrator or SelfServe, or do not call Resume")
	}
	found, err := p.store.Summary(ctx)
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
	p.config.Logger.LogAttrs(ctx, slog.LevelInfo, "payments resume", slog.Any("byState", found.ByState))
	go r.run()
	return found, nil
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
	case <-r.over:
		return nil
	case <-ctx.Done():
	}
	unfinished := &Unfinished{Keys: r.keys(), Err: ctx.Err()}
	r.end()
	last := time.NewTimer(time.Second)
	defer last.Stop()
	select {
	case <-r.over:
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
	for under := range r.running {
		keys = append(keys, under.key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// run hands out work until it is stopped, and then waits for what is under way.
func (r *runner) run() {
	var steps sync.WaitGroup
	defer close(r.over)
	defer r.end()
	defer steps.Wait()
	for !r.isStopped() { // a select picks any of the cases that are ready
		next := r.handOut(&steps)
		timer := time.NewTimer(max(next.Sub(r.p.config.Now()), 0))
		select {
		case <-r.stop:
			timer.Stop()
			return
		case <-r.wakes:
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

// handOut claims due work and begins it. It returns when to look again, if nothing wakes the runner before.
func (r *runner) handOut(steps *sync.WaitGroup) time.Time {
	now := r.p.config.Now()
	if paused := r.paused.untilAny(r.p.services); paused.After(now) { // also for looks: they are calls, too
		return paused
	}
	payers, looks := r.room(now)
	// A quarter of the room is for new payments, however many old ones wait.
	forNew := payers / 4
	if r.turns++; forNew == 0 && r.turns%4 == 0 {
		forNew = payers
	}
	again := r.claim(steps, WorkAgain, payers-forNew, now)
	begun := r.claim(steps, WorkBegin, payers-again, now)
	again += r.claim(steps, WorkAgain, payers-again-begun, now)
	looking := r.claim(steps, WorkFollow, looks, now)
	return r.nextWork(payers > again+begun, looks > looking)
}

// room returns how many calls and looks may begin. When it is time to look for the work of other processes, all classes
// may have some.
func (r *runner) room(now time.Time) (payers, looks int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !now.Before(r.pollAt) {
		r.pollAt = now.Add(r.p.config.PollEvery)
		for _, work := range []Work{WorkBegin, WorkAgain, WorkFollow} {
			r.soonest[work] = now
		}
	}
	return r.p.config.InFlight - (len(r.running) - r.looks), r.p.config.Following - r.looks
}

// nextWork returns when work is due for which there is room. Without room, the end of a step wakes the runner.
func (r *runner) nextWork(payers, looks bool) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.pollAt
	for work, due := range r.soonest {
		if work == WorkFollow && looks || work != WorkFollow && payers {
			next = earlier(next, due)
		}
	}
	return next
}

// claim begins at most so many due steps of a class, and returns how many.
func (r *runner) claim(steps *sync.WaitGroup, work Work, most int, now time.Time) int {
	r.mu.Lock()
	due, some := r.soonest[work]
	some = some && !due.After(now) && most > 0 && !r.stopped // Stop can come between two claims
	if some {
		delete(r.soonest, work) // before the claim: what is stored from now on is noted anew
	}
	r.mu.Unlock()
	if !some {
		return 0
	}
	began := time.Now()
	claimed, next, err := r.p.store.Claim(r.calls,
		Claim{Owner: r.p.config.Owner, Work: work, Limit: most, Now: now, For: r.p.config.LeaseFor})
	if r.p.outage.noted(r.calls, "it gives no work", err); err != nil {
		return 0 // the next poll asks again
	}
	for _, one := range claimed {
		r.began(job{one.Key, one.Lease.Epoch}, work == WorkFollow)
		steps.Go(func() { r.step(one, began) })
	}
	if !next.IsZero() {
		if len(claimed) < most { // it is not due by the clock of the store, which can be late
			next = later(next, now.Add(claimAgain))
		}
		r.expect(work, next)
	}
	return len(claimed)
}

// claimAgain is the shortest pause before a class of work is claimed again that had nothing due.
const claimAgain = 10 * time.Millisecond

func (r *runner) began(under job, look bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running[under] = look
	if look {
		r.looks++
	}
}

func (r *runner) ended(under job) {
	r.mu.Lock()
	if r.running[under] {
		r.looks--
	}
	delete(r.running, under)
	r.mu.Unlock()
	r.wakeUp()
}

func (r *runner) step(claimed Claimed, at time.Time) {
	defer r.ended(job{claimed.Key, claimed.Lease.Epoch})
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
	select { // the store does not take it now: keep its place, so that work slows down
	case <-time.After(r.p.config.PollEvery):
	case <-r.stop:
	}
}

func (r *runner) wakeUp() {
	select {
	case r.wakes <- struct{}{}:
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

// after notes what a call for a kind of payments shows.
func (p *pauses) after(kind Kind, f found, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := &p.all[apiOf(kind)]
	switch {
	case f.next == outcome.Pause:
	case f.same, f.state == moneymovement.PaymentInDoubt && !f.tooOld(),
		f.state == moneymovement.PaymentNotPaid: // perhaps the call was refused, too
		return
	default:
		of.failures = 0
		return
	}
	if !of.until.After(now) {
		of.failures++
	}
	wait := grown(shortestPause, longestPause, of.failures)
	if !f.retryAt.IsZero() {
		wait = 0
	}
	of.until = later(of.until, dueAfter(now, wait, f.retryAt))
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
