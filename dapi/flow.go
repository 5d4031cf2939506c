package dapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// flow is one call of [Payouts.Pay], [Escrows.Open] or [Escrows.Act]. It waits in the queue, books, checks that the
// response is about this payment, compares it with what was asked for, journals, signs, confirms, and reads the outcome
// if it is not clear. [payable] has what differs between a payout, an escrow and an action.
type flow struct {
	payable
	first      *transport.Operation // that books
	second     *transport.Operation // that confirms
	scope      transport.KeyScope
	key        moneymovement.Key
	memory     paymentMemory
	queue      *paymentQueue
	options    []moneymovement.CallOption
	resolution string // what the error of a payment in doubt says to do
	actionOf   string // the id of the escrow that an action is of, else empty
	maxRebooks int    // how often an expired offer is booked again

	history        History // what the caller stored last, or was told to store
	journal        func(context.Context, History) error
	beforeSigning  func(context.Context, *offer) error // of the caller, or nil
	withoutHistory bool                                // the caller passed neither Journal nor History
	provenUnpaid   bool                                // the caller's store proves that no earlier call has paid
	firstUsed      time.Time                           // of the key

	attempt *attempt
	release func() // its place in the queue

	earlier        errorbase.Earlier // what is known of other calls with the key
	neverInDoubt   bool              // no earlier call left a doubt
	booked         *offer            // the last booking, nil before the first
	newlyBooked    bool              // the last booking is new, and waits for its approval
	expiredOffer   *offer            // a booking that had expired when it came
	confirmExpired *offer            // an expired booking that is confirmed, because the service returned no other
	rebookCause    error             // why the payment was last booked again
	sent           bool              // a confirm was sent, or may have been
	wasRead        bool              // the payout or escrow was read since the last confirm
	readOther      bool              // that read was about something else
	lastRead       *offer            // as that read returned it, nil if the read failed or has other terms
	readErr        error             // why that read failed
}

// payable is what differs between a payout, an escrow and an action of an escrow.
type payable interface {
	// book books, or prepares again what was booked. created says that the service has not done so before.
	book(ctx context.Context, f *flow) (booked *offer, created bool, err error)
	// read reads what is known to be booked. What it returns can be signed.
	read(ctx context.Context, f *flow) (*offer, error)
	// price refuses a price that is out of bounds.
	price(f *flow) error
	// confirm signs, if the approval is what was asked for, and sends the signature.
	confirm(ctx context.Context, f *flow, allowExpired bool) (*offer, error)
	// afterError decides what the error of a booking or of a confirm means.
	afterError(ctx context.Context, f *flow, err error) stepResult
	// readOutcome reads what became of a payment that this call did not make, before the call ends.
	readOutcome(ctx context.Context, f *flow, end stepResult) stepResult
	// clock returns the approver, which knows the service's time.
	clock() approver
}

// offer is a payout, an escrow or an action of an escrow, as one response shows it.
type offer struct {
	id       string
	key      string // as the response says
	phase    phase
	approval *Approval
	expires  time.Time    // of the price or the approval, whichever is first; zero if neither says
	differs  *TermsDiffer // from what was asked for
	problem  error        // why it cannot be signed, nil if it can
	payout   *Payout
	feeKnown bool // the payout's quote has a fee, which may be zero
	escrow   *Escrow
}

// phase is what an offer says about the money.
type phase int

const (
	phaseOther  phase = iota // its status is one that this version does not know
	phaseOpen                // it waits for its approval, as far as it says
	phasePaid                // the money has left or is leaving
	phaseLapsed              // it was not approved in time; another booking with its key may revive it
	phaseEnded               // it has ended, and the money came back or never left
)

// settles reports that an offer decides the payment.
func (o *offer) settles() bool {
	return o.phase == phasePaid || o.phase == phaseEnded || o.phase == phaseLapsed
}

// same reports that another booking has the same approval and the same price.
func (o *offer) same(other *offer) bool {
	if other == nil || !o.approval.same(other.approval) {
		return false
	}
	return o.payout == nil || o.payout.sameOffer(other.payout)
}

