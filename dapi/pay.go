package dapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Pay makes a payment: it books a payout, compares the price and the terms with what you asked for, signs the approval
// and confirms it. The state is paid when the money has left or is leaving. To wait until it arrives, call
// [Payouts.Wait].
//
//	payment, err := acme.Payouts.Pay(ctx, asked, key, dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: &fee}})
//	switch payment.State {
//	case moneymovement.PaymentPaid:          // store payment.Payout.ID
//	case moneymovement.PaymentNotPaid:       // err says why; the same call may pay later
//	case moneymovement.PaymentNeedsDecision: // a person looks at err
//	case moneymovement.PaymentEnded:         // to pay, use a new key
//	default:                                 // in doubt: later, call Pay again with the same key and terms
//	}
//
// The error is nil exactly if the state is paid. Without bounds, Pay accepts a fee of any size and the first price.
//
// # Repeating
//
// key identifies the payment. If you call Pay again with the same key and the same terms, it never pays twice, however
// the earlier calls ended. This holds for the 7 days in which the service remembers the key: see [History]. Pay fails
// with *errors.InvalidInput if the key is empty.
//
// Pay assumes that the key may have been used before, by this process or by another one, unless [PayTerms].Journal is
// set and the history proves otherwise. A response that says that the booking is new does not change that: the service
// may have forgotten the key.
//
// If this client has signed for a payout with this key before, or if History has one, Pay signs for no other. If the
// service books another one, Pay reads the known payout, returns it if it is paid or has ended, and confirms it if it
// waits for its approval. If it cannot be read, the payment is in doubt.
//
// # Errors
//
// If the payment is not paid, has ended or needs a decision, errors.As finds why by its own type, which is also in
// [Payment].Refusal:
//
//   - not paid: nothing is wrong with the payment, and the same call may pay later. Such errors are
//     *errors.NotDelivered, *errors.RateLimited, *[PaymentDeclined], *signing.NotSigned, and those of the credential.
//   - needs a decision: the same call is refused again, until somebody acts. Such errors are *errors.InvalidInput,
//     *errors.ValidationFailed, *errors.ContactNotPayable, *errors.PayoutNotFundable, *[PriceRefused], *[TermsDiffer],
//     *signing.ApprovalRefused, and a slug that this version does not know.
//   - needs a decision, although an earlier call may have paid: the error is *errors.InDoubt, and the type is in
//     Payment.Refusal alone. It is *[KeyTooOld], *errors.IdempotencyKeyReused, or about the input. errors.As also finds
//     it if it is *errors.InvalidInput, because such input is refused with every key.
//   - ended: *[PayoutNotCompleted].
//
// If the payment is in doubt, the error is *errors.InDoubt: this call or an earlier one may have paid. Call Pay
// again with the same key and terms, and do not pay in another way. It does not unwrap to the refusal of this call.
//
// # What Pay settles itself
//
//   - already_funded: Pay reads the funded payout and returns it. If it cannot be read, the payment is paid all the
//     same.
//   - funding_in_progress: Pay waits until the service has funded the payout, as long as ctx allows. If this client has
//     seen the payment paid before, it returns the payout at once.
//   - quote_expired, funding_attempt_expired, approval_expired, approval_mismatch, and a price or approval that has
//     expired by the service's clock: Pay books again with the same key. The fresh price must be within your bounds.
//     Without a bound on what arrives, it must be as good as the first price, within Bounds.QuoteTolerance.
//   - approval_consumed, and a confirm whose response was lost: Pay reads the payout to see whether it is funded.
//   - A refusal after the booking: Pay reads the payout once, because another client with the same key may have paid
//     it. If the service refuses the booking and this client does not know the payout, Pay searches for it in the
//     newest 300 entries of the ledger.
//
// # Many payments
//
// Start any number of payments at once, each in its own goroutine. You need no limit of your own. They queue before the
// booking, in the order of the calls to Pay. At most 108 payouts are between booking and confirm at the same time, so
// each confirm can be sent before its approval expires. A payment takes two of the 120 writes that the service allows
// in a minute: ten thousand payments take at least 2 hours and 48 minutes. If a payment could not be confirmed before
// the deadline of its context, the call fails at once and books nothing.
func (s *Payouts) Pay(ctx context.Context, payout PayoutCreate, key moneymovement.Key, terms PayTerms,
	options ...moneymovement.CallOption,
) (Payment, error) {
	s = transport.OrNew(s).withHeaderOf(options)
	f := &flow{
		payable: &payoutFlow{service: s, Payouts: s, asked: payout, bounds: terms.Bounds},
		first:   &opBookPayout, second: &opConfirmPayout, scope: s.scope(string(key)), key: key, memory: s.memory,
		queue: s.queue, options: options, resolution: "call Pay again with the same key and terms", maxRebooks: 3,
		history: terms.History, journal: terms.Journal,
	}
	if terms.BeforeSigning != nil {
		f.beforeSigning = func(ctx context.Context, o *offer) error {
			return terms.BeforeSigning(ctx, o.payout.clone())
		}
	}
	paid := f.run(ctx, s.low, payout.validate, s.check(&payout), terms.Bounds.check,
		func(c *transport.Check) { terms.History.isOf(c, terms.History.PayoutID, "") })
	return paid.payment()
}

