package payments

import (
	"cmp"
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
	inDoubt bool // a call before this one may have paid
	queued  time.Duration
	retryAt time.Time // when the service asked to come back; zero if it did not say

	serviceTime time.Time // of the last read of the list of transfers

	mu      sync.Mutex
	refused string // why the limits do not allow the booking
	paying  bool   // a call that pays is under way
	stored  Record // the payment as it is stored during the call
}

// run makes one step of a record that was claimed at a time, and releases its lease.
func (p *Processor) run(ctx context.Context, claimed Claimed, at time.Time) (_ Record, err error) {
	now, began := p.config.Now(), time.Now()
	if err := claimed.Err(); err != nil { // it is left alone, and must not hold up the others
		if unreadable, ok := errors.AsType[*Unreadable](err); !ok || !unreadable.Newer {
			claimed.Due = now.Add(p.config.Policy.RetryMax)
		}
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
	ctx, retryAt, done := p.leases.hold(ctx, claimed, at)
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
	p.load.noteLate(ctx, &s.record, p.config.Now())
	end(StepResult{State: s.record.State, Outcome: outcome, Reason: s.record.Reason})
	p.config.Metrics.Stepped(ctx, StepMetrics{
		Kind: record.Kind, Step: string(next), Outcome: outcome, Took: time.Since(began), Queued: s.queued,
	})
	return s.record, err
}

// perform makes the step, and stores its result.
func (s *progress) perform(ctx context.Context) (moneymovement.PaymentState, error) {
	// A program can have other services than the one that submitted.
	if err := s.p.services.check("Step", &s.record); err != nil && s.step.calls() {
		later := s.p.config.Now().Add(s.p.config.Policy.RetryMax)
		return moneymovement.PaymentNotPaid, errors.Join(err, s.postpone(ctx, later))
	}
	var result callResult
	switch s.step {
	case stepExpire:
		var known bool
		if result, known = s.searchBeforePaying(ctx); !known {
			return moneymovement.PaymentRefused, s.save(ctx, s.record.expire(s.p.config.Now().UTC()), true)
		}
	case stepRest:
		return moneymovement.PaymentNotPaid, s.save(ctx, s.record.waitForKeyToEnd(), true)
	case stepFollow:
		result = s.follow(ctx)
	case stepSearch:
		result = s.searchInDoubt(ctx)
	default:
		if s.record.edited() {
			result = editedResult(s.inDoubt)
			break
		}
		if s.record.searchFirst(s.p.config.Now()) {
			var known bool
			if result, known = s.searchBeforePaying(ctx); known {
				break
			}
		}
		refused, err := s.begin(ctx)
		switch {
		case err != nil:
			return moneymovement.PaymentNotPaid, err
		case refused != "":
			result = refusedByLimits(refused, s.inDoubt)
		default:
			result = s.pay(ctx)
		}
	}
	now := s.p.config.Now()
	if !result.retryAt.IsZero() { // by the machine's clock
		result.retryAt = now.Add(time.Until(result.retryAt))
	}
	s.retryAt = result.retryAt
	s.p.runner.paused.record(s.record.Kind, result, now)
	next := s.record.apply(result, s.p.config.Policy, now.UTC())
	// The end of ctx must not lose the result of the call. A lease ends anyway if it cannot be renewed.
	storing, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.p.config.LeaseFor)
	defer cancel()
	if result.unchanged {
		s.record = next
		return result.state, s.postpone(storing, next.Due)
	}
	return result.state, s.save(storing, next, true)
}

// editedResult is what is known of a payment whose terms somebody has changed in the store.
func editedResult(mayHaveLeft bool) callResult {
	return callResult{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: mayHaveLeft, reason: &Reason{
		Code: ReasonEdited,
		Message: "the stored terms are not those that were submitted: somebody has changed the row, so " +
			"nothing was sent; to pay other terms, submit them with a new key"}}
}

