package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Pay makes a payment: it books a payout, compares the price and the terms with what you asked for, signs the approval
// and confirms it. It returns the payout when the money has left or is leaving. To wait until the money arrives, call
// [Payouts.Wait].
//
// Without [MaxFee], Pay accepts a fee of any size. Without [MinDestinationAmount] or [NoWorseThan], it accepts the
// first price, whatever amount arrives.
//
// If the error is nil, the returned payout is funded, or the service accepted the confirm and the payout has a status
// that this version does not know.
//
// # Repeating
//
// key identifies the payment. If you call Pay again with the same key and the same terms, it never pays twice, however
// the earlier calls ended. This holds for the 7 days in which the service remembers the key: see [FirstUsedAt]. Pay
// fails with *errors.InvalidInput if the key is empty.
//
// Pay assumes that the key may have been sent before, by this process or by another one, unless you pass [FirstUse]. A
// response that says that the booking is new does not change that: the service may have forgotten the key.
//
// A service that has forgotten the key books another payout. If this client has signed for a payout with this key
// before, or if you name one with [BookedBefore], Pay signs for no other: it reads that payout, returns it if it is
// paid or has ended, and confirms it if it waits for its approval. If that payout cannot be read, the payment is in
// doubt. So store the payout's id in [BeforeSigning], and pass it with the next call.
//
// # Errors
//
// Use [PaymentStateOf] to decide what to do after an error. A refusal is about one call. Only a success, the slug
// already_funded, or the final status of the payout settles a payment that was in doubt.
//
//   - *errors.OutcomeUnknown: this call or an earlier one may have paid. Call Pay again with the same key and terms,
//     and do not pay in another way. The last refusal is in Cause. The text says whether this call paid nothing.
//   - *errors.InvalidInput, *errors.ValidationFailed, *errors.InvalidRequest, *errors.InvalidID: the same terms can
//     never pass, so somebody must correct them. This call paid nothing. The text and [MayHavePaid] say whether an
//     earlier call may have paid.
//   - *[PriceRefused], *[TermsDiffer], *[PaymentDeclined], *[KeyTooOld], *signing.ApprovalRefused: this call paid
//     nothing.
//   - *[PayoutNotCompleted]: the payout ended without paying: it failed, was refunded or expired. Pay does not fund it
//     again. To pay, use a new key.
//   - The other errors of [Payouts.Book] and [Payouts.Confirm], such as *errors.ContactNotPayable and
//     *errors.PayoutNotFundable: nothing was paid. Pay returns them by their own type only if no earlier call can have
//     paid: see [FirstUse]. Otherwise they are the Cause of *errors.OutcomeUnknown.
//
// After the booking, Pay also returns the booked payout with each error. The error has the payout's id.
//
// # What Pay settles itself
//
//   - already_funded: Pay reads the funded payout and returns it. If it cannot be read, the error is
//     *errors.AlreadyFunded, the state is [PaymentPaid], and the payout may have only its ID. It is nil only if the
//     refusal does not name the payout and this client does not know it. Call Pay again with the same key to get it.
//   - funding_in_progress: Pay waits until the service has funded the payout, as long as ctx allows. If this client has
//     seen the payment paid before, it returns the payout at once.
//   - quote_expired, funding_attempt_expired, approval_expired, approval_mismatch, and a price or approval that has
//     expired by the service's clock: Pay books again with the same key. The fresh price must be within your bounds.
//     Without a bound on what arrives, it must be as good as the first price, within the [QuoteTolerance].
//   - approval_consumed, and a confirm whose response was lost: Pay reads the payout to see whether it is funded.
//   - A refusal after the booking: Pay reads the payout once, because another client with the same key may have paid
//     it. If the service refuses the booking and this client does not know the payout, Pay looks for it in the newest
//     300 entries of the ledger.
//
// # Many payments
//
// You can start any number of payments at once. They queue before the booking in the order of the calls. Pay signs only
// when there is room in the rate window to send the confirm.
func (s *Payouts) Pay(
	ctx context.Context, payout PayoutCreate, key moneymovement.Key, options ...PayOption,
) (*Payout, error) {
	if err := transport.Of(s).low.ready(ctx, &opBookPayout); err != nil {
		return nil, err
	}
	opts, scope := payOptionsOf(options), s.scope(string(key))
	if err := checkPayment(&opBookPayout, key, payout.validate, s.check(&payout), opts.check); err != nil {
		return nil, s.memory.refusedInput(scope, opts.firstUse, err)
	}
	if err := opts.checkAge(opBookPayout.ID, key, s.approver.now()); err != nil {
		return nil, err
	}
	attempt, left, err := s.memory.begin(scope, opts.firstUse)
	if err != nil {
		return nil, err
	}
	defer attempt.abandon()
	p := &payment{service: s, payouts: s, asked: payout, key: key, opts: opts, attempt: attempt, doubt: left}
	return p.run(ctx)
}

