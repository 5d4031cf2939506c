package payments

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// life is a payment that random events happen to, as a processor, a person and the service would make them happen.
type life struct {
	*rapid.T
	policy Policy
	now    time.Time
	r      Record
	sent   []time.Time // when the key was sent
	first  time.Time   // the first time it was sent, for the service's memory
	cause  string      // the last event
}

const testPayee dapi.EVMAddress = "0x52908400098527886E0F7030069857D2E4169EE7"

var birth = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func submissions() *rapid.Generator[Submission] {
	return rapid.Custom(func(t *rapid.T) Submission {
		key := moneymovement.Key(rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "key"))
		var deadline, used time.Time
		if rapid.Bool().Draw(t, "deadline") {
			deadline = birth.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "hours")) * time.Hour)
		}
		if rapid.IntRange(0, 3).Draw(t, "used") == 0 {
			used = birth.Add(-time.Duration(rapid.IntRange(0, 200).Draw(t, "hours ago")) * time.Hour)
		}
		deal := dapi.EscrowCreate{Amount: decimal.NewFromInt(5), Currency: dapi.USDC, Payee: testPayee}
		switch rapid.SampledFrom([]Kind{KindPayout, KindEscrow, KindEscrowAction, KindTransfer}).Draw(t, "kind") {
		case KindEscrow:
			return EscrowPayment{Key: key, Account: OwnAccount, Escrow: deal, Deadline: deadline, FirstUsed: used}
		case KindEscrowAction:
			return EscrowAction{Key: key, Account: OwnAccount, Escrow: deal, EscrowID: "es_1",
				Action: dapi.EscrowActionTypeRelease, Deadline: deadline, FirstUsed: used}
		case KindTransfer:
			return TransferPayment{Key: key, To: appapi.ToQuote{QuoteID: "q"}, Deadline: deadline, FirstUsed: used}
		default:
			return Payment{Key: key, Account: OwnAccount, Payout: dapi.PayoutCreate{ContactID: "ct_1",
				Amount: decimal.NewFromInt(5), Currency: dapi.USDC}, Deadline: deadline, FirstUsed: used}
		}
	})
}

func newLife(t *rapid.T) *life {
	l := &life{T: t, now: birth, cause: "submitted"}
	l.policy = Policy{Refusals: rapid.IntRange(1, 5).Draw(t, "calls")}.withDefaults()
	var err error
	l.r, err = Prepare(submissions().Draw(t, "submission"), l.now)
	require.NoError(t, err)
	l.first = l.r.FirstUsed
	return l
}

// change makes an event, and checks what holds for every event.
func (l *life) change(cause string, next Record, mayProveUnpaid bool) {
	before := l.r
	l.cause, l.r = cause, next
	if before.MayHaveLeft && !next.MayHaveLeft {
		assert.True(l, mayProveUnpaid, "%s: nothing shows that the money has not left", cause)
	}
	if before.State.Final() {
		assert.Equal(l, moneymovement.PaymentCameBack, next.State, "%s changed a payment that had ended", cause)
	}
	if next.State == moneymovement.PaymentRefused && before.State != moneymovement.PaymentRefused {
		assert.False(l, next.MayHaveLeft, "%s refused a payment that may be paid", cause)
	}
	switch next.State {
	case moneymovement.PaymentPaid, moneymovement.PaymentCompleted:
		assert.False(l, next.PaidAt.IsZero(), "%s: %s at no time", cause, next.State)
		assert.True(l, next.MayHaveLeft, "%s: %s", cause, next.State)
	case moneymovement.PaymentCameBack:
		assert.True(l, next.MayHaveLeft, "%s: %s", cause, next.State)
	case moneymovement.PaymentAccepted:
		assert.False(l, next.MayHaveLeft, "%s: an accepted payment may have left", cause)
	case moneymovement.PaymentInDoubt:
		assert.True(l, next.MayHaveLeft, "%s: nothing can have left of a payment in doubt", cause)
	}
	l.checkDue()
	l.checkStored()
}

// checkDue checks that something is due exactly while something is left to do.
func (l *life) checkDue() {
	ended := l.r.State.Final() || l.r.State == moneymovement.PaymentNeedsDecision
	assert.Equal(l, ended, l.r.Due.IsZero(), "%s: %s is due at %s", l.cause, l.r.State, l.r.Due)
	assert.Equal(l, ended, l.r.next(l.now.Add(1000*time.Hour)) == stepNone, "%s: %s", l.cause, l.r.State)
	assert.Equal(l, ended, l.r.Work() == WorkNone)
}

