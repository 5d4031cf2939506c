package payment_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/temporal/payment"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

const week = 7 * 24 * time.Hour

// The money has left, and the service is away for 8 days. It has forgotten the key then, and would pay again. The
// payout of the first call is read instead.
func TestAKeyThatIsTooOldIsNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.host.Arm(http.MethodPost, confirm, sandbox.DropAfterCommit())
	r.host.Arm(http.MethodGet, payout, sandbox.DropBefore().Times(2))
	var away *sandbox.ArmedFault
	r.after(time.Second, func() { away = r.outage() })
	r.after(week+24*time.Hour, func() {
		assert.NotEmpty(t, r.state().History.PayoutID)
		away.Disarm()
	})
	state := r.run(r.input())
	assert.Equal(t, payment.Completed, state.Status)
	assert.Equal(t, 1, r.confirms())
	assert.Equal(t, r.calls[0].Key, state.Key)
	r.paidOnce(state)
}

// Nobody knows the payout of a key that is too old. The ledger has it, beside the payout of an equal payment.
func TestAKeyThatIsTooOldIsLookedUpInTheLedger(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in, other := r.input(), r.input()
	other.ID = "invoice-43"
	id := r.payOutside(in)
	r.payOutside(other)
	in.FirstUsed = time.Now().Add(-week)
	state := r.run(in)
	assert.Equal(t, payment.Completed, state.Status)
	assert.Equal(t, id, state.History.PayoutID)
	assert.Equal(t, 2, r.confirms())
	assert.Len(t, r.left(), 2)
}

// Nothing shows the payment, but it may have been made. So a person decides, and it is paid with another key.
func TestAKeyThatIsTooOldAndNotInTheLedgerGoesToAPerson(t *testing.T) {
	t.Parallel()
	for action, want := range map[payment.Action]payment.Status{
		payment.NewKey: payment.Completed, payment.HandOver: payment.HandedOver,
	} {
		t.Run(string(action), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			other := r.input() // an equal payment, which is another one
			other.ID = "invoice-43"
			r.payOutside(other)
			in := r.input()
			in.FirstUsed = time.Now().Add(-week)
			var refusal error
			r.after(time.Hour, func() {
				state := r.state()
				assert.Equal(t, payment.NeedsDecision, state.Status)
				require.NotNil(t, state.Problem)
				assert.Equal(t, payment.KeyTooOld, state.Problem.Kind)
				assert.True(t, state.Problem.NotInLedger)
				assert.False(t, state.History.Unpaid)
				r.decide(payment.Decision{Action: payment.Cancel}, func(err error) { refusal = err })
			})
			r.after(2*time.Hour, func() { r.decide(payment.Decision{Action: action}, r.accepted) })
			confirmed := r.confirms()
			state := r.run(in)
			assert.ErrorContains(t, refusal, "may have been made")
			assert.Equal(t, want, state.Status)
			if action == payment.NewKey {
				assert.NotEqual(t, r.calls[0].Key, state.Key)
				assert.Equal(t, confirmed+1, r.confirms())
				assert.Equal(t, "20", r.left()[string(state.History.PayoutID)])
				assert.Len(t, r.left(), 2)
			} else {
				assert.False(t, state.History.Unpaid)
				assert.Equal(t, confirmed, r.confirms())
			}
		})
	}
}

// Somebody starts the workflow again, a day after the first one paid: nothing is paid again.
func TestASecondWorkflowOfThePaymentPaysNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := r.input()
	id := r.payOutside(in)
	in.FirstUsed = time.Now().Add(-24 * time.Hour)
	state := r.run(in)
	assert.Equal(t, payment.Completed, state.Status)
	assert.Equal(t, id, state.History.PayoutID)
	assert.False(t, r.calls[0].History.Unpaid)
	r.paidOnce(state)
}

// A workflow that never said anything to the service fails at once.
func TestAnInputWithoutAnIDIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before := len(r.host.Requests())
	in := r.input()
	in.ID = ""
	r.env.ExecuteWorkflow(payment.Workflow, in)
	assert.ErrorContains(t, r.env.GetWorkflowError(), "needs an ID")
	assert.Len(t, r.host.Requests(), before)
}

// The key derives from the input, and from nothing else.
func TestTheKeyDerivesFromTheInput(t *testing.T) {
	t.Parallel()
	key := func(change func(*payment.Input)) string {
		r := newRig(t)
		in := r.input()
		in.Bounds.MaxFee = new(decimal.NewFromInt(2))
		change(&in)
		return string(r.run(in).Key)
	}
	first := key(func(*payment.Input) {})
	assert.Equal(t, first, key(func(*payment.Input) {}), "another run has the same key")
	assert.NotEqual(t, first, key(func(in *payment.Input) { in.Try = 1 }))
	assert.NotEqual(t, first, key(func(in *payment.Input) { in.ID = "invoice-43" }))
}
