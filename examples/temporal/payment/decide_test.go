package payment_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/temporal/payment"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// confirms returns how many confirms arrived.
func (r *rig) confirms() (count int) {
	for _, request := range r.host.Requests() {
		if strings.HasSuffix(request.Path, "/confirm") {
			count++
		}
	}
	return count
}

// A person raises the bound twice. Each time the payment is booked anew, and the price of that time counts. Nothing is
// signed before.
func TestABoundIsKeptUntilAPersonRaisesIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := r.input()
	in.Bounds.MaxFee = new(decimal.RequireFromString("0.1"))
	raise := func(fee string) {
		state := r.state()
		assert.Equal(t, payment.NeedsDecision, state.Status)
		assert.True(t, state.History.Unpaid)
		if assert.NotNil(t, state.Problem) && assert.NotNil(t, state.Problem.Quote) {
			assert.Equal(t, payment.PriceRefused, state.Problem.Kind)
			assert.Equal(t, "0.5", state.Problem.Quote.Fee.String())
		}
		assert.Zero(t, r.confirms())
		r.decide(payment.Decision{Action: payment.Retry,
			Bounds: &dapi.Bounds{MaxFee: new(decimal.RequireFromString(fee))}}, r.accepted)
	}
	r.after(time.Hour, func() { raise("0.4") })
	r.after(2*time.Hour, func() { raise("0.5") })
	state := r.run(in)
	assert.Equal(t, payment.Completed, state.Status)
	assert.Equal(t, "0.5", state.Bounds.MaxFee.String())
	assert.Equal(t, 1, r.confirms())
	r.paidOnce(state)
}

// What arrives is bounded as well. The rate falls while the person thinks: the old quote is not confirmed, although it
// would have been within the bound.
func TestAnOldQuoteIsNeverConfirmed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := r.input()
	in.Bounds.MaxFee = new(decimal.Zero)
	var quoted decimal.Decimal
	r.after(time.Minute, func() {
		require.NotNil(t, r.state().Problem.Quote)
		quoted = r.state().Problem.Quote.DestinationAmount
	})
	r.after(time.Hour, func() {
		assert.NoError(t, r.host.Configure(func(s *sandbox.Settings) {
			s.PriceWorsening = decimal.RequireFromString("0.02")
		}))
		r.decide(payment.Decision{Action: payment.Retry, Bounds: &dapi.Bounds{
			MaxFee: new(decimal.NewFromInt(1)), MinDestinationAmount: &quoted, DestinationCurrency: "EUR"}}, r.accepted)
	})
	r.after(2*time.Hour, func() {
		state := r.state()
		assert.Equal(t, payment.NeedsDecision, state.Status)
		assert.Equal(t, payment.PriceRefused, state.Problem.Kind)
		assert.True(t, state.Problem.Quote.DestinationAmount.LessThan(quoted))
		r.decide(payment.Decision{Action: payment.Cancel}, r.accepted)
	})
	state := r.run(in)
	assert.Equal(t, payment.Cancelled, state.Status)
	assert.Zero(t, r.confirms())
	assert.Empty(t, r.left())
}

func TestAPersonAddsMoney(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := r.input()
	in.Terms.Amount = decimal.NewFromInt(120)
	r.after(time.Hour, func() {
		state := r.state()
		assert.Equal(t, payment.NeedsDecision, state.Status)
		assert.Equal(t, payment.PayoutNotFundable, state.Problem.Kind)
		assert.Equal(t, deposit, state.Problem.Available.String())
		assert.Equal(t, "USDC", state.Problem.Currency)
		r.deposit("50")
		r.decide(payment.Decision{Action: payment.Retry}, r.accepted)
	})
	state := r.run(in)
	assert.Equal(t, payment.Completed, state.Status)
	assert.Equal(t, map[string]string{string(state.History.PayoutID): "120"}, r.left())
}

