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
	stepSearch step = "search" // search for the payment, because its key may have been forgotten
	stepExpire step = "expire" // refuse it: its deadline has passed, and nothing shows that it was paid
	stepRest   step = "rest"   // wait until the service has surely forgotten the key of an unpaid payment
)

// calls reports whether a step makes calls to the service.
func (s step) calls() bool { return s != stepNone && s != stepRest }

// The service remembers a key for 7 days from its first use. In the time around the end, it may or may not remember:
// a payment in doubt is searched for and not sent, and an unpaid one waits. The margin is longer than that of
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
		case !r.MayHaveLeft && r.pastDeadline(now):
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

// pastDeadline reports that the deadline has passed.
func (r *Record) pastDeadline(now time.Time) bool {
	return !r.Deadline.IsZero() && now.After(r.Deadline)
}

// keyAge returns how long ago the key was first used. It is longer than any lifetime if the key was not used, and
// negative after a clock was set back.
func (r Record) keyAge(now time.Time) time.Duration { return now.Sub(r.FirstUsed) }

// staleAfter is longer than the usual pauses between calls.
const staleAfter = 10 * time.Minute

// searchFirst reports that a payment is searched for before it is paid, because its record can be of an older copy of
// the store: it is in doubt and has no id, a person decided, or it has not changed for a while. The payment may have
// been made after the copy, and the service may have forgotten the key since. With a known id no search is needed: only
// that payout or escrow is signed. A transfer in doubt is searched anyway.
func (r Record) searchFirst(now time.Time) bool {
	if r.MayHaveLeft {
		return r.PayoutID == "" && r.EscrowID == "" && r.Kind != KindTransfer
	}
	if r.Reason != nil && (r.Reason.Code == ReasonDecided || r.Reason.Code == ReasonInDoubt) {
		return true // also if the last search could not read
	}
	return now.Sub(r.ChangedAt).Abs() > staleAfter // or a clock was set back
}

// unsearched reports a payment from which nothing has left by its record, and whose last search could not read, or is
// still to come because the store was restored. It can be paid.
func (r *Record) unsearched() bool {
	return !r.MayHaveLeft && r.Reason != nil && r.Reason.Code == ReasonInDoubt
}

// Restored is the event of a store that was restored from a copy, which was made at a time: since then, the key may
// have been used, and what came of it is lost. It returns the payment as the store keeps it from then on, and whether
// it differs. A payment that waits for its turn or its next try is searched for before it is paid or refused. A payment
// that waits for a decision can be paid by now, so it cannot be canceled. If a payment may be paid anyway, is paid, has
// ended, or cannot be read, it stays as it is: what is known of it still holds.
//
// It is for engines: see [Store].
func (r Record) Restored(since time.Time) (Record, bool) {
	if r.MayHaveLeft || r.unreadable != nil {
		return r, false
	}
	why := "the store was restored from a copy of " + since.UTC().Format(time.RFC3339) +
		", and the payment can have been made since: "
	switch r.State {
	case moneymovement.PaymentAccepted, moneymovement.PaymentPaying:
		r.State = moneymovement.PaymentAccepted
		r.Reason = &Reason{Code: ReasonInDoubt, Message: why + "it is searched for first"}
		if r.Count != nil && r.Spending != nil { // a new record: the caps are asked when the search has not found it
			spending := *r.Spending
			spending.Unchecked = true
			r.Spending, r.Count = &spending, new(Count)
		}
	case moneymovement.PaymentNeedsDecision:
		r.MayHaveLeft = true
		if r.Reason != nil && r.Reason.Code == ReasonPolicy {
			why = r.Reason.Message + "; " + why + "Retry searches for it first"
			r.Reason = &Reason{Code: ReasonPolicy, Message: why}
		}
	default:
		return r, false
	}
	if r.FirstUsed.IsZero() || since.Before(r.FirstUsed) {
		r.FirstUsed = since.UTC()
	}
	return r, true
}

