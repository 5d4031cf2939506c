package payments

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// paymentModel is a payment that random events happen to, as a processor, a person and the service would make them
// happen.
type paymentModel struct {
	*rapid.T
	policy Policy
	now    time.Time
	r      Record
	sent   []time.Time // when the key was sent
	first  time.Time   // the first time it was sent, for the service's memory
	cause  string      // the last event
}

const testPayee dapi.EVMAddress = "0x52908400098527886E0F7030069857D2E4169EE7"

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func submissions() *rapid.Generator[Submission] {
	return rapid.Custom(func(t *rapid.T) Submission {
		key := moneymovement.Key(rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "key"))
		var deadline, used time.Time
		if rapid.Bool().Draw(t, "deadline") {
			deadline = start.Add(time.Duration(rapid.IntRange(1, 400).Draw(t, "hours")) * time.Hour)
		}
		if rapid.IntRange(0, 3).Draw(t, "used") == 0 {
			used = start.Add(-time.Duration(rapid.IntRange(0, 200).Draw(t, "hours ago")) * time.Hour)
		}
		escrow := dapi.EscrowCreate{Amount: decimal.NewFromInt(5), Currency: dapi.USDC, Payee: testPayee}
		switch rapid.SampledFrom([]Kind{KindPayout, KindEscrow, KindEscrowAction, KindTransfer}).Draw(t, "kind") {
		case KindEscrow:
			return EscrowPayment{Key: key, Account: OwnAccount, Escrow: escrow, Deadline: deadline, FirstUsed: used}
		case KindEscrowAction:
			return EscrowAction{Key: key, Account: OwnAccount, Escrow: escrow, EscrowID: "es_1",
				Action: dapi.EscrowActionTypeRelease, Deadline: deadline, FirstUsed: used}
		case KindTransfer:
			return TransferPayment{Key: key, To: appapi.ToQuote{QuoteID: "q"}, Deadline: deadline, FirstUsed: used}
		default:
			return Payment{Key: key, Account: OwnAccount, Payout: dapi.PayoutCreate{ContactID: "ct_1",
				Amount: decimal.NewFromInt(5), Currency: dapi.USDC}, Deadline: deadline, FirstUsed: used}
		}
	})
}

func newPaymentModel(t *rapid.T) *paymentModel {
	m := &paymentModel{T: t, now: start, cause: "submitted"}
	m.policy = Policy{Refusals: rapid.IntRange(1, 5).Draw(t, "calls")}.withDefaults()
	var err error
	m.r, err = Prepare(submissions().Draw(t, "submission"), m.now)
	require.NoError(t, err)
	m.first = m.r.FirstUsed
	return m
}

// transition makes an event, and checks what holds for every event.
func (m *paymentModel) transition(cause string, next Record, mayProveUnpaid bool) {
	before := m.r
	m.cause, m.r = cause, next
	if before.MayHaveLeft && !next.MayHaveLeft {
		assert.True(m, mayProveUnpaid, "%s: nothing shows that the money has not left", cause)
	}
	if before.State.Final() {
		assert.Equal(m, moneymovement.PaymentCameBack, next.State, "%s changed a payment that had ended", cause)
	}
	if next.State == moneymovement.PaymentRefused && before.State != moneymovement.PaymentRefused {
		assert.False(m, next.MayHaveLeft, "%s refused a payment that may be paid", cause)
	}
	switch next.State {
	case moneymovement.PaymentPaid, moneymovement.PaymentCompleted:
		assert.False(m, next.PaidAt.IsZero(), "%s: %s at no time", cause, next.State)
		assert.True(m, next.MayHaveLeft, "%s: %s", cause, next.State)
	case moneymovement.PaymentCameBack:
		assert.True(m, next.MayHaveLeft, "%s: %s", cause, next.State)
	case moneymovement.PaymentAccepted:
		assert.False(m, next.MayHaveLeft, "%s: an accepted payment may have left", cause)
	case moneymovement.PaymentInDoubt:
		assert.True(m, next.MayHaveLeft, "%s: nothing can have left of a payment in doubt", cause)
	}
	m.checkDue()
	m.checkStored()
}