func TestAPersonCancelsWhatCannotBePaid(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*rig, *payment.Input)
		want   payment.Kind
	}{
		"a contact without an IBAN": {func(r *rig, in *payment.Input) { in.Terms.ContactID = r.newContact("") },
			payment.ContactNotPayable},
		"an amount that the token cannot have": {func(_ *rig, in *payment.Input) {
			in.Terms.Amount = decimal.RequireFromString("1.1234567")
		}, payment.InvalidInput},
		"a reference that is too long": {func(_ *rig, in *payment.Input) {
			in.Terms.PaymentReference = strings.Repeat("-", 141)
		}, payment.InvalidInput},
		"a signing policy that refuses": {func(r *rig, _ *payment.Input) {
			assert.NoError(r.t, r.host.Configure(func(s *sandbox.Settings) {
				s.SigningPolicy = sandbox.SigningPolicyRefuse
			}))
		}, payment.Refused},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			in := r.input()
			c.change(r, &in)
			r.after(time.Hour, func() {
				state := r.state()
				assert.Equal(t, payment.NeedsDecision, state.Status)
				assert.Equal(t, c.want, state.Problem.Kind)
				assert.Equal(t, c.want == payment.ContactNotPayable, len(state.Problem.Blockers) > 0)
				r.decide(payment.Decision{Action: payment.Cancel}, r.accepted)
			})
			state := r.run(in)
			assert.Equal(t, payment.Cancelled, state.Status)
			assert.True(t, state.History.Unpaid)
			assert.Empty(t, r.left())
		})
	}
}

// outage makes every call fail until it is disarmed.
func (r *rig) outage() *sandbox.ArmedFault {
	return r.host.Arm("", "/dapi/v1/**", sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable").
		Times(1_000_000))
}

// The money has left, and the service is away. Neither a person nor Temporal can cancel the payment, and it is not
// reported as cancelled.
func TestWhatMayHaveLeftIsNotCancelled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.host.Arm(http.MethodPost, confirm, sandbox.DropAfterCommit())
	r.host.Arm(http.MethodGet, payout, sandbox.DropBefore().Times(2))
	var away *sandbox.ArmedFault
	r.after(time.Second, func() { away = r.outage() })
	var refusal error
	r.after(75*time.Second, func() {
		assert.Equal(t, payment.InDoubt, r.state().Status)
		r.decide(payment.Decision{Action: payment.Cancel}, func(err error) { refusal = err })
		r.env.CancelWorkflow()
	})
	var later payment.State
	r.after(time.Hour, func() { later = r.state(); away.Disarm() })
	state := r.run(r.input())
	assert.ErrorContains(t, refusal, "may have been made")
	assert.Contains(t, []payment.Status{payment.InDoubt, payment.Paying}, later.Status)
	assert.Equal(t, payment.Completed, state.Status)
	r.paidOnce(state)
}

// A request to cancel the workflow ends a payment that was not made.
func TestTemporalCancelsWhatWasNotPaid(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.host.Arm(http.MethodPost, booking, sandbox.Respond(http.StatusTooManyRequests, "rate_limited").Times(1_000_000))
	r.after(time.Hour, r.env.CancelWorkflow)
	state := r.run(r.input())
	assert.Equal(t, payment.Cancelled, state.Status)
	assert.True(t, state.History.Unpaid)
	assert.Empty(t, r.left())
	assert.Zero(t, r.confirms())
}

func TestDecisionsThatCannotBeCarriedOutAreRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	in := r.input()
	in.Bounds.MaxFee = new(decimal.Zero)
	bounds := &dapi.Bounds{}
	refused := map[string]payment.Decision{
		"is unknown":           {Action: "guess"},
		"takes no bounds":      {Action: payment.Cancel, Bounds: bounds},
		"whose key is too old": {Action: payment.NewKey},
	}
	r.after(time.Hour, func() {
		for want, decision := range refused {
			r.decide(decision, func(err error) {
				assert.ErrorContains(t, err, want)
				delete(refused, want)
			})
		}
	})
	r.after(2*time.Hour, func() { r.decide(payment.Decision{Action: payment.HandOver}, r.accepted) })
	state := r.run(in)
	assert.Empty(t, refused, "decisions that nobody refused")
	assert.Equal(t, payment.HandedOver, state.Status)
	assert.True(t, state.History.Unpaid)
	assert.Empty(t, r.left())
}