// payment is one call of Pay.
type payment struct {
	service *Payouts
	payouts *Payouts // with the developer key that booked the payout
	asked   PayoutCreate
	key     moneymovement.Key // of the booking and of the confirm, which are two scopes
	opts    payOptions
	attempt *attempt

	doubt     doubt                   // what is known about earlier calls
	booked    *Payout                 // the last booking, nil before the first
	feeKnown  bool                    // the last booking has a fee, which may be zero
	fresh     bool                    // the last booking is new, and waits for its approval
	over      *Payout                 // a booking that had expired when it came
	tried     *Payout                 // an expired booking that was confirmed, because the service returned no other
	last      error                   // why the payment was last booked again
	sent      bool                    // a confirm was sent
	wasRead   bool                    // the payout was read since the last confirm
	readOther bool                    // that read was about another payout
	lastRead  *Payout                 // the payout as that read returned it, nil if the read failed
	readErr   error                   // why that read failed
	reading   moneymovement.RateClass // of reads of the payout, "" for ordinary reads
	leave     func()                  // leaves the queue of payments
}

// ending is how a step of a payment ends.
type ending struct {
	outcome outcome
	payout  *Payout // funded or ended
	err     error   // of the other outcomes
}

type outcome string

const (
	proceed  outcome = "proceed"  // continue with the next step
	settled  outcome = "settled"  // the money has left or is leaving, or the payout has ended
	reopen   outcome = "reopen"   // the price or the approval has expired: book again
	refused  outcome = "refused"  // this call ends without paying
	doubtful outcome = "doubtful" // what this call did is not known
)

// maxReopen limits how often one call of Pay books a payment again whose price or approval expired.
const maxReopen = 3

// run makes the payment when its turn in the queue comes.
func (p *payment) run(ctx context.Context) (*Payout, error) {
	return p.conclude(ctx, p.inTurn(ctx))
}

func (p *payment) inTurn(ctx context.Context) ending {
	leave, err := p.payouts.line.enter(ctx, string(p.key))
	if err != nil {
		return ending{outcome: refused, err: err}
	}
	p.leave = leave
	defer leave()
	for reopened := 0; ; reopened++ {
		end := p.once(ctx)
		if end.outcome != reopen {
			return end
		}
		p.last = end.err
		if reopened == maxReopen {
			return ending{outcome: refused, err: end.err}
		}
	}
}

// once books, checks the booking, signs and confirms.
func (p *payment) once(ctx context.Context) ending {
	p.payouts = p.service.withCurrentKey()
	for _, step := range []func(context.Context) ending{p.book, p.checkTerms, p.checkClock, p.checkPrice, p.callHook} {
		if end := step(ctx); end.outcome != proceed {
			return end
		}
	}
	return p.confirm(ctx)
}

// settledBy returns the ending with a payout that is funded or has ended.
func settledBy(payout *Payout) ending { return ending{outcome: settled, payout: payout} }