// checkDue checks that something is due exactly while something is left to do.
func (m *paymentModel) checkDue() {
	ended := m.r.State.Final() || m.r.State == moneymovement.PaymentNeedsDecision
	assert.Equal(m, ended, m.r.Due.IsZero(), "%s: %s is due at %s", m.cause, m.r.State, m.r.Due)
	assert.Equal(m, ended, m.r.next(m.now.Add(1000*time.Hour)) == stepNone, "%s: %s", m.cause, m.r.State)
	assert.Equal(m, ended, m.r.Work() == WorkNone)
}

// checkStored checks that the record is read back as it was written.
func (m *paymentModel) checkStored() {
	text, err := m.r.Encode()
	require.NoError(m, err)
	assert.Equal(m, m.r, Decode(m.r.Key, text))
}

// step makes the next step, when it is due.
func (m *paymentModel) step() {
	if m.r.Due.IsZero() || m.r.Due.After(m.now) {
		return
	}
	switch next := m.r.next(m.now); next {
	case stepExpire:
		m.transition("deadline", m.r.expire(m.now), false)
	case stepRest:
		m.transition("rest", m.r.waitForKeyToEnd(), false)
		assert.True(m, m.r.Due.After(m.now), "rests until %s at %s", m.r.Due, m.now)
	case stepFollow:
		m.read(next)
	case stepSearch:
		m.read(next)
	case stepPay:
		m.call()
	default:
		assert.Fail(m, "a payment is due and has no step", "%+v", m.r)
	}
}

// call makes a call that pays. The process can die at each point of it.
func (m *paymentModel) call() {
	inDoubt := m.r.MayHaveLeft
	if m.r.searchFirst(m.now) && rapid.Bool().Draw(m.T, "cannot read") {
		m.applyResult([]callResult{{state: moneymovement.PaymentInDoubt, readFailed: true}}, inDoubt)
		return
	}
	next := m.r.begin(m.now)
	if m.r.FirstUsed.IsZero() || !next.FirstUsed.Equal(m.r.FirstUsed) {
		m.first = m.now
	}
	m.transition("begin", next, false)
	assert.NotEqual(m, moneymovement.PaymentAccepted, m.r.State)
	stops := m.r.Kind != KindTransfer
	assert.True(m, m.r.MayHaveLeft || stops, "a transfer is not stored again before it is signed")
	if rapid.Bool().Draw(m.T, "dies before the call") {
		return
	}
	m.send(inDoubt)
	if stops && rapid.Bool().Draw(m.T, "signs") {
		history := dapi.History{PayoutID: "po_1"}
		if m.r.Kind != KindPayout {
			history = dapi.History{EscrowID: "es_1"}
		}
		m.transition("signing", m.r.signing(history, nil), false)
		assert.True(m, m.r.MayHaveLeft)
	}
	if rapid.Bool().Draw(m.T, "dies in the call") {
		return
	}
	results := []callResult{{state: moneymovement.PaymentPaid}, {state: moneymovement.PaymentCompleted},
		{state: moneymovement.PaymentCameBack}, {state: moneymovement.PaymentInDoubt},
		{state: moneymovement.PaymentInDoubt, next: outcome.NewKey}, {state: moneymovement.PaymentNeedsDecision},
		{state: moneymovement.PaymentRefused}}
	if !inDoubt {
		results = append(results, callResult{state: moneymovement.PaymentNotPaid},
			callResult{state: moneymovement.PaymentNotPaid, next: outcome.Pause})
	}
	m.applyResult(results, inDoubt)
}