// stepResult is how a step of a payment ends.
type stepResult struct {
	next  next
	moved errors.Movement // of a flow that stops
	offer *offer          // paid or ended, if moved is Moved
	err   error           // otherwise
}

// next is what a flow does after a step.
type next int

const (
	stop    next = iota
	proceed      // with the next step
	rebook       // the price or the approval has expired
)

// settledBy ends a flow with an offer that is paid or has ended. nil is one that could not be read.
func settledBy(o *offer) stepResult { return stepResult{moved: errors.Moved, offer: o} }

// refusedBy ends a flow that has paid nothing.
func refusedBy(err error) stepResult { return stepResult{moved: errors.NotMoved, err: err} }

// inDoubtBy ends a flow that may have paid.
func inDoubtBy(err error) stepResult { return stepResult{moved: errors.MaybeMoved, err: err} }

// rebookAfter books again.
func rebookAfter(err error) stepResult { return stepResult{next: rebook, err: err} }

// result is what a flow returns. [Payment] and [EscrowResult] have the same fields.
type result struct {
	state   moneymovement.PaymentState
	offer   *offer
	refusal error
	err     error
	history History
}

// retryAt returns when to call again, zero if nobody has said.
func (r *result) retryAt() time.Time {
	call, _ := errors.CallInfoOf(r.err)
	return call.RetryAt
}

// run makes the payment. checks check the input.
func (f *flow) run(ctx context.Context, low lowLevel, checks ...func(*transport.Check)) result {
	f.withoutHistory = f.journal == nil && f.history == History{}
	f.provenUnpaid = f.journal != nil && (f.history.Unpaid || f.history == History{})
	checks = append([]func(*transport.Check){requiredKey(f.first, string(f.key)), func(c *transport.Check) {
		f.history.check(c, f.provenUnpaid)
	}}, checks...)
	err := low.withKey(f.key).ready(ctx, f.first, checks...)
	if err != nil {
		unpaid := f.provenUnpaid || f.key == "" && f.history == History{}
		return f.unsentResult(err, unpaid && f.memory.unpaid(f.scope))
	}
	f.setFirstUsed()
	if err := f.checkAge(f.clock().now()); err != nil && f.actionOf == "" {
		return f.unsentResult(err, false)
	}
	f.attempt, f.earlier, err = f.memory.begin(f.scope, f.provenUnpaid)
	if err != nil {
		return f.unsentResult(err, true)
	}
	defer f.attempt.end(transport.KeyInDoubt) // unless it was ended as something else
	f.neverInDoubt = f.provenUnpaid && f.earlier == errorbase.NonePaid
	return f.conclude(ctx, f.runQueued(ctx))
}

// setFirstUsed sets when the key was first used. A key with which nothing was paid starts again if the service has
// forgotten it, or if the stored time is in the future.
func (f *flow) setFirstUsed() {
	now := time.Now().UTC().Round(0) // which is equal to what is read from JSON
	first := f.history.FirstUsed
	if age := now.Sub(first); f.provenUnpaid && !first.IsZero() && (age > keyLifetime+keyMargin || age < -keyMargin) {
		f.history = History{}
	}
	if f.firstUsed = f.history.FirstUsed; f.firstUsed.IsZero() {
		f.firstUsed = now
	}
}

// checkAge refuses a key that the service may have forgotten, by this machine's clock or by the service's, whichever is
// later. A flow checks again after it has waited, and after the booking, whose response has the service's time.
func (f *flow) checkAge(service time.Time) error {
	first := f.history.FirstUsed
	if first.IsZero() || f.provenUnpaid || max(time.Since(first), service.Sub(first)) <= keyLifetime-keyMargin {
		return nil
	}
	return &KeyTooOld{CallInfo: errors.CallInfo{Operation: f.first.ID, IdempotencyKey: string(f.key)}, FirstUsed: first}
}