// conclude returns the result of the payment. It also uses what is known from before this call.
func (p *payment) conclude(ctx context.Context, end ending) (*Payout, error) {
	inDoubt := end.outcome == doubtful || p.doubt != noDoubt || !p.attempt.onlyCall()
	if end.outcome == refused || end.outcome == doubtful {
		if inDoubt && !p.wasRead {
			p.find(ctx, end.err)
		}
		if !p.wasRead { // even without a doubt: another client may have paid the booking
			p.read(ctx)
		}
		// An expired payout is not final here: it can be booked again, in this process or in another one.
		if p.lastRead != nil && (p.lastRead.funded() || p.lastRead.Status.broke()) {
			end = settledBy(p.lastRead)
		}
		if p.sent && end.outcome == refused && p.lastRead != nil && !p.lastRead.waits() {
			end.outcome = doubtful // it has moved on since, in words that this version does not know
		}
	}
	switch end.outcome {
	case settled:
		p.attempt.settle(end)
		p.attempt.end(transport.KeySettled)
		if end.payout == nil {
			return p.identified(), p.named(end.err)
		}
		return end.payout, p.named(end.payout.notCompleted())
	case refused:
		earlier := callfacts.MayPay
		switch {
		case !inDoubt:
			earlier = callfacts.NonePaid
		case p.doubt != knownDoubt && p.attempt.onlyCall():
			earlier = callfacts.MayExist
		}
		return p.refused(end.err, earlier)
	}
	if _, old := end.err.(*KeyTooOld); old { //nolint:errorlint // one in the caller's error is of another payment
		return p.refused(end.err, callfacts.MayPay)
	}
	p.attempt.end(transport.KeyMaybePaid)
	return p.identified(), p.unknown(end.err)
}

// refused returns the result of a call that paid nothing.
func (p *payment) refused(err error, earlier callfacts.Earlier) (*Payout, error) {
	if earlier == callfacts.MayPay {
		p.attempt.end(transport.KeyMaybePaid)
	} else {
		p.attempt.end(transport.KeyUnpaid) // this client knows of no call that may have paid
	}
	if earlier == callfacts.NonePaid {
		saysOfEarlier(err, earlier)
		return p.known(), p.named(err)
	}
	err = inDoubt(err, opBookPayout.ID, p.key, againPay, earlier)
	if unknown, ok := err.(*errors.OutcomeUnknown); ok { //nolint:errorlint // a wrapped one is about something else
		return p.identified(), p.withRead(unknown)
	}
	return p.known(), p.named(err)
}

// known returns the booked payout, or nil if no booking was returned.
func (p *payment) known() *Payout {
	if p.booked == nil || p.booked.Status == "" && p.booked.Approval == nil {
		return nil
	}
	return p.booked
}

// identified returns the booked payout, or a payout with nothing but its id. It returns nil if the id is not known.
func (p *payment) identified() *Payout {
	if booked := p.known(); booked != nil || p.id() == "" {
		return booked
	}
	return &Payout{ID: p.id()}
}

// unknown returns the error of a payment that may have been made, by this call. If the service refused the read that
// should have settled it, the next call must wait as that refusal says.
func (p *payment) unknown(cause error) error {
	return p.withRead(unknownOutcome(cause, opConfirmPayout.ID, p.key, againPay))
}

const againPay = "call Pay again with the same key and terms"

// withRead adds to a doubt how the read failed that should have settled it.
func (p *payment) withRead(unknown *errors.OutcomeUnknown) error {
	if read, refused := errors.CallInfoOf(p.readErr); refused && read.RetryAt.After(unknown.RetryAt) {
		unknown.RetryAt = read.RetryAt
	}
	return p.named(withContextError(unknown, p.readErr))
}

// headed adds the call to the error of a booking with other terms.
func (p *payment) headed(differs *TermsDiffer) *TermsDiffer {
	differs.CallInfo = p.head()
	return differs
}

// head returns the head of an error about the booking.
func (p *payment) head() errors.CallInfo {
	return errors.CallInfo{Operation: opBookPayout.ID, Resource: string(p.id()), IdempotencyKey: string(p.key)}
}

// named adds the payout's id to an error, if it is known.
func (p *payment) named(err error) error {
	if id := p.id(); id != "" {
		callfacts.SetResource(err, string(id), string(p.key))
	}
	return err
}

// unproven returns the error of a response that reports success and does not show it. Like a lost response, it proves
// nothing.
func (p *payment) unproven(operation, reason string) error {
	return unproven(errors.CallInfo{Operation: operation, IdempotencyKey: string(p.key)}, errors.New(reason))
}