// checkStored checks that the record is read back as it was written.
func (l *life) checkStored() {
	text, err := l.r.Encode()
	require.NoError(l, err)
	assert.Equal(l, l.r, Decode(l.r.Key, text))
}

// step makes the next step, when it is due.
func (l *life) step() {
	if l.r.Due.IsZero() || l.r.Due.After(l.now) {
		return
	}
	switch next := l.r.next(l.now); next {
	case stepExpire:
		l.change("deadline", l.r.expire(l.now), false)
	case stepRest:
		l.change("rest", l.r.rest(), false)
		assert.True(l, l.r.Due.After(l.now), "rests until %s at %s", l.r.Due, l.now)
	case stepFollow:
		l.look(next)
	case stepSearch:
		l.look(next)
	case stepPay:
		l.call()
	default:
		assert.Fail(l, "a payment is due and has no step", "%+v", l.r)
	}
}

// call makes a call that pays. The process can die at each point of it.
func (l *life) call() {
	doubted := l.r.MayHaveLeft
	if l.r.looksFirst(l.now) && rapid.Bool().Draw(l.T, "cannot look") {
		l.show([]found{{state: moneymovement.PaymentInDoubt, unread: true}}, doubted)
		return
	}
	next := l.r.begin(l.now)
	if l.r.FirstUsed.IsZero() || !next.FirstUsed.Equal(l.r.FirstUsed) {
		l.first = l.now
	}
	l.change("begin", next, false)
	assert.NotEqual(l, moneymovement.PaymentAccepted, l.r.State)
	stops := l.r.Kind != KindTransfer
	assert.True(l, l.r.MayHaveLeft || stops, "a transfer is not stored again before it is signed")
	if rapid.Bool().Draw(l.T, "dies before the call") {
		return
	}
	l.send(doubted)
	if stops && rapid.Bool().Draw(l.T, "signs") {
		history := dapi.History{PayoutID: "po_1"}
		if l.r.Kind != KindPayout {
			history = dapi.History{EscrowID: "es_1"}
		}
		l.change("signing", l.r.signing(history, nil), false)
		assert.True(l, l.r.MayHaveLeft)
	}
	if rapid.Bool().Draw(l.T, "dies in the call") {
		return
	}
	shown := []found{{state: moneymovement.PaymentPaid}, {state: moneymovement.PaymentCompleted},
		{state: moneymovement.PaymentCameBack}, {state: moneymovement.PaymentInDoubt},
		{state: moneymovement.PaymentInDoubt, next: outcome.NewKey}, {state: moneymovement.PaymentNeedsDecision},
		{state: moneymovement.PaymentRefused}}
	if !doubted {
		shown = append(shown, found{state: moneymovement.PaymentNotPaid},
			found{state: moneymovement.PaymentNotPaid, next: outcome.Pause})
	}
	l.show(shown, doubted)
}

// send checks that the service knows whether it remembers the key.
func (l *life) send(doubted bool) {
	age := l.now.Sub(l.first)
	assert.False(l, age > keyLifetime && age <= keyForgotten, "the key is sent %s after its first use", age)
	assert.False(l, doubted && age > keyLifetime, "a payment that may be paid is sent %s after its first use", age)
	assert.True(l, !doubted || !l.r.KeyTooOld, "a payment whose key is known to be too old is sent")
	l.sent = append(l.sent, l.now)
}

func (l *life) look(s step) {
	if s == stepFollow {
		l.show([]found{{state: moneymovement.PaymentPaid, same: true}, {state: moneymovement.PaymentCompleted},
			{state: moneymovement.PaymentCameBack}}, true)
		return
	}
	l.show([]found{{state: moneymovement.PaymentPaid}, {state: moneymovement.PaymentCompleted},
		{state: moneymovement.PaymentCameBack}, {state: moneymovement.PaymentInDoubt, unread: true},
		{state: moneymovement.PaymentNeedsDecision}, {state: moneymovement.PaymentRefused}}, true)
}