// payoutFlow is what a [flow] does with a payout.
type payoutFlow struct {
	service  *Payouts
	*Payouts // with the developer key that booked the payout
	asked    PayoutCreate
	bounds   Bounds
	reading  moneymovement.RateClass // of reads of the payout, "" for ordinary reads
}

func (p *payoutFlow) clock() approver { return p.approver }

func (p *payoutFlow) book(ctx context.Context, f *flow) (booked *offer, created bool, err error) {
	p.Payouts = p.service.withCurrentKey()
	var response moneymovement.Response
	payout, err := p.Book(ctx, p.asked, writeOptions(f.options, moneymovement.IdempotencyKey(f.key),
		moneymovement.CaptureResponse(&response))...)
	if err != nil {
		return nil, false, err
	}
	o := p.offer(f, payout, response.Body)
	if o.approval == nil && payout.Status != PayoutStatusAwaitingApproval {
		o.problem = f.unproven(&opBookPayout, fmt.Errorf("the booking has no approval to sign, and its status is %q",
			payout.Status))
	}
	return o, isCreated(&response), nil
}

// writeOptions returns the options of a flow for a write, and more.
func writeOptions(options []moneymovement.CallOption, more ...moneymovement.WriteOption) []moneymovement.WriteOption {
	for _, option := range options {
		more = append(more, option)
	}
	return more
}

// offer returns a payout as the flow sees it. body is the response that has it.
func (p *payoutFlow) offer(f *flow, payout *Payout, body []byte) *offer {
	o := &offer{id: string(payout.ID), key: payout.IdempotencyKey, approval: payout.Approval,
		differs: payout.differs(p.asked), payout: payout, feeKnown: hasFee(payout.Quote, body)}
	switch {
	case payout.funded():
		o.phase = phasePaid
	case payout.Status == PayoutStatusExpired:
		o.phase = phaseLapsed
	case payout.Status.Final():
		o.phase = phaseEnded
	case payout.isUnfunded():
		o.phase = phaseOpen
	}
	if o.approval != nil {
		o.expires = o.approval.ExpiresAt
	}
	if quote := payout.Quote; quote != nil && !quote.ExpiresAt.IsZero() &&
		(o.expires.IsZero() || quote.ExpiresAt.Before(o.expires)) {
		o.expires = quote.ExpiresAt
	}
	return o
}

func (p *payoutFlow) price(f *flow) error {
	first, again := f.attempt.recordPrice(f.booked.payout.Quote)
	refused := p.bounds.refused(price{asked: p.asked, quote: f.booked.payout.Quote, feeKnown: f.booked.feeKnown,
		first: cmp.Or(f.history.Quote, first), unpriced: again && first == nil && f.history.Quote == nil})
	if refused == nil {
		return nil
	}
	refused.CallInfo, refused.Payout = f.head(), f.booked.payout
	return refused
}

func (p *payoutFlow) confirm(ctx context.Context, f *flow, allowExpired bool) (*offer, error) {
	payout, err := p.signAndConfirm(ctx, p.asked, f.booked.payout, f.key, allowExpired, f.options)
	if err != nil {
		return nil, err
	}
	o := p.offer(f, payout, nil)
	switch {
	case o.differs != nil:
		return nil, f.unproven(&opConfirmPayout, f.withHead(o.differs))
	case o.phase == phaseLapsed: // from before the confirm, which has succeeded
		return nil, f.unproven(&opConfirmPayout, errors.New("the response says that the payout has expired"))
	}
	return o, nil
}