// waitForKeyToEnd is the event of a key that the service may or may not remember. Nothing has left, so there is time.
func (r Record) waitForKeyToEnd() Record {
	r.Due = r.FirstUsed.Add(keyForgotten + time.Second)
	return r
}

// begin is the event before a call that pays. What it returns is stored before anything is sent.
func (r Record) begin(now time.Time) Record {
	if r.State == moneymovement.PaymentAccepted {
		r.setState(moneymovement.PaymentPaying, now)
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

// hasRefusedPrice reports that a booking offers the price again that was refused. It must be booked anew, after the
// price has ended.
func (r *Record) hasRefusedPrice(quote *dapi.Quote, now time.Time) bool {
	refused := r.RefusedQuote
	return refused != nil && quote != nil && refused.ExpiresAt.Equal(quote.ExpiresAt) &&
		refused.SourceAmount.Equal(quote.SourceAmount) && refused.DestinationAmount.Equal(quote.DestinationAmount) &&
		now.Before(refused.ExpiresAt.Add(quoteLasts))
}

// callResult is what a call that pays, or a read of the payment, says about it.
type callResult struct {
	// state is what is known now. After not_paid, the payment is tried again. Paid leads to completed or came_back.
	state           moneymovement.PaymentState
	mayHaveLeft     bool // whether a call may have paid, if it is not known to be paid
	payoutID        dapi.PayoutID
	escrowID        dapi.EscrowID
	transactionHash string
	reason          *Reason
	retryAt         time.Time    // when the service asks to come back; zero if it did not say
	unchanged       bool         // a read of a paid payment with nothing new
	next            outcome.Next // after a refusal
	readFailed      bool         // a search could not read, so the payment is still in doubt
	wrongPayout     bool         // the payout that a person named is not the payment's
}

// keyTooOld reports that the payment is in doubt because the service may have forgotten the key.
func (result *callResult) keyTooOld() bool {
	return result.state == moneymovement.PaymentInDoubt && result.next == outcome.NewKey
}

// apply is the event after a call or a read. It returns the record with what the result says.
func (r Record) apply(result callResult, policy Policy, now time.Time) Record {
	r.setIDs(result)
	r.Reason = result.reason
	if result.reason != nil && result.reason.Quote != nil {
		r.RefusedQuote = result.reason.Quote
	}
	if result.state != moneymovement.PaymentPaid && result.state != moneymovement.PaymentCompleted {
		r.MayHaveLeft = result.mayHaveLeft
	}
	if result.mayHaveLeft && r.FirstUsed.IsZero() { // a search found it; when, only a lost version of this record knew
		r.FirstUsed = r.AcceptedAt
	}
	switch {
	case result.unchanged:
		r.Reason, r.Due = nil, dueAfter(now, policy.followAfter(r.Key, now.Sub(r.ChangedAt)), result.retryAt)
		return r
	case result.keyTooOld(): // perhaps by the service's clock alone: dapi does not ask for the age of an unpaid one
		r.Due, r.MayHaveLeft, r.KeyTooOld = now, true, true
		r.setState(moneymovement.PaymentInDoubt, now)
	case result.state == moneymovement.PaymentPaid:
		r.Due, r.MayHaveLeft = dueAfter(now, policy.followAfter(r.Key, 0), result.retryAt), true
		r.setState(result.state, now)
	case result.state == moneymovement.PaymentCompleted, result.state == moneymovement.PaymentCameBack:
		r.Due, r.MayHaveLeft = time.Time{}, true
		r.setState(result.state, now)
	case result.state == moneymovement.PaymentRefused, result.state == moneymovement.PaymentNeedsDecision:
		r.Due = time.Time{}
		r.setState(result.state, now)
	default:
		r.scheduleRetry(result, policy, now)
	}
	r.ChangedAt = now
	return r
}

// scheduleRetry is the event of a call that paid nothing, or whose result is not known.
func (r *Record) scheduleRetry(result callResult, policy Policy, now time.Time) {
	if result.readFailed {
		r.Searches++
	}
	r.Due = dueAfter(now, policy.retryAfter(r.Key, r.Calls+r.Searches), result.retryAt)
	refused := result.state == moneymovement.PaymentNotPaid && result.next != outcome.Pause
	if refused && result.reason != nil && result.reason.Slug != "" {
		r.Refusals++
	}
	switch {
	case r.MayHaveLeft:
		r.setState(moneymovement.PaymentInDoubt, now)
	case refused && r.Refusals >= policy.Refusals:
		r.Due, r.Reason = time.Time{}, r.Reason.refusalsUsedUp()
		r.setState(moneymovement.PaymentNeedsDecision, now)
	default:
		r.setState(moneymovement.PaymentAccepted, now)
	}
}

// setIDs stores the ids of the payment that a call or a read returned.
func (r *Record) setIDs(result callResult) {
	if result.payoutID != "" {
		r.PayoutID = result.payoutID
	}
	if result.escrowID != "" {
		r.EscrowID = result.escrowID
	}
	if result.transactionHash != "" {
		r.TransactionHash = result.transactionHash
	}
	if result.wrongPayout {
		r.PayoutID, r.PaidAt = "", time.Time{}
	}
}

// expire is the event of a deadline that passes before any money could leave.
func (r Record) expire(now time.Time) Record {
	r.Due = time.Time{}
	r.Reason = &Reason{Code: ReasonDeadline, Message: "the deadline passed before the payment could be made"}
	r.setState(moneymovement.PaymentRefused, now)
	return r
}

// cameBack is the event of money that came back, by the ledger.
func (r Record) cameBack(reason *Reason, now time.Time) Record {
	r.Due, r.Reason = time.Time{}, reason
	r.setState(moneymovement.PaymentCameBack, now)
	return r
}

func (r *Record) setState(s moneymovement.PaymentState, now time.Time) {
	if r.State != s {
		r.State, r.ChangedAt, r.Searches = s, now, 0
	}
	if (s == moneymovement.PaymentPaid || s == moneymovement.PaymentCompleted) && r.PaidAt.IsZero() {
		r.PaidAt = now
	}
}

// refusalsUsedUp returns the reason of a payment whose calls did not pay. The last refusal stays in it.
func (r *Reason) refusalsUsedUp() *Reason {
	ended := Reason{Message: "the service refused as often as the policy allows"}
	if r != nil {
		ended = *r
	}
	ended.Code = ReasonRefusalsUsedUp
	return &ended
}

// waitMost is the longest wait that the service can ask for: its longest rate window is an hour. A response that asks
// for more is wrong, and must not hold up a payment for ever.
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

// Policy says how often and when a payment is tried again and read. The zero value is the default.
type Policy struct {
	// Refusals is how many temporary refusals of a payment are retried before a person must decide, such as those of a
	// service whose partner is down. Calls that did not reach the service and pauses of all payments do not count (see
	// Late). A payment in doubt has no limit: it is retried until its outcome is known. The default is 50.
	Refusals int
	// RetryMin is the pause after the first call that did not pay. Each further pause is twice as long, up to RetryMax.
	// If the service says when to retry, that time counts. The defaults are 1 second and 5 minutes.
	RetryMin, RetryMax time.Duration
	// Late is the time after which a payment that is not made counts as late: a warning in the log says so once, with
	// the last reason, and LoadMetrics.Late counts it. The default is 1 hour.
	Late time.Duration
	// FollowMin is the pause before the first read of a payment that is paid. Each further pause is half of the time
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
	return jittered(key, n, doubled(p.RetryMin, p.RetryMax, n))
}

// followAfter returns the pause before the next read of a payment that has been paid for so long. It needs no count of
// reads, which would have to be stored with each read.
func (p Policy) followAfter(key moneymovement.Key, paidFor time.Duration) time.Duration {
	pause := min(max(paidFor/2, p.FollowMin), p.FollowMax)
	return jittered(key, int(pause/time.Second), pause)
}

// doubled returns least, doubled n-1 times, and at most most.
func doubled(least, most time.Duration, n int) time.Duration {
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