// send checks that the service knows whether it remembers the key.
func (m *paymentModel) send(inDoubt bool) {
	age := m.now.Sub(m.first)
	assert.False(m, age > keyLifetime && age <= keyForgotten, "the key is sent %s after its first use", age)
	assert.False(m, inDoubt && age > keyLifetime, "a payment that may be paid is sent %s after its first use", age)
	assert.True(m, !inDoubt || !m.r.KeyTooOld, "a payment whose key is known to be too old is sent")
	m.sent = append(m.sent, m.now)
}

func (m *paymentModel) read(s step) {
	if s == stepFollow {
		m.applyResult([]callResult{{state: moneymovement.PaymentPaid, unchanged: true},
			{state: moneymovement.PaymentCompleted},
			{state: moneymovement.PaymentCameBack}}, true)
		return
	}
	m.applyResult([]callResult{{state: moneymovement.PaymentPaid}, {state: moneymovement.PaymentCompleted},
		{state: moneymovement.PaymentCameBack}, {state: moneymovement.PaymentInDoubt, readFailed: true},
		{state: moneymovement.PaymentNeedsDecision}, {state: moneymovement.PaymentRefused}}, true)
}

// applyResult applies one of the possible results of a call or a read. A call that paid nothing may only say what is
// known about all calls.
func (m *paymentModel) applyResult(possible []callResult, inDoubt bool) {
	result := rapid.SampledFrom(possible).Draw(m.T, "shown")
	switch result.state {
	case moneymovement.PaymentNotPaid, moneymovement.PaymentRefused:
	case moneymovement.PaymentNeedsDecision:
		result.mayHaveLeft = inDoubt || rapid.Bool().Draw(m.T, "may have left")
	default:
		result.mayHaveLeft = !result.readFailed || inDoubt // nothing new is known after a read that failed
	}
	if rapid.IntRange(0, 4).Draw(m.T, "comes back") == 0 {
		result.retryAt = m.now.Add(time.Duration(rapid.IntRange(-100, 100_000).Draw(m.T, "seconds")) * time.Second)
	}
	next := m.r.apply(result, m.policy, m.now)
	m.transition(fmt.Sprintf("shown %+v", result), next, !result.mayHaveLeft)
	if m.r.Due.IsZero() {
		return
	}
	pause := m.r.Due.Sub(m.now)
	if !result.keyTooOld() {
		assert.LessOrEqual(m, pause, max(m.policy.RetryMax, m.policy.FollowMax, waitMost), "%s", m.cause)
		assert.GreaterOrEqual(m, pause, min(m.policy.RetryMin, m.policy.FollowMin)/2, "%s", m.cause)
		assert.GreaterOrEqual(m, pause, min(result.retryAt.Sub(m.now), waitMost), "%s comes back too early", m.cause)
	}
}

func decisions() *rapid.Generator[Decision] {
	noFee := decimal.New(0, 0)
	return rapid.SampledFrom([]Decision{
		NewBounds(dapi.Bounds{MaxFee: &noFee}), Retry(), Cancel(""), Cancel("the invoice was wrong"),
		WasPaid(""), WasPaid("po_7"), WasNotPaid(""), {},
	})
}

func (m *paymentModel) decide() {
	d := decisions().Draw(m.T, "decision")
	before := m.r
	next, problem := m.r.decide(d, m.now)
	if problem != "" {
		assert.Equal(m, before, next, "%s was not possible and changed the payment", d)
		return
	}
	assert.False(m, before.State.Final(), "%s of a payment that has ended", d)
	assert.False(m, d.kind == decideCancel && before.MayHaveLeft, "a payment that may be paid was canceled")
	m.transition("decided "+d.String(), next, d.kind == decideNotPaid)
}

// After each event, what doc.go says about money and keys holds, whatever happens to the payment.
func TestInvariantsOverRandomEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newPaymentModel(t)
		m.checkDue()
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				m.decide()
			case 1:
				m.now = m.now.Add(time.Duration(rapid.IntRange(0, 30*3600).Draw(t, "seconds")) * time.Second)
			default:
				if !m.r.Due.IsZero() && m.r.Due.After(m.now) {
					m.now = m.r.Due
				}
				m.step()
			}
		}
	})
}