// begin stores that a call begins, unless the limits do not allow it. refused then says why. If the payment is in
// doubt, the call shows whether it was paid, and the limits are for its signature.
func (s *progress) begin(ctx context.Context) (refused string, err error) {
	now := s.p.config.Now().UTC()
	next, refused := s.p.limits.admit(s.record, now)
	if refused != "" && !s.inDoubt {
		return refused, nil
	}
	err = s.save(ctx, next.begin(now), false)
	if reached, ok := errors.AsType[*CapReached](err); ok {
		return reached.why(), nil
	}
	return "", err
}

// checkLimits compares a booking with the limits. It stores what is debited more than was asked, such as a fee.
func (s *progress) checkLimits(ctx context.Context, price *dapi.Quote) error {
	next, refused := s.p.limits.admitSignature(s.record, price, s.p.config.Now().UTC())
	switch {
	case refused != "":
		s.refused = refused
		return errors.New(refused)
	case next.Count == nil || s.record.Spending != nil && next.Spending.same(s.record.Spending):
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.save(ctx, next, false)
	if reached, ok := errors.AsType[*CapReached](err); ok {
		s.refused = reached.why()
	} else if err != nil {
		s.record.Count = new(Count) // it can be stored: the next save counts from what is
	}
	s.stored = s.record
	return err
}

// refusedByLimits is what is known of a payment that the limits do not allow.
func refusedByLimits(why string, mayHaveLeft bool) callResult {
	return callResult{state: moneymovement.PaymentNeedsDecision, mayHaveLeft: mayHaveLeft, reason: policyReason(why)}
}

// uncheckedResult is what is known of a transfer whose limits could not be checked. It was not sent.
func uncheckedResult(err error, mayHaveLeft bool) callResult {
	result := callResult{state: moneymovement.PaymentNotPaid, mayHaveLeft: mayHaveLeft,
		reason: &Reason{Code: ReasonNotSent, Message: "the limits could not be checked: " + err.Error()}}
	if mayHaveLeft {
		result.state = moneymovement.PaymentInDoubt
	}
	return result
}

// withLimits returns the result of a call, or that the limits have stopped it before it signed.
func (s *progress) withLimits(result callResult) callResult {
	unsettled := result.state == moneymovement.PaymentNotPaid || result.state == moneymovement.PaymentInDoubt ||
		result.state == moneymovement.PaymentNeedsDecision
	if s.refused != "" && unsettled && !result.keyTooOld() {
		result.state, result.reason = moneymovement.PaymentNeedsDecision, policyReason(s.refused)
	}
	return result
}

// save stores a record under the lease.
func (s *progress) save(ctx context.Context, next Record, release bool) error {
	next = s.p.limits.countPaid(next.toStore(), s.p.config.Now())
	err := s.retryWrite(ctx, func() (err error) {
		next.Position, err = s.p.store.Save(ctx, Claimed{next, s.lease}, release)
		return err
	})
	if err != nil {
		return err
	}
	before := s.record.State
	next.Count = nil
	s.record = next
	if before != next.State || release {
		s.p.report(ctx, before, s.record)
	}
	if release {
		s.p.runner.schedule(next.Work(), next.Due)
	}
	return nil
}

// postpone releases the lease until a time.
func (s *progress) postpone(ctx context.Context, due time.Time) error {
	s.record.Due = due
	err := s.retryWrite(ctx, func() error { return s.p.store.Postpone(ctx, Claimed{s.record, s.lease}) })
	if err == nil {
		s.p.runner.schedule(s.record.Work(), due)
	}
	return err
}

// retryWrite repeats a write to the store until it works, ctx ends, or the lease is lost: the result of a call should
// not be forgotten. If it is forgotten, the stored record says that a call was begun, and the next step asks the
// service again with the same key.
func (s *progress) retryWrite(ctx context.Context, write func() error) error {
	for pause := firstWritePause; ; pause = min(2*pause, time.Second) {
		err := write()
		s.p.outage.record(ctx, "a payment could not be stored", err)
		if err == nil {
			return nil
		}
		_, lost := errors.AsType[*LeaseLost](err)
		_, overCap := errors.AsType[*CapReached](err)
		if lost || overCap || transport.Pause(ctx, pause) != nil {
			return err
		}
	}
}

// firstWritePause is the first pause before a failed write is repeated.
const firstWritePause = 50 * time.Millisecond

// pay makes the call that pays, after its begin was stored, and returns the result.
func (s *progress) pay(ctx context.Context) callResult {
	s.locked(func() { s.paying, s.stored = true, s.record })
	defer s.locked(func() { s.paying = false })
	ctx = ratewindow.WatchQueue(ctx, func(window moneymovement.Window, until time.Time) func() {
		return s.storeWait(ctx, window, until)
	})
	switch r := &s.record; r.Kind {
	case KindEscrow:
		return s.withLimits(s.openEscrow(ctx))
	case KindEscrowAction:
		return s.withLimits(s.actOnEscrow(ctx))
	case KindTransfer:
		return s.sendTransfer(ctx)
	default:
		return s.withLimits(s.payOut(ctx))
	}
}

// payOut makes a payout.
func (s *progress) payOut(ctx context.Context) callResult {
	r := &s.record
	var quote *dapi.Quote
	var response moneymovement.Response
	payment, err := s.p.services.accountOf(r).payouts.Pay(ctx, *r.Payout, r.Key, dapi.PayTerms{
		Bounds: withReferencePrice(r.Bounds, r.FirstQuote), History: s.history(),
		BeforeSigning: func(ctx context.Context, booked *dapi.Payout) error {
			if quote = booked.Quote; s.record.hasRefusedPrice(quote, s.p.config.Now()) {
				return errors.New("the service still offers the price that was refused")
			}
			return cmp.Or(s.checkDeadline(), s.checkLimits(ctx, quote))
		},
		Journal: func(ctx context.Context, history dapi.History) error {
			return s.journal(ctx, s.record.signing(history, quote))
		},
	}, moneymovement.CaptureResponse(&response))
	s.queued = response.Queued
	return resultOf(payment.State, payment.Unpaid, payment.Refusal, err, payment.RetryAt).withPayout(payment.Payout)
}

// openEscrow opens an escrow. A payment in doubt needs a decision if the service now refuses to create the escrow for a
// reason that does not pass by itself: no further call would open it.
func (s *progress) openEscrow(ctx context.Context) callResult {
	r := &s.record
	escrow, err := s.p.services.accountOf(r).escrows.Open(ctx, *r.Escrow, r.Key, s.escrowTerms())
	result := resultOf(escrow.State, escrow.Unpaid, escrow.Refusal, err, escrow.RetryAt).withEscrow(escrow.Escrow)
	refusal, is := errors.AsType[*errors.Refusal](escrow.Refusal)
	if result.state == moneymovement.PaymentInDoubt && !result.keyTooOld() && is && r.EscrowID == "" &&
		refusal.Operation == "CreateEscrow" && s.refusedForGood(escrow.Refusal) {
		result.state = moneymovement.PaymentNeedsDecision
	}
	return result
}

// actOnEscrow takes an action of an escrow. If that fails, the escrow itself can show that the action was taken, or
// that it never will be.
func (s *progress) actOnEscrow(ctx context.Context) callResult {
	r := &s.record
	escrow, err := s.p.services.accountOf(r).escrows.Act(ctx, *r.Escrow, r.EscrowID, r.Action, r.Key, s.escrowTerms())
	result := resultOf(escrow.State, escrow.Unpaid, escrow.Refusal, err, escrow.RetryAt).withEscrow(escrow.Escrow)
	conflict, is := errors.AsType[*errors.Conflict](escrow.Refusal)
	offered := !is || conflict.Operation != "PrepareEscrowAction"
	if result.state != moneymovement.PaymentInDoubt && offered || result.keyTooOld() ||
		result.retryAt.After(time.Now()) {
		return result // a read must wait as well
	}
	shown := s.searchEscrow(ctx)
	if shown.state != moneymovement.PaymentInDoubt {
		return shown
	}
	result.retryAt = later(result.retryAt, shown.retryAt) // the next call is followed by a read, too
	return result
}

// escrowTerms are the terms of a flow of an escrow.
func (s *progress) escrowTerms() dapi.EscrowTerms {
	beforeSigning := func(ctx context.Context, _ *dapi.Escrow) error {
		return cmp.Or(s.checkDeadline(), s.checkLimits(ctx, nil))
	}
	journal := func(ctx context.Context, history dapi.History) error {
		return s.journal(ctx, s.record.signing(history, nil))
	}
	return dapi.EscrowTerms{History: s.history(), BeforeSigning: beforeSigning, Journal: journal}
}

// sendTransfer sends a transfer. One in doubt is searched for first: the service may have forgotten its key. It is sent
// again only if the service does not list it and a person has decided so.
func (s *progress) sendTransfer(ctx context.Context) callResult {
	if s.inDoubt {
		result := s.searchTransfer(ctx)
		switch {
		case result.state != moneymovement.PaymentInDoubt || result.readFailed:
			return result
		case s.serviceTime.Sub(s.record.FirstUsed) > keyLifetime:
			return keyForgottenResult(result)
		case !s.record.decided():
			if s.p.config.Now().Sub(s.record.FirstUsed) > transferSettles {
				result.state = moneymovement.PaymentNeedsDecision
			}
			result.reason = &Reason{Code: ReasonInDoubt, Message: "the response to the transfer was lost, and the " +
				"service does not list the transfer: look at the service's books, then decide; Retry sends it " +
				"again with the same key"}
			return result
		}
	}
	if err := s.checkLimits(ctx, nil); s.refused != "" {
		return refusedByLimits(s.refused, s.inDoubt)
	} else if err != nil {
		return uncheckedResult(err, s.inDoubt)
	}
	receipt, err := s.p.services.transfers.Send(ctx, s.record.Transfer.destination(), s.record.Key)
	result := transferResult(err, s.inDoubt)
	if receipt != nil {
		result.transactionHash = receipt.TxHash
	}
	if result.state == moneymovement.PaymentNotPaid && s.refusedForGood(err) {
		result.state = moneymovement.PaymentRefused
	}
	if result.state != moneymovement.PaymentInDoubt {
		return result
	}
	listed := s.searchTransfer(ctx)
	result.retryAt = later(result.retryAt, listed.retryAt) // the next step is a read, too
	switch {
	case listed.state != moneymovement.PaymentInDoubt:
		return listed
	case listed.reason == nil && s.refusedForGood(err):
		// the service does not list it, and another call would be refused as well
		result.state = moneymovement.PaymentNeedsDecision
	}
	return result
}

// transferSettles is how long a request whose response was lost can be under way. After that, only a
// listed transfer was made, as far as the service says.
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

func (s *progress) locked(change func()) { s.mu.Lock(); defer s.mu.Unlock(); change() }

// storeWait stores that the call waits for room in a rate window. It does not matter if that fails. A login waits for
// all calls that need it, and can end after this one.
func (s *progress) storeWait(ctx context.Context, window moneymovement.Window, until time.Time) (over func()) {
	s.p.load.waitingCalls.Add(1)
	s.locked(func() {
		if !s.paying || s.stored.State == moneymovement.PaymentPaid {
			return
		}
		waiting := s.stored
		waiting.WaitsFor, waiting.WaitsUntil = "room in the rate window "+string(window), until.UTC()
		if _, err := s.p.store.Save(ctx, Claimed{waiting, s.lease}, false); err == nil {
			s.p.changes.notify()
		}
	})
	return func() { s.p.load.waitingCalls.Add(-1) }
}

// journal stores that money may leave, before an approval is signed: a process that has lost its lease then signs
// nothing.
func (s *progress) journal(ctx context.Context, next Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.save(ctx, next, false)
	s.stored = s.record
	return err
}

// checkDeadline refuses a payment whose deadline has passed, unless money may have left.
func (s *progress) checkDeadline() error {
	if !s.inDoubt && s.record.pastDeadline(s.p.config.Now()) {
		return errors.New("the deadline has passed")
	}
	return nil
}

// history returns what is known of earlier calls with the key. If none of them can have paid, it leaves out the age of
// the key: a service whose clock is a week ahead would find each key too old.
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