// show is what the call or the look shows. A call that paid nothing may only say what is known about all calls.
func (l *life) show(shown []found, doubted bool) {
	f := rapid.SampledFrom(shown).Draw(l.T, "shown")
	switch f.state {
	case moneymovement.PaymentNotPaid, moneymovement.PaymentRefused:
	case moneymovement.PaymentNeedsDecision:
		f.mayHaveLeft = doubted || rapid.Bool().Draw(l.T, "may have left")
	default:
		f.mayHaveLeft = !f.unread || doubted // nothing new is known after a look that could not read
	}
	if rapid.IntRange(0, 4).Draw(l.T, "comes back") == 0 {
		f.retryAt = l.now.Add(time.Duration(rapid.IntRange(-100, 100_000).Draw(l.T, "seconds")) * time.Second)
	}
	next := l.r.after(f, l.policy, l.now)
	l.change(fmt.Sprintf("shown %+v", f), next, !f.mayHaveLeft)
	if l.r.Due.IsZero() {
		return
	}
	pause := l.r.Due.Sub(l.now)
	if !f.tooOld() {
		assert.LessOrEqual(l, pause, max(l.policy.RetryMax, l.policy.FollowMax, waitMost), "%s", l.cause)
		assert.GreaterOrEqual(l, pause, min(l.policy.RetryMin, l.policy.FollowMin)/2, "%s", l.cause)
		assert.GreaterOrEqual(l, pause, min(f.retryAt.Sub(l.now), waitMost), "%s comes back too early", l.cause)
	}
}

func decisions() *rapid.Generator[Decision] {
	noFee := decimal.New(0, 0)
	return rapid.SampledFrom([]Decision{
		NewBounds(dapi.Bounds{MaxFee: &noFee}), Retry(), Cancel(""), Cancel("the invoice was wrong"),
		WasPaid(""), WasPaid("po_7"), WasNotPaid(""), {},
	})
}

func (l *life) decide() {
	d := decisions().Draw(l.T, "decision")
	before := l.r
	next, problem := l.r.decide(d, l.now)
	if problem != "" {
		assert.Equal(l, before, next, "%s was not possible and changed the payment", d)
		return
	}
	assert.False(l, before.State.Final(), "%s of a payment that has ended", d)
	assert.False(l, d.kind == decideCancel && before.MayHaveLeft, "a payment that may be paid was canceled")
	l.change("decided "+d.String(), next, d.kind == decideNotPaid)
}

// A payment's whole life, whatever happens to it: what is said in doc.go about money and keys holds after each event.
func TestALife(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newLife(t)
		l.checkDue()
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				l.decide()
			case 1:
				l.now = l.now.Add(time.Duration(rapid.IntRange(0, 30*3600).Draw(t, "seconds")) * time.Second)
			default:
				if !l.r.Due.IsZero() && l.r.Due.After(l.now) {
					l.now = l.r.Due
				}
				l.step()
			}
		}
	})
}

// Money that came back after the payment had ended is the only change of an ended payment.
func TestAnEndedPaymentCanComeBack(t *testing.T) {
	r := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentCompleted, MayHaveLeft: true, PaidAt: birth}
	back := r.returned(&Reason{Code: ReasonReturned}, birth.Add(time.Hour))
	assert.Equal(t, moneymovement.PaymentCameBack, back.State)
	assert.Equal(t, birth.Add(time.Hour), back.ChangedAt)
	assert.True(t, back.MayHaveLeft)
	assert.Equal(t, stepNone, back.next(birth.Add(2*time.Hour)))
}

// With a clock that is set back, the key seems to be used in the future. Its age is then not known.
func TestAClockThatIsSetBack(t *testing.T) {
	early := birth.Add(-48 * time.Hour)
	doubt := Record{Kind: KindPayout, State: moneymovement.PaymentInDoubt, MayHaveLeft: true, FirstUsed: birth}
	assert.Equal(t, stepSearch, doubt.next(early))
	unpaid := Record{Kind: KindPayout, State: moneymovement.PaymentAccepted, FirstUsed: birth}
	assert.Equal(t, stepPay, unpaid.next(early))
	assert.Equal(t, early, unpaid.begin(early).FirstUsed)
	unpaid.ChangedAt = birth
	assert.True(t, unpaid.looksFirst(early))
	assert.False(t, unpaid.looksFirst(birth.Add(time.Minute)))
}