// Money that came back after the payment had ended is the only change of an ended payment.
func TestEndedPaymentCanComeBack(t *testing.T) {
	r := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentCompleted, MayHaveLeft: true, PaidAt: start}
	back := r.cameBack(&Reason{Code: ReasonReturned}, start.Add(time.Hour))
	assert.Equal(t, moneymovement.PaymentCameBack, back.State)
	assert.Equal(t, start.Add(time.Hour), back.ChangedAt)
	assert.True(t, back.MayHaveLeft)
	assert.Equal(t, stepNone, back.next(start.Add(2*time.Hour)))
}

// With a clock that is set back, the key seems to be used in the future. Its age is then not known.
func TestClockSetBack(t *testing.T) {
	early := start.Add(-48 * time.Hour)
	doubt := Record{Kind: KindPayout, State: moneymovement.PaymentInDoubt, MayHaveLeft: true, FirstUsed: start}
	assert.Equal(t, stepSearch, doubt.next(early))
	unpaid := Record{Kind: KindPayout, State: moneymovement.PaymentAccepted, FirstUsed: start}
	assert.Equal(t, stepPay, unpaid.next(early))
	assert.Equal(t, early, unpaid.begin(early).FirstUsed)
	unpaid.ChangedAt = start
	assert.True(t, unpaid.searchFirst(early))
	assert.False(t, unpaid.searchFirst(start.Add(time.Minute)))
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
	assert.Equal(t, start.Add(time.Hour), dueAfter(start, time.Second, start.Add(1000*time.Hour)))
	assert.Equal(t, start.Add(time.Minute), dueAfter(start, time.Second, start.Add(time.Minute)))
	assert.Equal(t, start.Add(time.Second), dueAfter(start, time.Second, time.Time{}))
	first := policy.retryAfter("a", 3)
	assert.Equal(t, first, policy.retryAfter("a", 3))
	assert.GreaterOrEqual(t, policy.retryAfter("a", 40), policy.RetryMax/2)
	assert.GreaterOrEqual(t, policy.followAfter("a", time.Hour), policy.FollowMax/2)
}

// A payment that is paid and does not arrive is looked at less and less often.
func TestReadsOfPaidPaymentBecomeRare(t *testing.T) {
	policy, now := Policy{}.withDefaults(), start
	r := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentPaid, MayHaveLeft: true, PayoutID: "po_1",
		ChangedAt: start}
	looks := 0
	for now.Before(start.Add(24 * time.Hour)) {
		stored := r // a look is postponed, and nothing of the record is stored
		unchanged := callResult{state: moneymovement.PaymentPaid, mayHaveLeft: true, unchanged: true}
		now = stored.apply(unchanged, policy, now).Due
		looks++
	}
	assert.Less(t, looks, 24*60/2)
	assert.Greater(t, looks, 24*60/5)
}

// arrow is a change from one state to another.
type stateChange struct{ from, to string }

