package payments

import (
	"fmt"
	"hash/fnv"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// The state machine of a payment. An event makes a new record from a record, and nothing else: no clock, no store and
// no service. So it can be tested on its own, and every engine has the same payments.

// step is what to do next with a payment.
type step string

const (
	stepNone   step = "none"   // nothing, until somebody decides or ever
	stepPay    step = "pay"    // make the call that pays
	stepFollow step = "follow" // read how a paid payment goes on
	stepSearch step = "search" // look for the payment, because its key may have been forgotten
	stepExpire step = "expire" // refuse it: its deadline has passed, and nothing shows that it was paid
	stepRest   step = "rest"   // wait until the service has surely forgotten the key of an unpaid payment
)

// calls reports whether a step makes calls to the service.
func (s step) calls() bool { return s != stepNone && s != stepRest }

// The service remembers a key for 7 days from its first use. In the time around the end, it may or may not remember:
// a payment in doubt is searched instead of sent, and an unpaid one waits. The margin is longer than that of
// package dapi, so that a payment is searched before dapi refuses its key.
const (
	keyMargin    = 2 * time.Hour
	keyLifetime  = 7*24*time.Hour - keyMargin
	keyForgotten = 7*24*time.Hour + keyMargin
)

// next returns the step of a payment at a time.
func (r Record) next(now time.Time) step {
	switch r.State {
	case moneymovement.PaymentAccepted, moneymovement.PaymentPaying, moneymovement.PaymentInDoubt:
		age := r.keyAge(now)
		switch {
		case !r.MayHaveLeft && r.late(now):
			return stepExpire
		case r.MayHaveLeft && (age > keyLifetime || age < -clockMargin || r.KeyTooOld): // or a clock was set back
			return stepSearch
		case age > keyLifetime && age <= keyForgotten:
			return stepRest
		}
		return stepPay
	case moneymovement.PaymentPaid:
		return stepFollow
	}
	return stepNone
}

// late reports that the deadline has passed.
func (r *Record) late(now time.Time) bool { return !r.Deadline.IsZero() && now.After(r.Deadline) }

// keyAge returns how long ago the key was first used. It is longer than any lifetime if the key was not used, and
// negative after a clock was set back.
func (r Record) keyAge(now time.Time) time.Duration { return now.Sub(r.FirstUsed) }

// staleAfter is longer than the usual pauses between calls.
const staleAfter = 10 * time.Minute

// looksFirst reports that a payment is looked for before it is paid, because its record can be of an older copy of the
// store: it is in doubt and has no id, a person decided, or it has not changed for a while. The payment may have been
// made after the copy, and the service may have forgotten the key since. A doubt with a known id needs no look
// here: only that payout or deal is signed, and a transfer is looked up anyway.
func (r Record) looksFirst(now time.Time) bool {
	if r.MayHaveLeft {
		return r.PayoutID == "" && r.EscrowID == "" && r.Kind != KindTransfer
	}
	if r.Reason != nil && (r.Reason.Code == ReasonDecided || r.Reason.Code == ReasonInDoubt) {
		return true // also if the last look could not read
	}
	return now.Sub(r.ChangedAt).Abs() > staleAfter // or a clock was set back
}

// rest is the event of a key that the service may or may not remember. Nothing has left, so there is time.
func (r Record) rest() Record {
	r.Due = r.FirstUsed.Add(keyForgotten + time.Second)
	return r
}

// begin is the event before a call that pays. What it returns is stored before anything is sent.
func (r Record) begin(now time.Time) Record {
	if r.State == moneymovement.PaymentAccepted {
		r.to(moneymovement.PaymentPaying, now)
	}
	if age := r.keyAge(now); r.FirstUsed.IsZero() || !r.MayHaveLeft && (age > keyForgotten || age < 0) {
		r.FirstUsed, r.FirstQuote, r.PayoutID = now, nil, "" // nothing is left of an earlier use
		if r.Kind == KindEscrow {
			r.EscrowID = ""
		}
	}
	// The flows of dapi stop before they sign, so that this can be stored then. A transfer pays in one call.
	r.MayHaveLeft = r.MayHaveLeft || r.Kind == KindTransfer
	r.Calls++
	return r
}

// signing is the event after a booking and before its approval is signed. What it returns is stored before the
// signature: from then on, money may leave. quote is the price of a payout.
func (r Record) signing(history dapi.History, quote *dapi.Quote) Record {
	r.MayHaveLeft = true
	if r.Kind != KindPayout {
		r.EscrowID = history.EscrowID
		return r
	}
	r.PayoutID, r.Quote = history.PayoutID, quote
	if r.FirstQuote == nil {
		r.FirstQuote = quote
	}
	return r
}

// quoteLasts is the longest life of a price. A refused price is watched for as long after its end, because clocks
// differ.
const quoteLasts = 2 * time.Minute

// offersRefused reports that a booking offers the price again that was refused. It must be booked anew, after the price
// has ended.
func (r *Record) offersRefused(quote *dapi.Quote, now time.Time) bool {
	refused := r.RefusedQuote
	return refused != nil && quote != nil && refused.ExpiresAt.Equal(quote.ExpiresAt) &&
		refused.SourceAmount.Equal(quote.SourceAmount) && refused.DestinationAmount.Equal(quote.DestinationAmount) &&
		now.Before(refused.ExpiresAt.Add(quoteLasts))
}

// found is the event after a call or a look: what it shows about the payment.
type found struct {
	// state is what is known now. After not_paid, the payment is tried again. Paid leads to completed or came_back.
	state       moneymovement.PaymentState
	mayHaveLeft bool // whether a call may have paid, if it is not known to be paid
	payoutID    dapi.PayoutID
	escrowID    dapi.EscrowID
	hash        string
	reason      *Reason
	retryAt     time.Time    // when the service asks to come back; zero if it did not say
	same        bool         // a look at a paid payment that shows nothing new
	next        outcome.Next // after a refusal
	unread      bool         // in doubt: a search could not read
	wrong       bool         // the payout that a person named is not the payment's
}

// tooOld reports a doubt because the service may have forgotten the key.
func (f *found) tooOld() bool {
	return f.state == moneymovement.PaymentInDoubt && f.next == outcome.NewKey
}

// after returns the record after a call or a look.
func (r Record) after(f found, policy Policy, now time.Time) Record {
	r.identify(f)
	r.Reason = f.reason
	if f.reason != nil && f.reason.Quote != nil {
		r.RefusedQuote = f.reason.Quote
	}
	if f.state != moneymovement.PaymentPaid && f.state != moneymovement.PaymentCompleted {
		r.MayHaveLeft = f.mayHaveLeft
	}
	if f.mayHaveLeft && r.FirstUsed.IsZero() { // it was found, and a lost version of this record knew when
		r.FirstUsed = r.AcceptedAt
	}
	switch {
	case f.same:
		r.Reason, r.Due = nil, dueAfter(now, policy.followAfter(r.Key, now.Sub(r.ChangedAt)), f.retryAt)
		return r
	case f.tooOld(): // perhaps by the service's clock alone; dapi does not ask for the age of an unpaid payment's key
		r.Due, r.MayHaveLeft, r.KeyTooOld = now, true, true
		r.to(moneymovement.PaymentInDoubt, now)
	case f.state == moneymovement.PaymentPaid:
		r.Due, r.MayHaveLeft = dueAfter(now, policy.followAfter(r.Key, 0), f.retryAt), true
		r.to(f.state, now)
	case f.state == moneymovement.PaymentCompleted, f.state == moneymovement.PaymentCameBack:
		r.Due, r.MayHaveLeft = time.Time{}, true
		r.to(f.state, now)
	case f.state == moneymovement.PaymentRefused, f.state == moneymovement.PaymentNeedsDecision:
		r.Due = time.Time{}
		r.to(f.state, now)
	default:
		r.tryAgain(f, policy, now)
	}
	r.ChangedAt = now
	return r
}

// tryAgain is the event of a call that paid nothing, or whose result is not known.
func (r *Record) tryAgain(f found, policy Policy, now time.Time) {
	if f.unread {
		r.Searches++
	}
	r.Due = dueAfter(now, policy.retryAfter(r.Key, r.Calls+r.Searches), f.retryAt)
	refused := f.state == moneymovement.PaymentNotPaid && f.next != outcome.Pause
	if refused && f.reason != nil && f.reason.Slug != "" {
		r.Refusals++
	}
	switch {
	case r.MayHaveLeft:
		r.to(moneymovement.PaymentInDoubt, now)
	case refused && r.Refusals >= policy.Refusals:
		r.Due, r.Reason = time.Time{}, r.Reason.usedUp()
		r.to(moneymovement.PaymentNeedsDecision, now)
	default:
		r.to(moneymovement.PaymentAccepted, now)
	}
}

// identify stores what a call or a look shows of the payment's ids.
func (r *Record) identify(f found) {
	if f.payoutID != "" {
		r.PayoutID = f.payoutID
	}
	if f.escrowID != "" {
		r.EscrowID = f.escrowID
	}
	if f.hash != "" {
		r.TransactionHash = f.hash
	}
	if f.wrong {
		r.PayoutID, r.PaidAt = "", time.Time{}
	}
}

// expire is the event of a deadline that passes before any money could leave.
func (r Record) expire(now time.Time) Record {
	r.Due = time.Time{}
	r.Reason = &Reason{Code: ReasonDeadline, Message: "the deadline passed before the payment could be made"}
	r.to(moneymovement.PaymentRefused, now)
	return r
}

// returned is the event of money that came back, as the ledger shows it.
func (r Record) returned(reason *Reason, now time.Time) Record {
	r.Due, r.Reason = time.Time{}, reason
	r.to(moneymovement.PaymentCameBack, now)
	return r
}

func (r *Record) to(s moneymovement.PaymentState, now time.Time) {
	if r.State != s {
		r.State, r.ChangedAt, r.Searches = s, now, 0
	}
	if (s == moneymovement.PaymentPaid || s == moneymovement.PaymentCompleted) && r.PaidAt.IsZero() {
		r.PaidAt = now
	}
}

// usedUp returns the reason of a payment whose calls did not pay. The last refusal stays in it.
func (r *Reason) usedUp() *Reason {
	ended := Reason{Message: "the service refused as often as the policy allows"}
	if r != nil {
		ended = *r
	}
	ended.Code = ReasonRefusalsUsedUp
	return &ended
}

// waitMost is the longest wait that the service can ask for: its longest rate window is an hour. A response that asks
// for more is not from the service, or is wrong, and must not hold up a payment for ever.
const waitMost = time.Hour

// dueAfter returns the end of a pause, or the time at which the service asks to come back if that is later.
func dueAfter(now time.Time, pause time.Duration, retryAt time.Time) time.Time {
	return later(now.Add(pause), earlier(retryAt, now.Add(waitMost)))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Policy says how often and when a payment is tried again and looked at. The zero value is the default.
type Policy struct {
	// Refusals is how many refusals that may pass by themselves are taken before a person must decide, such as those of
	// a service whose partner is down. Calls that did not reach the service do not count, and neither do pauses of all
	// payments: see Late. It does not limit a payment in doubt, which is tried until it is known. The default is 50.
	Refusals int
	// RetryMin is the pause after the first call that did not pay. Each further pause is twice as long, up to RetryMax.
	// If the service says when to come back, that time counts. The defaults are 1 second and 5 minutes.
	RetryMin, RetryMax time.Duration
	// Late is the time after which a payment that is not made counts as late: a warning in the log says so once, with
	// the last reason, and LoadMetrics.Late counts it. The default is 1 hour.
	Late time.Duration
	// FollowMin is the pause before the first look at a payment that is paid. Each further pause is half of the time
	// since it was paid, from FollowMin to FollowMax. The defaults are 1 second and 5 minutes.
	FollowMin, FollowMax time.Duration
}

func (p Policy) withDefaults() Policy {
	set := func(value *time.Duration, usual time.Duration) {
		if *value <= 0 {
			*value = usual
		}
	}
	if p.Refusals <= 0 {
		p.Refusals = 50
	}
	set(&p.Late, time.Hour)
	set(&p.RetryMin, time.Second)
	set(&p.RetryMax, 5*time.Minute)
	set(&p.FollowMin, time.Second)
	set(&p.FollowMax, 5*time.Minute)
	p.RetryMax, p.FollowMax = max(p.RetryMin, p.RetryMax), max(p.FollowMin, p.FollowMax)
	return p
}

// retryAfter returns the pause after the nth call that did not pay.
func (p Policy) retryAfter(key moneymovement.Key, n int) time.Duration {
	return jittered(key, n, grown(p.RetryMin, p.RetryMax, n))
}

// followAfter returns the pause before the next look at a payment that has been paid for so long. It needs no count of
// looks, which would have to be stored with each look.
func (p Policy) followAfter(key moneymovement.Key, paidFor time.Duration) time.Duration {
	pause := min(max(paidFor/2, p.FollowMin), p.FollowMax)
	return jittered(key, int(pause/time.Second), pause)
}

// grown returns least, doubled n-1 times, and at most most.
func grown(least, most time.Duration, n int) time.Duration {
	pause := min(least, most)
	for range n - 1 {
		if pause > most/2 {
			return most
		}
		pause *= 2
	}
	return pause
}

// jittered shortens a pause to between half and all of it, so that payments that failed together do not come back
// together. It depends on the key alone: the same payment has the same pauses in every process and in every test.
func jittered(key moneymovement.Key, n int, pause time.Duration) time.Duration {
	digest := fnv.New64a()
	_, _ = fmt.Fprint(digest, string(key), n)
	half := pause / 2
	return half + time.Duration(digest.Sum64()%uint64(half+1)) //gosec:disable G115 -- a pause is not negative
}
