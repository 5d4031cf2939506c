package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Pay makes a payment: it books a payout, compares price and terms with what was asked for, signs the approval and
// confirms it. Without [HighestFee] a fee of any size passes, and without [LeastArrives] or [NoWorseThan] the first
// price does, whatever arrives. The payment that it returns is funded: what the service shows of it says so, or, in
// words for a status that this version does not know, that it took the confirm. [Payouts.Wait] follows it to its end.
// [PaymentStateOf] says what an error means for the payment.
//
// key says which payment is meant. Calling Pay again with the same key and terms never pays twice, whatever happened to
// the calls before, for the 7 days that the service remembers the key; see [FirstUsedAt] for what comes later. An empty
// key is *errors.InvalidInput.
//
// A refusal speaks for its call; only success, already funded, or the payout's own end settles a payment that was in
// doubt. Pay assumes that the key may have been sent before, by this process or another, unless [FirstUse] says
// otherwise or the service shows that the booking is new. A payment that may have been made by this call or an earlier
// one ends in *errors.OutcomeUnknown, whatever was refused last, and never in the type of that refusal; the refusal is
// its Cause.
//
// On the way it settles what needs nobody's decision:
//
//   - already_funded: success, the funded payout is read and returned;
//   - funding_in_progress: it waits until the funding is through, as long as ctx lets it; of a payment that this client
//     has seen paid, it returns the payout at once;
//   - quote_expired, funding_attempt_expired, approval_expired, approval_mismatch, and a price or an approval that is
//     over by the service's clock: it books again with the same key. A fresh price has to keep the bounds, and without
//     a bound on what arrives it has to be as good as the first, but for the [QuoteTolerance];
//   - approval_consumed, and a confirm whose answer was lost: it reads the payout to see whether it is funded;
//   - a refusal after the booking: it reads the payout once, for another client with the same key may have paid it
//     since. If the booking itself is refused, and nobody here knows the payout, it looks through the newest 300
//     entries of the ledger.
//
// What it booked is returned with each error after the booking, and the error names it. Nothing was signed by a call
// that ends in *[PriceRefused], *[TermsDiffer], *[PaymentDeclined], *[KeyTooOld] or *signing.ApprovalRefused. A payment
// that was funded once and failed or came back is *[PayoutNotCompleted], and is not funded again. The others are those
// of [Payouts.Book] and [Payouts.Confirm], such as *errors.ContactNotPayable and *errors.PayoutNotFundable.
//
// Any number of payments may be started at once. They queue in front of the booking in the order in which they came,
// and nothing is signed before there is room in the rate window to send it.
//
// Source: Errors, Slugs; Limits, Lifetimes and Idempotency.
func (s *Payouts) Pay(
	ctx context.Context, payout PayoutCreate, key moneymovement.Key, options ...PayOption,
) (*Payout, error) {
	if err := transport.Of(s).low.ready(ctx, &opBookPayout); err != nil {
		return nil, err
	}
	wish := payWishOf(options)
	if err := checkPayment(opBookPayout.ID, key, payout.validate, s.demands(&payout), wish.check); err != nil {
		return nil, err
	}
	if err := wish.checkAge(opBookPayout.ID, key, s.approver.now()); err != nil {
		return nil, err
	}
	attempt, left, err := s.memory.begin(paymentKey{s.approver.account, opBookPayout.ID, string(key)}, wish.firstUse)
	if err != nil {
		return nil, err
	}
	defer attempt.abandon()
	p := &payment{service: s, payouts: s, asked: payout, key: key, wish: wish, attempt: attempt, doubt: left}
	return p.run(ctx)
}

// payment is one Pay under way.
type payment struct {
	service *Payouts
	payouts *Payouts // under the key that it was booked with
	asked   PayoutCreate
	key     moneymovement.Key // anchors the payment; it serves the confirm as well, whose scope is its own
	wish    payWish
	attempt *attempt

	doubt    doubt               // about this payment, from all that is known
	booked   *Payout             // as the last booking said, nil before the first
	feeKnown bool                // that booking said a fee, be it zero
	fresh    bool                // that booking is new, and waits for its approval
	over     *Payout             // a booking that was over when it came
	tried    *Payout             // a booking that was confirmed although it was over, as the service gave no other
	last     error               // what the last reopening is for
	looked   bool                // the payout was read since its last confirm
	seen     *Payout             // what that reading said, nil if it could not be read
	unread   error               // why it could not
	reading  transport.RateClass // of reads of the payout; empty for that of an ordinary read
	leave    func()              // the line of payments
}