// possible returns the changes that the state machine can make: every event that can happen in a state, with everything
// that it can show.
func possibleChanges(t *testing.T) (arrows []stateChange) {
	t.Helper()
	changed := func(from, to Record) {
		a := stateChange{string(from.State), string(to.State)}
		if from.State != to.State && !slices.Contains(arrows, a) {
			arrows = append(arrows, a)
		}
	}
	reason, policy := &Reason{Code: ReasonKeyTooOld}, Policy{}.withDefaults()
	show := func(r Record, shown ...callResult) {
		for _, result := range shown {
			result.mayHaveLeft, result.reason = result.state == moneymovement.PaymentInDoubt, reason
			changed(r, r.apply(result, policy, start))
		}
	}
	ends := []callResult{
		{state: moneymovement.PaymentPaid}, {state: moneymovement.PaymentCompleted},
		{state: moneymovement.PaymentCameBack}, {state: moneymovement.PaymentRefused},
		{state: moneymovement.PaymentNotPaid}, {state: moneymovement.PaymentNotPaid, next: outcome.Pause},
		{state: moneymovement.PaymentNeedsDecision}, {state: moneymovement.PaymentInDoubt},
		{state: moneymovement.PaymentInDoubt, next: outcome.NewKey},
	}
	accepted := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentAccepted}
	paying := accepted.begin(start)
	changed(accepted, paying)
	changed(accepted, accepted.expire(start))
	signed := paying.signing(dapi.History{PayoutID: "po_1"}, nil)
	show(signed, ends...)
	doubted := signed
	doubted.State = moneymovement.PaymentInDoubt
	show(doubted, ends...)
	paid := signed.apply(callResult{state: moneymovement.PaymentPaid}, policy, start)
	show(paid, callResult{state: moneymovement.PaymentPaid, unchanged: true},
		callResult{state: moneymovement.PaymentCompleted},
		callResult{state: moneymovement.PaymentCameBack})
	completed := paid.apply(callResult{state: moneymovement.PaymentCompleted}, policy, start)
	changed(completed, completed.cameBack(reason, start))

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
				if next, problem := r.decide(d, start); problem == "" {
					changed(r, next)
				}
			}
		}
	}
	asked := dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(5), Currency: dapi.USDC}
	for _, used := range []time.Time{{}, start} {
		record, err := Prepare(Payment{Key: "k", Account: OwnAccount, Payout: asked, FirstUsed: used}, start)
		require.NoError(t, err)
		arrows = append(arrows, stateChange{"submit", string(record.State)})
	}
	return arrows
}

// docs/pictures/payment-states.svg draws these. When they change, draw it anew.
func TestEveryChangeOfState(t *testing.T) {
	var drawn []stateChange
	for row := range strings.Lines(`accepted: paying refused
completed: came_back
in_doubt: accepted came_back completed needs_decision paid refused
needs_decision: accepted completed in_doubt paid refused
paid: came_back completed
paying: accepted came_back completed in_doubt needs_decision paid refused
submit: accepted in_doubt`) {
		from, to, _ := strings.Cut(row, ":")
		for _, state := range strings.Fields(to) {
			drawn = append(drawn, stateChange{from, state})
		}
	}
	assert.ElementsMatch(t, possibleChanges(t), drawn)
}

// What the next step is, by the state, the age of the key and the deadline. The words are those of the metrics.
func TestNextStep(t *testing.T) {
	const week, margin = 7 * 24 * time.Hour, 2 * time.Hour
	for name, c := range map[string]struct {
		state    moneymovement.PaymentState
		left     bool
		age      time.Duration // 0 for a key that was not used
		deadline time.Duration // from now, 0 without one
		want     string
	}{
		"new":                                {state: "accepted", want: "pay"},
		"begun":                              {state: "paying", age: time.Hour, want: "pay"},
		"in doubt":                           {state: "in_doubt", left: true, age: time.Hour, want: "pay"},
		"unpaid, while the key lives":        {state: "accepted", age: week - margin, want: "pay"},
		"unpaid, and the key may be gone":    {state: "accepted", age: week - margin + 1, want: "rest"},
		"unpaid, and the key may live":       {state: "accepted", age: week + margin, want: "rest"},
		"unpaid, and the key is gone":        {state: "accepted", age: week + margin + 1, want: "pay"},
		"in doubt, while the key lives":      {state: "in_doubt", left: true, age: week - margin, want: "pay"},
		"in doubt, and the key may be gone":  {state: "in_doubt", left: true, age: week - margin + 1, want: "search"},
		"in doubt, a clock an hour behind":   {state: "in_doubt", left: true, age: -time.Hour, want: "pay"},
		"in doubt, a clock farther behind":   {state: "in_doubt", left: true, age: -time.Hour - 1, want: "search"},
		"at the deadline":                    {state: "accepted", deadline: 1, want: "pay"},
		"after the deadline":                 {state: "accepted", deadline: -1, want: "expire"},
		"in doubt, after the deadline":       {state: "in_doubt", left: true, age: 1, deadline: -1, want: "pay"},
		"paid":                               {state: "paid", left: true, age: 2 * week, want: "follow"},
		"completed":                          {state: "completed", left: true, age: 1, want: "none"},
		"refused":                            {state: "refused", deadline: -1, want: "none"},
		"needs a decision":                   {state: "needs_decision", left: true, age: 1, want: "none"},
		"of a state that nobody knows today": {state: "one_of_tomorrow", want: "none"},
	} {
		r := Record{State: c.state, MayHaveLeft: c.left}
		if c.age != 0 {
			r.FirstUsed = start.Add(-c.age)
		}
		if c.deadline != 0 {
			r.Deadline = start.Add(c.deadline)
		}
		assert.Equal(t, c.want, string(r.next(start)), name)
	}
}