// runQueued waits in the queue, and then makes the payment. It books again if the price or the approval has expired.
func (f *flow) runQueued(ctx context.Context) stepResult {
	release, err := f.queue.acquire(ctx, string(f.key))
	if err != nil {
		return refusedBy(err)
	}
	f.release = release
	defer release()
	for rebooked := 0; ; rebooked++ {
		end := f.bookAndConfirm(ctx)
		if end.next != rebook {
			return end
		}
		f.rebookCause = end.err
		if rebooked == f.maxRebooks {
			return refusedBy(end.err)
		}
	}
}

// bookAndConfirm books, checks the booking, signs and confirms.
func (f *flow) bookAndConfirm(ctx context.Context) stepResult {
	for _, step := range []func(context.Context) stepResult{
		f.bookAndVerify, f.compare, f.checkClock, f.checkPrice, f.callBeforeSigning,
	} {
		if end := step(ctx); end.next != proceed {
			return end
		}
	}
	f.wasRead, f.sent = false, true
	done, err := f.confirm(ctx, f, f.confirmExpired == f.booked)
	f.release() // what follows needs no room in the rate window
	if err != nil {
		return f.afterError(ctx, f, err)
	}
	return settledBy(done)
}

// bookAndVerify books, and checks that the response is about this payment. If the flow approved the booking of another
// key, that payment could be paid twice, and this one never.
func (f *flow) bookAndVerify(ctx context.Context) stepResult {
	if err := f.checkAge(f.clock().now()); err != nil && f.actionOf == "" {
		return refusedBy(err)
	}
	booked, created, err := f.book(ctx, f)
	if err != nil {
		return f.afterError(ctx, f, err)
	}
	if booked.key != string(f.key) {
		f.neverInDoubt = f.neverInDoubt && booked.phase == phaseOpen
		return inDoubtBy(f.unproven(f.first, errors.New("the response has another idempotency key, or none")))
	}
	if known := f.knownID(); known != "" && known != booked.id {
		return f.bookedOther(ctx, known, booked.id)
	}
	f.newlyBooked = created && booked.signable()
	if f.newlyBooked || booked.phase != phasePaid { // a service that forgot the key has booked another payment
		if err := f.checkAge(f.clock().latest()); err != nil {
			f.booked = cmp.Or(f.booked, booked)
			return refusedBy(err)
		}
	}
	if f.booked == nil {
		f.earlier = f.earlierAfterBooking(created)
	}
	f.booked = booked
	return stepResult{next: proceed}
}

// earlierAfterBooking returns what is known of other calls after the first response of a call. If the caller journals
// and has stored no id, nothing was signed with the key, and a new booking proves that no earlier call paid. Otherwise
// the service may have forgotten the key.
func (f *flow) earlierAfterBooking(created bool) errorbase.Earlier {
	if f.earlier == errorbase.MayExist && created && f.journal != nil && f.history.id() == "" {
		return errorbase.NonePaid
	}
	return f.earlier
}

// status returns the status and the transaction of the payout or escrow.
func (o *offer) status() (status, hash string) {
	switch {
	case o.payout != nil:
		return string(o.payout.Status), o.payout.TransactionHash
	case o.escrow != nil:
		return string(o.escrow.Status), o.escrow.TransactionHash
	}
	return "", ""
}

// isCreated reports a response of the service that does something for the first time.
func isCreated(response *moneymovement.Response) bool {
	return response.Status == http.StatusCreated && !response.Replayed
}

// signable reports an offer that can be signed, and of which no transaction shows that it is paid.
func (o *offer) signable() bool {
	return o.approval != nil && o.problem == nil && (o.payout == nil || !o.payout.hasTransactionHash()) &&
		(o.escrow == nil || o.escrow.Can(EscrowActionTypeApprove))
}

// notCompleted returns the error of an offer that has ended without paying, nil for another one.
func (o *offer) notCompleted(key moneymovement.Key) error {
	switch {
	case o.payout != nil:
		return o.payout.notCompleted()
	case o.escrow != nil && o.phase == phaseEnded:
		return &EscrowNotOpened{CallInfo: errors.CallInfo{Operation: opCreateEscrow.ID, IdempotencyKey: string(key)},
			Escrow: o.escrow}
	}
	return nil
}

