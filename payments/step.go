package payments

import (
	"context"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/internal/ratewindow"
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

// pay makes the call that pays, and returns what it shows. The begun call is stored.
func (s *progress) pay(ctx context.Context) found {
	s.during(func() { s.paying, s.shown = true, s.record })
	defer s.during(func() { s.paying = false })
	ctx = ratewindow.WatchQueue(ctx, func(window moneymovement.Window, until time.Time) func() {
		return s.waits(ctx, window, until)
	})
	switch r := &s.record; r.Kind {
	case KindEscrow:
		return s.open(ctx)
	case KindEscrowAction:
		return s.act(ctx)
	case KindTransfer:
		return s.transfer(ctx)
	default:
		return s.payOut(ctx)
	}
}

// payOut makes a payout.
func (s *progress) payOut(ctx context.Context) found {
	r := &s.record
	var quote *dapi.Quote
	var response moneymovement.Response
	payment, err := s.p.services.of(r).payouts.Pay(ctx, *r.Payout, r.Key, dapi.PayTerms{
		Bounds: orAsSeen(r.Bounds, r.FirstQuote), History: s.history(),
		BeforeSigning: func(_ context.Context, booked *dapi.Payout) error {
			if quote = booked.Quote; s.record.offersRefused(quote, s.p.config.Now()) {
				return errors.New("the service still offers the price that was refused")
			}
			return s.inTime()
		},
		Journal: func(ctx context.Context, history dapi.History) error {
			return s.journal(ctx, s.record.signing(history, quote))
		},
	}, moneymovement.CaptureResponse(&response))
	s.queued = response.Queued
	return shows(payment.State, payment.Unpaid, payment.Refusal, err, payment.RetryAt).ofPayout(payment.Payout)
}

// open opens a deal. If it is in doubt, and the service now refuses to create it for a reason that does not pass by
// itself, no further call opens it: a person must look.
func (s *progress) open(ctx context.Context) found {
	r := &s.record
	deal, err := s.p.services.of(r).escrows.Open(ctx, *r.Escrow, r.Key, s.dealTerms())
	f := shows(deal.State, deal.Unpaid, deal.Refusal, err, deal.RetryAt).ofDeal(deal.Escrow)
	refusal, is := errors.AsType[*errors.Refusal](deal.Refusal)
	if f.state == moneymovement.PaymentInDoubt && !f.tooOld() && is && r.EscrowID == "" &&
		refusal.Operation == "CreateEscrow" && s.refusedForGood(deal.Refusal) {
		f.state = moneymovement.PaymentNeedsDecision
	}
	return f
}

// act takes an action of a deal. If that fails, the deal itself can show that the action was taken, or that it never
// will be.
func (s *progress) act(ctx context.Context) found {
	r := &s.record
	deal, err := s.p.services.of(r).escrows.Act(ctx, *r.Escrow, r.EscrowID, r.Action, r.Key, s.dealTerms())
	f := shows(deal.State, deal.Unpaid, deal.Refusal, err, deal.RetryAt).ofDeal(deal.Escrow)
	conflict, is := errors.AsType[*errors.Conflict](deal.Refusal)
	offered := !is || conflict.Operation != "PrepareEscrowAction"
	if f.state != moneymovement.PaymentInDoubt && offered || f.tooOld() || f.retryAt.After(time.Now()) {
		return f // a look must wait as well
	}
	shown := s.searchDeal(ctx)
	if shown.state != moneymovement.PaymentInDoubt {
		return shown
	}
	f.retryAt = later(f.retryAt, shown.retryAt) // the next call is followed by a look, too
	return f
}

// dealTerms are the terms of a flow of a deal.
func (s *progress) dealTerms() dapi.EscrowTerms {
	inTime := func(context.Context, *dapi.Escrow) error { return s.inTime() }
	journal := func(ctx context.Context, history dapi.History) error {
		return s.journal(ctx, s.record.signing(history, nil))
	}
	return dapi.EscrowTerms{History: s.history(), BeforeSigning: inTime, Journal: journal}
}

// transfer sends a transfer. One in doubt is looked up first: the service may have forgotten its key. It is sent again
// if nothing shows it and a person has decided so.
func (s *progress) transfer(ctx context.Context) found {
	if s.inDoubt {
		f := s.searchTransfer(ctx)
		switch {
		case f.state != moneymovement.PaymentInDoubt || f.unread:
			return f
		case s.serviceTime.Sub(s.record.FirstUsed) > keyLifetime:
			return forgotten(f)
		case !s.record.decided():
			if s.p.config.Now().Sub(s.record.FirstUsed) > transferSettles {
				f.state = moneymovement.PaymentNeedsDecision
			}
			f.reason = &Reason{Code: ReasonInDoubt, Message: "the response to the transfer was lost, and the " +
				"service does not list the transfer: look at the service's books, then decide; Retry sends it " +
				"again with the same key"}
			return f
		}
	}
	receipt, err := s.p.services.transfers.Send(ctx, s.record.Transfer.destination(), s.record.Key)
	f := transferShows(err, s.inDoubt)
	if receipt != nil {
		f.hash = receipt.TxHash
	}
	if f.state == moneymovement.PaymentNotPaid && s.refusedForGood(err) {
		f.state = moneymovement.PaymentRefused
	}
	if f.state != moneymovement.PaymentInDoubt {
		return f
	}
	listed := s.searchTransfer(ctx)
	f.retryAt = later(f.retryAt, listed.retryAt) // the next step is a look, too
	switch {
	case listed.state != moneymovement.PaymentInDoubt:
		return listed
	case listed.reason == nil && s.refusedForGood(err):
		// nothing shows the transfer, and another call would be refused as well
		f.state = moneymovement.PaymentNeedsDecision
	}
	return f
}

// transferSettles is how long a request whose response was lost can be under way. After that, a transfer that is not
// listed was not made, as far as the service shows.
const transferSettles = 10 * time.Minute

// refusedForGood reports that the service refuses the payment itself, for a reason that does not pass by itself.
func (s *progress) refusedForGood(err error) bool {
	failure, typed := errors.AsType[errors.Failure](err)
	refusal, refused := errors.AsType[*errors.Refusal](err)
	if !typed || !refused || failure.MovedByCall() != errors.NotMoved {
		return false
	}
	if refusal.Code == errors.CodeQuoteExpired {
		return s.record.Transfer != nil && s.record.Transfer.QuoteID != "" // which has no other price
	}
	next := outcome.After(err)
	return next == outcome.Decide || next == outcome.Change || next == outcome.NewKey
}

func (s *progress) during(change func()) { s.mu.Lock(); defer s.mu.Unlock(); change() }

// waits stores that the call waits for room in a rate window. It does not matter if that fails. A login waits for all
// calls that need it, and can end after this one.
func (s *progress) waits(ctx context.Context, window moneymovement.Window, until time.Time) (over func()) {
	s.p.load.calls.Add(1)
	s.during(func() {
		if !s.paying || s.shown.State == moneymovement.PaymentPaid {
			return
		}
		waiting := s.shown
		waiting.WaitsFor, waiting.WaitsUntil = "room in the rate window "+string(window), until.UTC()
		if _, err := s.p.store.Save(ctx, Claimed{waiting, s.lease}, false); err == nil {
			s.p.changes.happened()
		}
	})
	return func() { s.p.load.calls.Add(-1) }
}

// journal stores that money may leave, before an approval is signed: a process that has lost its lease then signs
// nothing.
func (s *progress) journal(ctx context.Context, next Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.save(ctx, next, false)
	s.shown = s.record
	return err
}

// inTime refuses a payment whose deadline has passed, unless money may have left.
func (s *progress) inTime() error {
	if !s.inDoubt && s.record.late(s.p.config.Now()) {
		return errors.New("the deadline has passed")
	}
	return nil
}

// history returns what is known of earlier calls with the key. If none of them can have paid, the age of the key does
// not matter: a service whose clock is a week ahead would find each key too old.
func (s *progress) history() dapi.History {
	r := &s.record
	history := dapi.History{PayoutID: r.PayoutID, Quote: r.FirstQuote, Unpaid: !s.inDoubt}
	if r.Kind != KindPayout {
		history.EscrowID = r.EscrowID
	}
	if s.inDoubt {
		history.FirstUsed = time.Now().Add(r.FirstUsed.Sub(s.p.config.Now()))
	}
	return history
}