func (p *payoutFlow) afterError(ctx context.Context, f *flow, err error) stepResult {
	said := err         // by the service: a verifier's or signer's error can hold one of another payment
	switch err.(type) { //nolint:errorlint // the outermost one counts
	case *errors.NotDelivered, *signing.ApprovalRefused:
		said = nil
	}
	if refusal, ok := errors.AsType[*errors.AlreadyFunded](said); ok {
		return p.funded(ctx, f, refusal)
	}
	inDoubt := mayHaveMoved(err)
	if inDoubt {
		f.earlier = errorbase.MayPay
	}
	if refusal, ok := errors.AsType[*errors.FundingInProgress](said); ok {
		f.neverInDoubt = false // somebody has signed
		if f.id() != "" {
			return p.awaitFunding(ctx, f, refusal)
		}
	}
	rebooks := needsNewBooking(err)
	if inDoubt || f.earlier == errorbase.MayPay && rebooks {
		if o, _ := p.read(ctx, f); o != nil && o.differs == nil && (o.phase == phasePaid || o.phase == phaseEnded) {
			return settledBy(o)
		}
	}
	switch {
	case rebooks:
		return rebookAfter(err)
	case inDoubt:
		return inDoubtBy(err)
	}
	return refusedBy(err)
}

// funded reads the payout that the service says is funded. If it cannot be read, the refusal itself is the proof that
// the money moved. A refusal that names another payout than the known one proves nothing.
func (p *payoutFlow) funded(ctx context.Context, f *flow, refusal *errors.AlreadyFunded) stepResult {
	switch id, known := refusal.PayoutID, f.knownID(); {
	case id == "":
	case known != "" && id != known:
		return inDoubtBy(refusal)
	case f.booked == nil:
		f.booked = &offer{id: id}
	}
	o, err := p.read(ctx, f)
	switch {
	case err == nil && o.differs != nil:
		return inDoubtBy(f.withHead(o.differs))
	case err == nil && (o.phase == phasePaid || o.phase == phaseEnded):
		return settledBy(o)
	case f.readOther:
		return inDoubtBy(refusal)
	}
	return settledBy(nil)
}

// read reads the payout. A response about another payout is an error.
func (p *payoutFlow) read(ctx context.Context, f *flow) (*offer, error) {
	head := errors.CallInfo{Operation: opGetPayout.ID, IdempotencyKey: string(f.key), Resource: f.id()}
	if f.id() == "" {
		return nil, &errors.NotDelivered{CallInfo: head,
			Err: errors.New("this client does not know the payout of this key")}
	}
	f.wasRead, f.readOther, f.lastRead, f.readErr = true, false, nil, nil
	var response moneymovement.Response
	payout, err := p.approver.notePayout(p.low.as(p.reading).GetPayout(ctx, PayoutID(f.id()),
		[]moneymovement.CallOption{moneymovement.CaptureResponse(&response)}))
	switch {
	case err != nil:
		f.readErr = err
		return nil, err
	case string(payout.ID) != f.id(), payout.IdempotencyKey != "" && payout.IdempotencyKey != string(f.key):
		f.readOther = true
		return nil, &errors.UnexpectedResponse{CallInfo: head, Status: http.StatusOK,
			Err: errors.New("the response is about another payout")}
	}
	o := p.offer(f, payout, response.Body)
	if o.differs == nil {
		f.lastRead = o
	}
	return o, nil
}

// awaitFunding waits while the service funds the payout. If the payout is still not funded when the approval's window
// closes, the attempt is over, and the payout can be booked again.
func (p *payoutFlow) awaitFunding(ctx context.Context, f *flow, refusal error) stepResult {
	if seen := f.settledBefore(ctx); seen != nil {
		return *seen
	}
	// this call has not seen the approval, so take its latest possible end
	closes := p.approver.now().Add(payoutApproval)
	if f.booked != nil && f.booked.approval != nil {
		closes = f.booked.approval.ExpiresAt
	}
	// for an unknown status, too, the stated window decides: booking again asks the service
	lapsed := func(o *offer) bool {
		waits := o.payout.Status == PayoutStatusAwaitingApproval ||
			!o.payout.Status.Known() && o.phase != phasePaid
		return o.phase == phaseLapsed || waits && !p.approver.now().Before(closes)
	}
	p.reading = moneymovement.ClassPoll
	o, err := transport.Awaited[offer]{
		Client: p.low.transport, Operation: &opGetPayout, Resource: "payout", ID: f.id(),
		Read:   func(ctx context.Context) (*offer, error) { return p.read(ctx, f) },
		Status: func(o *offer) string { return string(o.payout.Status) },
		Done: func(o *offer) bool {
			return o.payout.Status.Final() || lapsed(o) ||
				o.phase == phasePaid && o.payout.Status != PayoutStatusFunding
		},
	}.Wait(ctx, nil)
	p.reading = ""
	switch {
	case err != nil:
		f.booked = cmp.Or(o, f.booked)
		f.lastRead = nil // an attempt that continues may still fail
		return inDoubtBy(err)
	case lapsed(o):
		return rebookAfter(refusal)
	case o.differs != nil:
		return inDoubtBy(f.withHead(o.differs))
	}
	return settledBy(o)
}