// A key that the service has forgotten, and with which nothing can have left, is used for the first time again.
func TestFirstUseOfKeyIsKept(t *testing.T) {
	const forgotten = 7*24*time.Hour + 2*time.Hour
	quote := &dapi.Quote{}
	for name, c := range map[string]struct {
		age  time.Duration
		left bool
		kept bool
	}{
		"the key may live":               {forgotten, false, true},
		"the key is gone":                {forgotten + 1, false, false},
		"the key is gone, and in doubt":  {forgotten + 1, true, true},
		"just used":                      {0, false, true},
		"used in the future":             {-1, false, false},
		"used in the future, in a doubt": {-1, true, true},
	} {
		for _, kind := range []Kind{KindPayout, KindEscrow, KindEscrowAction} {
			used := start.Add(-c.age)
			r := Record{Kind: kind, State: moneymovement.PaymentAccepted, MayHaveLeft: c.left, FirstUsed: used,
				FirstQuote: quote, PayoutID: "po_1", EscrowID: "esc_1", Calls: 3}.begin(start)
			assert.Equal(t, 4, r.Calls, name)
			assert.Equal(t, c.left, r.MayHaveLeft, name)
			assert.Equal(t, moneymovement.PaymentPaying, r.State, name)
			if c.kept {
				assert.Equal(t, used, r.FirstUsed, name)
				assert.Equal(t, quote, r.FirstQuote, name)
				assert.Equal(t, "po_1 esc_1", fmt.Sprint(r.PayoutID, " ", r.EscrowID), name)
				continue
			}
			assert.Equal(t, start, r.FirstUsed, name)
			assert.Nil(t, r.FirstQuote, name)
			assert.Empty(t, r.PayoutID, name)
			assert.Equal(t, kind != KindEscrow, r.EscrowID != "",
				"%s: the escrow of an action is one of its terms", name)
		}
	}
	transfer := Record{Kind: KindTransfer, State: moneymovement.PaymentInDoubt}.begin(start)
	assert.True(t, transfer.MayHaveLeft, "it pays in one call")
	assert.Equal(t, moneymovement.PaymentInDoubt, transfer.State)
}

// A record that can be of an older copy of the store is looked for before it is paid.
func TestSearchFirst(t *testing.T) {
	for name, c := range map[string]struct {
		r    Record
		want bool
	}{
		"just changed":                 {Record{ChangedAt: start.Add(-10 * time.Minute)}, false},
		"not changed for a while":      {Record{ChangedAt: start.Add(-10*time.Minute - 1)}, true},
		"changed in the future":        {Record{ChangedAt: start.Add(10*time.Minute + 1)}, true},
		"a person decided":             {Record{ChangedAt: start, Reason: &Reason{Code: ReasonDecided}}, true},
		"the last search did not read": {Record{ChangedAt: start, Reason: &Reason{Code: ReasonInDoubt}}, true},
		"another reason":               {Record{ChangedAt: start, Reason: &Reason{Code: ReasonPrice}}, false},
		"in doubt, without an id":      {Record{Kind: KindPayout, MayHaveLeft: true, ChangedAt: start}, true},
		"in doubt, with a payout":      {Record{Kind: KindPayout, MayHaveLeft: true, PayoutID: "po_1"}, false},
		"in doubt, with an escrow":     {Record{Kind: KindEscrow, MayHaveLeft: true, EscrowID: "esc_1"}, false},
		"a transfer in doubt":          {Record{Kind: KindTransfer, MayHaveLeft: true}, false},
	} {
		assert.Equal(t, c.want, c.r.searchFirst(start), name)
	}
}