// knownID returns the id that this call has booked, for which this client has signed, or that the caller has stored.
// It returns "" without one.
func (f *flow) knownID() string {
	if f.booked != nil {
		return f.booked.id
	}
	return cmp.Or(f.attempt.signed(), f.history.id())
}

// id returns the id of the payout or escrow, or "" if this client does not know it.
func (f *flow) id() string {
	if f.attempt == nil {
		return cmp.Or(f.history.id(), f.actionOf)
	}
	return cmp.Or(f.knownID(), f.attempt.resource(), f.actionOf) // the last may be of a service that forgot the key
}

// bookedOther handles a booking that names another payout or escrow than the known one, which may be paid. The known
// one decides. If it cannot be read, the payment is in doubt.
func (f *flow) bookedOther(ctx context.Context, known, got string) stepResult {
	f.booked = &offer{id: known}
	differs := f.withHead(&TermsDiffer{Member: "id", Asked: known, Got: got})
	o, err := f.read(ctx, f)
	switch {
	case err != nil || o.differs != nil:
	case o.settles():
		return settledBy(o)
	case o.phase == phaseOpen && o.approval != nil:
		f.earlier, f.booked = errorbase.MayPay, o
		return stepResult{next: proceed}
	}
	return inDoubtBy(differs)
}

// compare compares the booking with what was asked for. An earlier call with this key may have paid, and the service
// may have booked something else.
func (f *flow) compare(ctx context.Context) stepResult {
	switch o := f.booked; {
	case o.differs != nil && (o.phase == phaseOpen || o.escrow != nil && o.phase == phaseEnded):
		return refusedBy(f.withHead(o.differs))
	case o.differs != nil:
		return inDoubtBy(f.withHead(o.differs))
	case o.phase == phaseEnded, o.phase == phaseLapsed:
		return settledBy(o)
	case f.newlyBooked: // it waits for its approval, whatever its status is
	case o.phase == phasePaid:
		return settledBy(o)
	case o.problem != nil && (o.escrow != nil || o.phase != phaseOpen || f.earlier != errorbase.NonePaid):
		if differs, ok := o.problem.(*TermsDiffer); ok { //nolint:errorlint // an unproven response can have one as cause
			return refusedBy(differs)
		}
		if seen := f.settledBefore(ctx); seen != nil {
			return *seen
		}
		return inDoubtBy(o.problem)
	}
	return stepResult{next: proceed}
}

// settledBefore returns how an earlier call of this client settled the payment, as it is now if it can be read. It
// returns nil if none did.
func (f *flow) settledBefore(ctx context.Context) *stepResult {
	seen := f.attempt.record()
	if !seen.settled {
		return nil
	}
	if o, err := f.read(ctx, f); err == nil && o.differs == nil && o.settles() {
		return new(settledBy(o))
	}
	o := &offer{id: f.id(), key: string(f.key), phase: seen.phase}
	if f.first == &opBookPayout {
		o.payout = &Payout{ID: PayoutID(o.id), IdempotencyKey: o.key, Status: PayoutStatus(seen.status),
			TransactionHash: seen.hash}
	} else {
		o.escrow = &Escrow{ID: EscrowID(o.id), Status: EscrowStatus(seen.status), TransactionHash: seen.hash}
	}
	return new(settledBy(o))
}

// checkClock refuses an approval while the clocks of the service and this machine differ by too much. By a wrong clock,
// every price and approval would have expired, or none.
func (f *flow) checkClock(context.Context) stepResult {
	if approval := f.booked.approval; approval != nil {
		if err := f.clock().checkClock(approval.ID); err != nil {
			return refusedBy(f.clock().unsigned(f.second, f.booked.id, err))
		}
	}
	return stepResult{next: proceed}
}