// readOutcome reads the payout, or searches the ledger for it. Even if this call was refused, another client may have
// paid the booking.
func (p *payoutFlow) readOutcome(ctx context.Context, f *flow, end stepResult) stepResult {
	inDoubt := end.moved == errors.MaybeMoved || f.earlier != errorbase.NonePaid || !f.attempt.onlyCall()
	if inDoubt && !f.wasRead {
		p.findInLedger(ctx, f, end.err)
	}
	if !f.wasRead {
		_, _ = p.read(ctx, f)
	}
	switch o := f.lastRead; {
	case o == nil:
	// a lapsed payout is not final here: it can be booked again, in this process or in another one
	case o.phase == phasePaid || o.phase == phaseEnded:
		return settledBy(o)
	case f.sent && end.moved == errors.NotMoved && !o.payout.awaitsApproval():
		end.moved = errors.MaybeMoved // it has moved on since, in words that this version does not know
	}
	return end
}

// The limits of what findInLedger reads.
const (
	findPages = 3  // of the ledger, newest entries first as far as is known
	findReads = 10 // of payouts
)

// findInLedger looks for the payout of this payment in the ledger. It is for a process that knows only the key: the
// service refuses the booking, for example because the contact was deleted, although an earlier process has paid. The
// ledger does not name keys, so findInLedger reads the payouts with the same amount. If it finds nothing, the payment
// may still have been made.
func (p *payoutFlow) findInLedger(ctx context.Context, f *flow, refusal error) {
	if f.id() != "" || !refusesBooking(refusal) {
		return
	}
	ledger := &Transactions{p.low}
	tried := map[PayoutID]bool{"": true}
	for entry, err := range ledger.upTo(ctx, findPages, ListTransactionsParams{Limit: maxPage}, nil) {
		switch {
		case err != nil:
			f.readErr = err
			return
		case len(tried) > findReads:
			return
		case tried[entry.PayoutID], !entry.Amount.Equal(p.asked.Amount), entry.Currency != p.asked.Currency:
			continue
		}
		tried[entry.PayoutID] = true
		f.booked = &offer{id: string(entry.PayoutID)}
		if o, err := p.read(ctx, f); err == nil && o.key != "" {
			return
		}
		f.booked, f.lastRead = nil, nil
	}
}

// refusesBooking reports a refusal of the request itself, and not of its credential or its rate. After such a refusal,
// other calls can still succeed.
func refusesBooking(err error) bool {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok || refusal.Code == errors.CodeIdempotencyKeyReused { // the key is that of another payment
		return false
	}
	switch refusal.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusGone,
		http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// mayHaveMoved reports whether the payment may be made after the error of a call. A response to a confirm that is not
// the service's, such as a proxy's page with status 404, does not show what the service did. Nor does a refusal of a
// confirm whose slug this version does not know, or says that what was confirmed is not there: it can be about a
// repetition.
func mayHaveMoved(err error) bool {
	failure, ok := errors.AsType[errors.Failure](err)
	if !ok || failure.MovedByCall() == errors.MaybeMoved {
		return true
	}
	if page, ok := errors.AsType[*errors.UnexpectedResponse](err); ok {
		return movesMoney(page.Operation)
	}
	if refusal, ok := errors.AsType[*errors.Refusal](err); ok {
		return movesMoney(refusal.Operation) && (!refusal.Code.Known() || refusal.Code == errors.CodeNotFound ||
			refusal.Code == errors.CodeGone)
	}
	return false
}

// movesMoney reports an operation that moves the money of a payment.
func movesMoney(operation string) bool {
	return operation == opConfirmPayout.ID || operation == opConfirmEscrowAction.ID
}

// needsNewBooking reports whether a payout is booked again after the error, for a fresh quote and approval.
func needsNewBooking(err error) bool {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	if !ok {
		return windowClosed(err)
	}
	switch refusal.Code {
	case errors.CodeQuoteExpired, errors.CodeFundingAttemptExpired,
		// another call with the key booked again
		errors.CodeApprovalExpired, errors.CodeApprovalConsumed, errors.CodeApprovalMismatch:
		return true
	}
	return false
}

// windowClosed reports whether the approval expired before it was signed, or before a confirm with an expired token
// could be sent again.
func windowClosed(err error) bool {
	if tooLong, ok := errors.AsType[*moneymovement.WindowFull](err); ok && tooLong.Closed {
		return true
	}
	refused, ok := errors.AsType[*signing.ApprovalRefused](err)
	return ok && refused.Expired
}