// What a call shows of ids stays, also if the next one does not show them. The payout that a person named is dropped if
// it is another payment's.
func TestKnownIDsAreKept(t *testing.T) {
	r := Record{Key: "k", Kind: KindPayout, State: moneymovement.PaymentPaying, AcceptedAt: start}
	policy := Policy{}.withDefaults()
	shown := callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, payoutID: "po_1", escrowID: "esc_1",
		transactionHash: "0x1", reason: &Reason{Code: ReasonPrice, Quote: &dapi.Quote{SourceCurrency: "USDC"}}}
	now := start.Add(time.Minute)
	r = r.apply(shown, policy, now)
	assert.Equal(t, start, r.FirstUsed, "a lost version of the record knew when")
	r = r.apply(callResult{state: moneymovement.PaymentPaid}, policy, now)
	assert.Equal(t, "po_1 esc_1 0x1", fmt.Sprint(r.PayoutID, " ", r.EscrowID, " ", r.TransactionHash))
	assert.Equal(t, "USDC", r.RefusedQuote.SourceCurrency)
	assert.Nil(t, r.Reason)
	assert.True(t, r.MayHaveLeft)
	assert.Equal(t, now, r.PaidAt)

	r = r.apply(callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, wrongPayout: true}, policy, now)
	assert.Empty(t, r.PayoutID)
	assert.True(t, r.PaidAt.IsZero())
}

// Refusals count if they are of the service and about the payment. Looks that could not read make the pauses longer.
func TestCountOfRefusals(t *testing.T) {
	policy := Policy{Refusals: 2}.withDefaults()
	slug := &Reason{Code: ReasonRefusal, Slug: errors.CodeConflict}
	for name, c := range map[string]struct {
		f          callResult
		refusals   int
		searches   int
		afterwards moneymovement.PaymentState
	}{
		"refused": {callResult{state: moneymovement.PaymentNotPaid, reason: slug}, 2, 0,
			moneymovement.PaymentNeedsDecision},
		"not delivered": {callResult{state: moneymovement.PaymentNotPaid, reason: &Reason{Code: ReasonNotSent}}, 1, 0,
			moneymovement.PaymentAccepted},
		"no reason": {callResult{state: moneymovement.PaymentNotPaid}, 1, 0, moneymovement.PaymentAccepted},
		"all calls pause": {callResult{state: moneymovement.PaymentNotPaid, reason: slug, next: outcome.Pause}, 1, 0,
			moneymovement.PaymentAccepted},
		"in doubt": {callResult{state: moneymovement.PaymentInDoubt, mayHaveLeft: true, reason: slug}, 1, 0,
			moneymovement.PaymentInDoubt},
		"a look that could not read": {callResult{state: moneymovement.PaymentInDoubt, readFailed: true}, 1, 1,
			moneymovement.PaymentAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			r := Record{Key: "k", State: moneymovement.PaymentAccepted, Calls: 5, Refusals: 1, FirstUsed: start}
			r = r.apply(c.f, policy, start)
			assert.Equal(t, c.refusals, r.Refusals)
			assert.Equal(t, c.searches, r.Searches)
			assert.Equal(t, c.afterwards, r.State)
			if r.State == moneymovement.PaymentNeedsDecision {
				assert.Equal(t, ReasonRefusalsUsedUp, r.Reason.Code)
				assert.Equal(t, slug.Slug, r.Reason.Slug)
				assert.Zero(t, r.Due)
				return
			}
			assert.Equal(t, start.Add(policy.retryAfter("k", 5+c.searches)), r.Due)
		})
	}
}