// The pauses of a policy grow, stay between half and all of what it says, and differ between payments.
func TestPauses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := Policy{
			RetryMin: time.Duration(rapid.Int64Range(-1, int64(time.Hour)).Draw(t, "retryMin")),
			RetryMax: time.Duration(rapid.Int64Range(-1, int64(100*time.Hour)).Draw(t, "retryMax")),
		}.withDefaults()
		n := rapid.IntRange(-1, 1_000_000).Draw(t, "n")
		pause := policy.retryAfter("k", n)
		assert.GreaterOrEqual(t, pause, policy.RetryMin/2)
		assert.LessOrEqual(t, pause, policy.RetryMax)
		follow := policy.followAfter("k", time.Duration(rapid.Int64().Draw(t, "paid for")))
		assert.GreaterOrEqual(t, follow, policy.FollowMin/2)
		assert.LessOrEqual(t, follow, policy.FollowMax)
	})
	policy := Policy{}.withDefaults()
	assert.NotEqual(t, policy.retryAfter("a", 3), policy.retryAfter("b", 3))
	assert.Equal(t, birth.Add(time.Hour), dueAfter(birth, time.Second, birth.Add(1000*time.Hour)))
	assert.Equal(t, birth.Add(time.Minute), dueAfter(birth, time.Second, birth.Add(time.Minute)))
	assert.Equal(t, birth.Add(time.Second), dueAfter(birth, time.Second, time.Time{}))
	first := policy.retryAfter("a", 3)
	assert.Equal(t, first, policy.retryAfter("a", 3))
	assert.GreaterOrEqual(t, policy.retryAfter("a", 40), policy.RetryMax/2)
	assert.GreaterOrEqual(t, policy.followAfter("a", time.Hour), policy.FollowMax/2)
}

// A payment that is paid and does not arrive is looked at less and less often.
func TestLooksBecomeRare(t *testing.T) {
	policy, now := Policy{}.withDefaults(), birth
	r := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentPaid, MayHaveLeft: true, PayoutID: "po_1",
		ChangedAt: birth}
	looks := 0
	for now.Before(birth.Add(24 * time.Hour)) {
		stored := r // a look is postponed, and nothing of the record is stored
		now = stored.after(found{state: moneymovement.PaymentPaid, mayHaveLeft: true, same: true}, policy, now).Due
		looks++
	}
	assert.Less(t, looks, 24*60/2)
	assert.Greater(t, looks, 24*60/5)
}

// leased is a payment that this process has claimed.
var leased = Claimed{Record{Key: "k-1"}, Lease{Owner: "p1", Epoch: 1}}

// oneMinute holds leases for a minute.
func oneMinute() *held {
	return newHeld(NewMemoryStore(), Config{Owner: "p1", LeaseFor: time.Minute, Now: time.Now},
		&outage{logger: slog.New(slog.DiscardHandler)})
}

// A claim that took as long as the lease lasts has no lease any more. Nothing may begin under it.
func TestALeaseThatEndedBeforeTheStep(t *testing.T) {
	t.Parallel()
	for _, took := range []time.Duration{time.Minute, time.Minute + time.Nanosecond, time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			h := oneMinute()
			claimed := time.Now()
			time.Sleep(took)
			kept, _, done := h.keep(t.Context(), leased, claimed)
			lost, ok := errors.AsType[*LeaseLost](context.Cause(kept))
			require.True(t, ok, "%v: %v", took, context.Cause(kept))
			assert.Equal(t, leased.Lease, lost.Lease)
			done(time.Time{}, true)
		})
	}
}

// Until then, the step has what is left of it.
func TestALeaseCountsFromItsClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := oneMinute()
		claimed := time.Now()
		time.Sleep(50 * time.Second)
		kept, _, done := h.keep(t.Context(), leased, claimed)
		require.NoError(t, kept.Err())
		<-kept.Done()
		assert.Equal(t, time.Minute, time.Since(claimed))
		done(time.Time{}, true)
	})
}

// unrenewed is a store that fails to renew leases.
type unrenewed struct{ Store }

func (unrenewed) Extend(context.Context, map[moneymovement.Key]Lease, time.Duration) ([]moneymovement.Key, error) {
	return nil, errors.New("the store is away")
}

// A step ends with its lease: at its end if the store cannot renew it, and at once if another process has the payment.
func TestALeaseThatIsNotRenewedEndsTheStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		store func(Store) Store
		after time.Duration
	}{
		"the store is away":   {func(s Store) Store { return unrenewed{s} }, time.Minute},
		"another process has": {func(s Store) Store { return s }, 18 * time.Second}, // the store has no such lease
	} {
		synctest.Test(t, func(t *testing.T) {
			h := oneMinute()
			h.store = c.store(h.store)
			claimed := time.Now()
			kept, _, done := h.keep(t.Context(), leased, claimed)
			select {
			case <-kept.Done():
				assert.Equal(t, c.after, time.Since(claimed), name)
				require.ErrorContains(t, context.Cause(kept), "the lease of p1 (epoch 1) has ended", name)
			case <-time.After(time.Hour):
				assert.Fail(t, "the step goes on", name)
			}
			done(time.Time{}, true)
			synctest.Wait()
		})
	}
}

