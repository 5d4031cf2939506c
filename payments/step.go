package payments

import (
	"context"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Step makes the next step of one payment, if it is due, and returns the payment. It is for engines that have their own
// queue; [Processor.Resume] makes the steps of all payments. Record.Due says when to call Step again; zero means that
// nothing is left to do. While another process makes a step of the payment, the error is *[CallInProgress].
//
// If ctx ends during a call that pays, the payment is in doubt, and stays stored so.
func (p *Processor) Step(ctx context.Context, key moneymovement.Key) (Record, error) {
	if err := p.ready(ctx, "Step"); err != nil {
		return Record{}, err
	}
	began := time.Now()
	claimed, err := p.claim(ctx, key)
	if err != nil {
		return Record{}, err
	}
	return p.run(ctx, claimed, began)
}

// progress is one step of one payment, under its lease.
type progress struct {
	p       *Processor
	lease   Lease
	record  Record
	step    step
	inDoubt bool // an earlier call than this one may have paid
	queued  time.Duration
	retryAt time.Time // when the service asked to come back; zero if it did not say

	serviceTime time.Time // of the last look at the list of transfers

	mu     sync.Mutex
	paying bool   // a call that pays is under way
	shown  Record // the payment as it is stored during the call
}

// run makes one step of a record that was claimed at a time, and releases its lease.
func (p *Processor) run(ctx context.Context, claimed Claimed, at time.Time) (_ Record, err error) {
	now, began := p.config.Now(), time.Now()
	if err := claimed.Err(); err != nil { // it is left alone, and must not hold up the others
		claimed.Due = now.Add(p.config.Policy.RetryMax)
		return Record{}, errors.Join(err, p.store.Postpone(ctx, claimed))
	}
	record := claimed.Record
	next := record.next(now)
	if next == stepNone || record.Due.After(now) {
		return record, p.store.Postpone(ctx, claimed)
	}
	s := &progress{p: p, lease: claimed.Lease, record: record, step: next, inDoubt: record.MayHaveLeft}
	if until := p.runner.paused.until(record.Kind); next.calls() && until.After(now) {
		err := s.postpone(ctx, until)
		return s.record, err
	}
	ctx, cancel := context.WithTimeout(ctx, p.config.StepTimeout)
	defer cancel()
	ctx, retryAt, done := p.held.keep(ctx, claimed, at)
	defer func() { done(s.retryAt, err == nil) }()
	if ctx.Err() != nil || retryAt.After(now) {
		s.retryAt = retryAt
		err = s.postpone(context.WithoutCancel(ctx), dueAfter(now, 0, later(now, retryAt)))
		return s.record, err
	}
	ctx, end := p.config.Tracer.Step(ctx, record.Trace, StepTrace{
		Key: record.Key, Kind: record.Kind, State: record.State, Step: string(next), Calls: record.Calls,
	})
	outcome, err := s.perform(ctx)
	p.load.note(ctx, &s.record, p.config.Now())
	end(StepResult{State: s.record.State, Outcome: outcome, Reason: s.record.Reason})
	p.config.Metrics.Stepped(ctx, StepMetrics{
		Kind: record.Kind, Step: string(next), Outcome: outcome, Took: time.Since(began), Queued: s.queued,
	})
	return s.record, err
}

// perform makes the step, and stores what it shows.
func (s *progress) perform(ctx context.Context) (moneymovement.PaymentState, error) {
	// A program can have other services than the one that submitted.
	if err := s.p.services.check("Step", &s.record); err != nil && s.step.calls() {
		later := s.p.config.Now().Add(s.p.config.Policy.RetryMax)
		return moneymovement.PaymentNotPaid, errors.Join(err, s.postpone(ctx, later))
	}
	var f found
	switch s.step {
	case stepExpire:
		var shown bool
		if f, shown = s.find(ctx); !shown {
			return moneymovement.PaymentRefused, s.save(ctx, s.record.expire(s.p.config.Now().UTC()), true)
		}
	case stepRest:
		return moneymovement.PaymentNotPaid, s.save(ctx, s.record.rest(), true)
	case stepFollow:
		f = s.follow(ctx)
	case stepSearch:
		f = s.search(ctx)
	default:
		if s.record.edited() {
			f = editedRow(s.inDoubt)
			break
		}
		if s.record.looksFirst(s.p.config.Now()) {
			var shown bool
			if f, shown = s.find(ctx); shown {
				break
			}
		}
		if err := s.save(ctx, s.record.begin(s.p.config.Now().UTC()), false); err != nil {
			return moneymovement.PaymentNotPaid, err
		}
		f = s.pay(ctx)
	}
	now := s.p.config.Now()
	if !f.retryAt.IsZero() { // by the machine's clock
		f.retryAt = now.Add(time.Until(f.retryAt))
	}
	s.retryAt = f.retryAt
	s.p.runner.paused.after(s.record.Kind, f, now)
	next := s.record.after(f, s.p.config.Policy, now.UTC())
	// The end of ctx must not lose what the call has shown. A lease ends anyway if it cannot be renewed.
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.p.config.LeaseFor)
	defer cancel()
	if f.same {
		s.record = next
		return f.state, s.postpone(storing, next.Due)
	}
	return f.state, s.save(storing, next, true)
}

// editedRow is what is known of a payment whose terms somebody has changed in the store.
func editedRow(mayHaveLeft bool) found {
	return found{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: mayHaveLeft, reason: &Reason{
		Code: ReasonEdited,
		Message: "the stored terms are not those that were submitted: somebody has changed the row, so " +
			"nothing was sent; to pay other terms, submit them with a new key"}}
}

// save stores a record under the lease.
func (s *progress) save(ctx context.Context, next Record, release bool) error {
	next = next.toStore()
	err := s.repeated(ctx, func() (err error) {
		next.Position, err = s.p.store.Save(ctx, Claimed{next, s.lease}, release)
		return err
	})
	if err != nil {
		return err
	}
	before := s.record.State
	s.record = next
	if before != next.State || release {
		s.p.report(ctx, before, s.record)
	}
	if release {
		s.p.runner.expect(next.Work(), next.Due)
	}
	return nil
}

// postpone releases the lease until a time.
func (s *progress) postpone(ctx context.Context, due time.Time) error {
	s.record.Due = due
	err := s.repeated(ctx, func() error { return s.p.store.Postpone(ctx, Claimed{s.record, s.lease}) })
	if err == nil {
		s.p.runner.expect(s.record.Work(), due)
	}
	return err
}

// repeated makes a write to the store. A store that fails is asked again, until ctx ends or the lease is lost: what a
// call has shown should not be forgotten. If it is forgotten, the stored record says that a call was begun, and the
// next step asks the service again with the same key.
func (s *progress) repeated(ctx context.Context, write func() error) error {
	for pause := writeAgain; ; pause = min(2*pause, time.Second) {
		err := write()
		s.p.outage.noted(ctx, "a payment could not be stored", err)
		if err == nil {
			return nil
		}
		_, lost := errors.AsType[*LeaseLost](err)
		if lost || transport.Pause(ctx, pause) != nil {
			return err
		}
	}
}

// writeAgain is the first pause before a failed write is repeated.
const writeAgain = 50 * time.Millisecond