// A price that was refused is watched for two minutes after its end.
func TestRefusedPriceIsRecognized(t *testing.T) {
	quote := dapi.Quote{SourceAmount: decimal.NewFromInt(5), DestinationAmount: decimal.NewFromInt(4),
		ExpiresAt: start}
	r := Record{RefusedQuote: &quote}
	assert.True(t, r.hasRefusedPrice(&quote, start.Add(2*time.Minute-1)))
	assert.False(t, r.hasRefusedPrice(&quote, start.Add(2*time.Minute)))
	assert.False(t, r.hasRefusedPrice(nil, start))
	for name, change := range map[string]func(*dapi.Quote){
		"less leaves":  func(q *dapi.Quote) { q.SourceAmount = decimal.NewFromInt(4) },
		"more arrives": func(q *dapi.Quote) { q.DestinationAmount = decimal.NewFromInt(5) },
		"it is new":    func(q *dapi.Quote) { q.ExpiresAt = start.Add(time.Second) },
	} {
		other := quote
		change(&other)
		assert.False(t, r.hasRefusedPrice(&other, start), name)
	}
}

// What a restored store knows of a payment is no more than the copy did: it is not paid, refused or canceled without a
// search, and a payment of which more is known stays as it is.
func TestRestoredPayments(t *testing.T) {
	copied, now := start.Add(time.Hour), start.Add(2*time.Hour)
	for name, c := range map[string]struct {
		state  moneymovement.PaymentState
		left   bool
		used   time.Time
		reason *Reason
		want   moneymovement.PaymentState // empty if nothing changes
		first  time.Time
	}{
		"new":         {state: "accepted", want: "accepted", first: copied},
		"used before": {state: "accepted", used: start, want: "accepted", first: start},
		"used after":  {state: "accepted", used: now, want: "accepted", first: copied},
		"begun":       {state: "paying", used: start, want: "accepted", first: start},
		"dear": {state: "needs_decision", reason: &Reason{Code: ReasonPrice}, want: "needs_decision",
			first: copied},
		"may have left":  {state: "needs_decision", left: true, used: start},
		"in doubt":       {state: "in_doubt", left: true, used: start},
		"paid":           {state: "paid", left: true, used: start},
		"refused":        {state: "refused"},
		"money is there": {state: "completed", left: true, used: start},
	} {
		t.Run(name, func(t *testing.T) {
			r := Record{Key: "k", Kind: KindPayout, State: c.state, MayHaveLeft: c.left, FirstUsed: c.used,
				Reason: c.reason, AcceptedAt: start, ChangedAt: now, Due: now}
			next, differs := r.Restored(copied)
			if c.want == "" {
				assert.False(t, differs)
				assert.Equal(t, r, next)
				return
			}
			assert.True(t, differs)
			assert.Equal(t, c.want, next.State)
			assert.Equal(t, c.first, next.FirstUsed)
			_, problem := next.decide(Cancel(""), now)
			assert.NotEmpty(t, problem, "it can be paid")
			if c.want == moneymovement.PaymentNeedsDecision {
				assert.Equal(t, c.reason, next.Reason)
				next, problem = next.decide(Retry(), now)
				assert.Empty(t, problem)
				assert.Equal(t, moneymovement.PaymentInDoubt, next.State)
			}
			assert.True(t, next.searchFirst(now))
			next, problem = next.decide(Retry(), now)
			assert.Empty(t, problem)
			assert.True(t, next.searchFirst(now))
			_, problem = next.decide(Cancel(""), now)
			assert.NotEmpty(t, problem, "a retry is not a search")
			again, differs := next.Restored(copied)
			assert.Equal(t, !next.MayHaveLeft, differs)
			assert.Equal(t, next.FirstUsed, again.FirstUsed)
		})
	}
	_, differs := Decode("k", []byte("damaged")).Restored(copied)
	assert.False(t, differs)
}