// ending is how a step of a payment ends.
type ending struct {
	outcome outcome
	payout  *Payout // funded or at its own end
	err     error   // of the others
}

type outcome string

const (
	goesOn   outcome = "goes on"  // to the next step
	settled  outcome = "settled"  // the money has left or is leaving, or the payout came to its own end
	reopen   outcome = "reopen"   // the price or the approval is over: book again
	refused  outcome = "refused"  // this call ends without paying
	doubtful outcome = "doubtful" // what this call did is not known
)

// maxReopen bounds how often a payment whose window closed is booked again within one Pay.
const maxReopen = 3

// run makes the payment, in its turn.
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

// once books, looks at what came of it, signs and confirms.
func (p *payment) once(ctx context.Context) ending {
	p.payouts = p.service.underOneKey()
	for _, step := range []func(context.Context) ending{p.book, p.look, p.price, p.ask} {
		if end := step(ctx); end.outcome != goesOn {
			return end
		}
	}
	return p.confirm(ctx)
}

// settledBy is the ending of a payout that is funded or came to its own end.
func settledBy(payout *Payout) ending { return ending{outcome: settled, payout: payout} }

// conclude says how the payment ends, in the light of what is known about it from before this call, too.
func (p *payment) conclude(ctx context.Context, end ending) (*Payout, error) {
	inDoubt := end.outcome == doubtful || p.doubt != noDoubt || !p.attempt.alone()
	if end.outcome == refused || end.outcome == doubtful {
		if inDoubt && !p.looked {
			p.find(ctx, end.err)
		}
		if !p.looked { // also without a doubt: another client may have paid the booking since it was made
			p.read(ctx)
		}
		// One that reads as expired is not at its end: it can be booked again, here or in another process.
		if p.seen != nil && (p.seen.funded() || p.seen.Status.broke()) {
			end = settledBy(p.seen)
		}
	}
	switch end.outcome {
	case settled:
		p.attempt.end(over)
		if end.payout == nil {
			return p.known(), p.named(end.err)
		}
		return end.payout, p.named(end.payout.arrived())
	case refused:
		if !inDoubt {
			p.attempt.end(nothing)
			return p.known(), p.named(end.err)
		}
	}
	p.attempt.end(maybe)
	if _, old := errors.AsType[*KeyTooOld](end.err); old { // which says by itself that an earlier call may have paid
		return p.known(), p.named(end.err)
	}
	return p.known(), p.unknown(end.err)
}

// known is what was booked, or nil if no booking was answered.
func (p *payment) known() *Payout {
	if p.booked == nil || p.booked.Status == "" && p.booked.Approval == nil {
		return nil
	}
	return p.booked
}

// unknown is the error of a payment that may have been made.
func (p *payment) unknown(cause error) error {
	unknown := inDoubt(cause, opConfirmPayout.ID, p.key, "call Pay again with the same key and terms")
	return p.named(thenEnded(unknown, p.unread))
}

// headed says which call echoed other terms.
func (p *payment) headed(differs *TermsDiffer) *TermsDiffer {
	differs.CallInfo = p.head()
	return differs
}

// head is that of an error about what was booked.
func (p *payment) head() errors.CallInfo {
	return errors.CallInfo{Operation: opBookPayout.ID, Resource: string(p.id()), IdempotencyKey: string(p.key)}
}

// named says in an error which payout it is about, once there is one.
func (p *payment) named(err error) error {
	if id := p.id(); id != "" {
		errors.SetResource(err, string(id), string(p.key), callfacts.Asker{})
	}
	return err
}

// unproven is an answer that says success and does not show it: no more than one that was lost.
func (p *payment) unproven(operation, reason string) error {
	return unproven(errors.CallInfo{Operation: operation, IdempotencyKey: string(p.key)}, errors.New(reason))
}