// checkPrice refuses a price that is out of bounds, and books again for a price or an approval that has expired. If the
// service returns the same offer again, it is confirmed once: this machine's clock may be wrong, and then only the
// refusal of the service reopens the payment.
func (f *flow) checkPrice(context.Context) stepResult {
	if err := f.price(f); err != nil {
		return refusedBy(err)
	}
	o := f.booked
	switch {
	case o.expires.IsZero() || f.clock().now().Add(f.reserve()).Before(o.expires):
	case o.same(f.confirmExpired):
		return refusedBy(f.rebookCause)
	case !o.same(f.expiredOffer):
		f.expiredOffer = o
		return rebookAfter(&errors.NotDelivered{CallInfo: errors.CallInfo{Operation: f.second.ID,
			IdempotencyKey: string(f.key)}, Err: errExpiredOffer})
	default:
		f.confirmExpired = o
	}
	return stepResult{next: proceed}
}

var errExpiredOffer = errors.New(
	"the price or the approval has expired, and the service returns the same one again")

// callerReserve is the time before the approval's end at which the caller's functions must have returned. It leaves
// time to confirm.
const callerReserve = 20 * time.Second

// reserve returns how much time an approval must have left before it is signed.
func (f *flow) reserve() time.Duration {
	if f.beforeSigning != nil || f.journal != nil {
		return callerReserve
	}
	return 0
}

// callBeforeSigning calls the caller's BeforeSigning, which can refuse, and Journal, which stores what is about to be
// signed.
func (f *flow) callBeforeSigning(ctx context.Context) stepResult {
	o, history := f.booked, f.historyNow()
	if o.payout != nil && history.Quote == nil && o.payout.Quote != nil {
		history.Quote = new(*o.payout.Quote)
	}
	if o.approval == nil || f.beforeSigning == nil && f.journal == nil {
		f.history = history
		return stepResult{next: proceed}
	}
	left := o.approval.ExpiresAt.Sub(f.clock().now()) - callerReserve
	if f.confirmExpired == o { // over by this machine's clock, which may be wrong: nobody knows how much is left
		left = callerReserve
	}
	asking, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	var err error
	if f.beforeSigning != nil {
		err = f.beforeSigning(asking, o)
	}
	if err == nil && f.journal != nil {
		if err = f.journal(asking, history); err != nil { // perhaps another process has stored that it signs
			f.earlier, f.neverInDoubt = errorbase.MayPay, false
		}
	}
	if err != nil {
		return refusedBy(&PaymentDeclined{CallInfo: f.head(), Payout: o.payout, Err: err})
	}
	f.history = history
	return stepResult{next: proceed}
}

// historyNow returns what is known of the key now. An id that the caller has stored stays.
func (f *flow) historyNow() History {
	history := f.history
	history.FirstUsed, history.Unpaid = f.firstUsed, false
	switch id := f.id(); {
	case history.id() != "" || id == "":
	case f.first == &opBookPayout:
		history.PayoutID = PayoutID(id)
	default:
		history.EscrowID = EscrowID(id)
	}
	return history
}

// conclude returns the result of the payment. It also uses what is known from before this call.
func (f *flow) conclude(ctx context.Context, end stepResult) result {
	if end.moved != errors.Moved {
		end = f.readOutcome(ctx, f, end)
	}
	if end.moved == errors.Moved {
		f.attempt.settle(end.offer)
		f.neverInDoubt = f.neverInDoubt && f.attempt.onlyCall()
		r := f.settledResult(end.offer)
		if r.history.Unpaid {
			f.attempt.end(transport.KeyUnpaid)
		}
		f.attempt.end(transport.KeySettled)
		return r
	}
	if end.moved == errors.MaybeMoved && f.neverSigned() && f.attempt.onlyCall() {
		end, f.earlier = refusedBy(unpaidCause(end.err)), errorbase.NonePaid
	}
	if end.moved == errors.MaybeMoved {
		return f.result(moneymovement.PaymentInDoubt, nil, f.inDoubtError(end.err, f.second, errorbase.NonePaid))
	}
	if !f.attempt.onlyCall() {
		f.earlier = errorbase.MayPay
	}
	if f.earlier != errorbase.MayPay {
		f.attempt.end(transport.KeyUnpaid) // this client knows of no call that may have paid
	}
	return f.refusedResult(end.err, f.earlier)
}