// arrow is a change from one state to another.
type arrow struct{ from, to string }

// possible returns the changes that the state machine can make: every event that can happen in a state, with everything
// that it can show.
func possible(t *testing.T) (arrows []arrow) {
	t.Helper()
	changed := func(from, to Record) {
		if a := (arrow{string(from.State), string(to.State)}); from.State != to.State && !slices.Contains(arrows, a) {
			arrows = append(arrows, a)
		}
	}
	reason, policy := &Reason{Code: ReasonKeyTooOld}, Policy{}.withDefaults()
	show := func(r Record, shown ...found) {
		for _, f := range shown {
			f.mayHaveLeft, f.reason = f.state == moneymovement.PaymentInDoubt, reason
			changed(r, r.after(f, policy, birth))
		}
	}
	ends := []found{
		{state: moneymovement.PaymentPaid}, {state: moneymovement.PaymentCompleted},
		{state: moneymovement.PaymentCameBack}, {state: moneymovement.PaymentRefused},
		{state: moneymovement.PaymentNotPaid}, {state: moneymovement.PaymentNotPaid, next: outcome.Pause},
		{state: moneymovement.PaymentNeedsDecision}, {state: moneymovement.PaymentInDoubt},
		{state: moneymovement.PaymentInDoubt, next: outcome.NewKey},
	}
	accepted := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentAccepted}
	paying := accepted.begin(birth)
	changed(accepted, paying)
	changed(accepted, accepted.expire(birth))
	signed := paying.signing(dapi.History{PayoutID: "po_1"}, nil)
	show(signed, ends...)
	doubted := signed
	doubted.State = moneymovement.PaymentInDoubt
	show(doubted, ends...)
	paid := signed.after(found{state: moneymovement.PaymentPaid}, policy, birth)
	show(paid, found{state: moneymovement.PaymentPaid, same: true}, found{state: moneymovement.PaymentCompleted},
		found{state: moneymovement.PaymentCameBack})
	completed := paid.after(found{state: moneymovement.PaymentCompleted}, policy, birth)
	changed(completed, completed.returned(reason, birth))

	for _, state := range moneymovement.StoredPaymentStates() {
		for _, left := range []bool{false, true} {
			unpaid := state == moneymovement.PaymentAccepted
			if left && unpaid || !left && !unpaid && state != moneymovement.PaymentNeedsDecision {
				continue // such a record is not possible, or the state is over in a moment
			}
			r := Record{Key: "k", Kind: KindPayout, State: state, MayHaveLeft: left, Reason: reason}
			r.Reason = &Reason{Code: ReasonKeyReused}
			for _, d := range []Decision{
				NewBounds(dapi.Bounds{}), Retry(), Cancel(""), WasPaid(""), WasPaid("po_1"), WasNotPaid(""),
			} {
				if next, problem := r.decide(d, birth); problem == "" {
					changed(r, next)
				}
			}
		}
	}
	asked := dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(5), Currency: dapi.USDC}
	for _, used := range []time.Time{{}, birth} {
		record, err := Prepare(Payment{Key: "k", Account: OwnAccount, Payout: asked, FirstUsed: used}, birth)
		require.NoError(t, err)
		arrows = append(arrows, arrow{"submit", string(record.State)})
	}
	return arrows
}

// docs/pictures/payment-states.svg draws these. When they change, draw it anew.
func TestEveryChangeOfState(t *testing.T) {
	var drawn []arrow
	for row := range strings.Lines(`accepted: paying refused
completed: came_back
in_doubt: accepted came_back completed needs_decision paid refused
needs_decision: accepted completed in_doubt paid refused
paid: came_back completed
paying: accepted came_back completed in_doubt needs_decision paid refused
submit: accepted in_doubt`) {
		from, to, _ := strings.Cut(row, ":")
		for _, state := range strings.Fields(to) {
			drawn = append(drawn, arrow{from, state})
		}
	}
	assert.ElementsMatch(t, possible(t), drawn)
}