// neverSigned reports that no call with the key has signed anything: not this one, and by the caller's store and this
// client's memory no earlier one. If something is booked, it waits for its approval.
func (f *flow) neverSigned() bool {
	return f.neverInDoubt && !f.sent && (f.booked == nil || f.booked.phase == phaseOpen)
}

// unpaidCause returns the error of a call that lost the response to its booking and signed nothing. Such a call has not
// paid.
func unpaidCause(err error) error {
	inDoubt, ok := err.(*errors.InDoubt) //nolint:errorlint // a wrapped one is about something else
	if !ok {
		return err
	}
	cause := inDoubt.Cause
	if login, ok := errors.AsType[*errors.InDoubt](cause); ok { // the session was lost before it was sent again
		cause = login.Cause
	} else if _, typed := errors.AsType[errors.Failure](cause); typed {
		return cause
	}
	return &errors.NotDelivered{CallInfo: inDoubt.CallInfo,
		Err: fmt.Errorf("there is no proof of a booking, and nothing was signed: %w", cause)}
}

// unsentResult returns the result of a call that has sent nothing.
func (f *flow) unsentResult(err error, unpaid bool) result {
	earlier := errorbase.MayPay
	switch {
	case unpaid:
		earlier = errorbase.NonePaid
	case f.memory.unpaid(f.scope):
		earlier = errorbase.MayExist
	}
	return f.refusedResult(err, earlier)
}

// settledResult returns the result of a payment that is paid or has ended. o is nil if the service says that the
// payment is paid, and the payout could not be read.
func (f *flow) settledResult(o *offer) result {
	if o == nil {
		o = cmp.Or(f.booked, &offer{id: f.id()})
	}
	f.booked = o
	err := f.withResource(o.notCompleted(f.key))
	if err == nil {
		return f.result(moneymovement.PaymentPaid, nil, nil)
	}
	r := f.result(moneymovement.PaymentEnded, err, err)
	// it was never approved; a payout can still be, by another process that has signed and books again
	r.history.Unpaid = o.escrow != nil || o.phase == phaseLapsed && f.neverInDoubt
	return r
}

// refusedResult returns the result of a call that paid nothing. The error is the refusal only if no earlier call may
// have paid. So a program that takes a new key when it gets a refusal never pays twice. Input that the SDK refuses is
// the exception: it is refused with every key.
func (f *flow) refusedResult(refusal error, earlier errorbase.Earlier) result {
	_ = f.withResource(refusal)
	next := outcome.After(refusal)
	unpaid := earlier == errorbase.NonePaid && next != outcome.NewKey
	state := moneymovement.PaymentInDoubt
	switch {
	case next == outcome.NewKey, refusesInput(refusal), unpaid && (next == outcome.Decide || next == outcome.Change):
		state = moneymovement.PaymentNeedsDecision
	case unpaid:
		state = moneymovement.PaymentNotPaid
	}
	err := refusal
	if earlier != errorbase.NonePaid {
		inDoubt := f.inDoubtError(refusal, f.first, earlier)
		if err = inDoubt; state == moneymovement.PaymentNeedsDecision {
			inDoubt.Resolve = "look for the payment in the ledger before you use a new key"
			if input, is := refusal.(*errors.InvalidInput); is { //nolint:errorlint // one inside is of a signer
				err = &inputInDoubt{input, inDoubt}
			}
		}
	}
	r := f.result(state, refusal, err)
	if r.history.Unpaid = unpaid; unpaid {
		r.history.Quote = nil // a later call compares with its own first price
	}
	return r
}

func (f *flow) result(state moneymovement.PaymentState, refusal, err error) result {
	r := result{state: state, offer: f.booked, refusal: refusal, err: err, history: f.history}
	if f.attempt != nil {
		r.history = f.historyNow()
	}
	return r
}

// inDoubtError returns the error of a payment that may have been made, by this call or an earlier one. It does not
// unwrap to the last refusal, which is only about its own call. op is used if the cause has no operation. If the
// service refused the read that should have settled it, the next call must wait as that refusal says.
func (f *flow) inDoubtError(cause error, op *transport.Operation, earlier errorbase.Earlier) *errors.InDoubt {
	inDoubt, ok := cause.(*errors.InDoubt) //nolint:errorlint // a wrapped one is about something else
	if !ok {
		if earlier == errorbase.MayExist && !f.withoutHistory {
			earlier = errorbase.MayPay // a Journal is there already, or comes too late
		}
		head, _ := errors.CallInfoOf(cause)
		head.Operation, head.IdempotencyKey = cmp.Or(head.Operation, op.ID), string(f.key)
		head = errorbase.With(head, errorbase.Facts{Earlier: earlier})
		inDoubt = &errors.InDoubt{CallInfo: head, Cause: cause}
	}
	inDoubt.Resolve = f.resolution
	if read, refused := errors.CallInfoOf(f.readErr); refused && read.RetryAt.After(inDoubt.RetryAt) {
		inDoubt.RetryAt = read.RetryAt
	}
	inDoubt.Cause = withContextError(inDoubt.Cause, f.readErr)
	_ = f.withResource(inDoubt)
	return inDoubt
}

// withContextError adds to cause that the context ended while the flow read the outcome, if err says so.
func withContextError(cause, err error) error {
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, end) && !errors.Is(cause, end) {
			// only the context's error: the other types in err are not about the payment
			return fmt.Errorf("%w; then %w", cause, end)
		}
	}
	return cause
}

// inputInDoubt is about the input of a payment that an earlier call may have made. errors.As finds the invalid input,
// and *errors.InDoubt as well.
type inputInDoubt struct {
	input   *errors.InvalidInput
	inDoubt *errors.InDoubt
}

// Error returns one line, safe to log.
func (e *inputInDoubt) Error() string { return e.inDoubt.Error() }

// Unwrap returns the invalid input, and the error about earlier calls.
func (e *inputInDoubt) Unwrap() []error { return []error{e.input, e.inDoubt} }

// refusesInput reports whether err refuses the payment's own input, so that every call with these terms fails. The
// input of a login or of a confirm is not the payment's.
func refusesInput(err error) bool {
	switch err.(type) { //nolint:errorlint // one inside is of a signer, of a verifier or of the caller
	case *errors.InvalidInput:
		return true
	case *errors.ValidationFailed, *errors.InvalidRequest, *errors.InvalidID:
		call, _ := errors.CallInfoOf(err)
		return !movesMoney(call.Operation) && call.Operation != opCreateChallenge.ID &&
			call.Operation != opCreateToken.ID
	}
	return false
}

// unproven returns the error of a response that reports success without showing it. It is handled like a lost response.
func (f *flow) unproven(op *transport.Operation, reason error) error {
	return unproven(errors.CallInfo{Operation: op.ID, IdempotencyKey: string(f.key), Resource: f.id()}, reason)
}

// unproven returns the error of a response to a booking or a confirm that reports success without showing it. It is
// handled like a lost response.
func unproven(head errors.CallInfo, reason error) error {
	return &errors.InDoubt{CallInfo: head, Resolve: "repeat the same request with the same idempotency key",
		Cause: reason}
}

// head returns the head of an error about the booking.
func (f *flow) head() errors.CallInfo {
	return errors.CallInfo{Operation: f.first.ID, Resource: f.id(), IdempotencyKey: string(f.key)}
}

// withHead adds the call to the error of a booking with other terms.
func (f *flow) withHead(differs *TermsDiffer) *TermsDiffer {
	differs.CallInfo = f.head()
	return differs
}

// withResource adds the id to an error, if it is known.
func (f *flow) withResource(err error) error {
	if id := f.id(); id != "" {
		errorbase.SetResource(err, id, string(f.key))
	}
	return err
}
