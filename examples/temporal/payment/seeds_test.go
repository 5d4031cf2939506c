package payment_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/temporal/payment"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// life is what happens to one payment, as its seed says.
type life struct {
	*rig
	random *rand.Rand
	began  time.Time
	deaths int
	faults []*sandbox.ArmedFault
}

// calls that faults happen to.
var operations = [][2]string{{"POST", booking}, {"POST", confirm}, {"POST", confirm}, {"GET", payout},
	{"GET", "/dapi/v1/transactions"}, {"POST", "/dapi/v1/auth/token"}}

// harm returns what can go wrong with a call. Nothing of it says that a call failed that did not.
func (l *life) harm() sandbox.Fault {
	down := sandbox.Respond(http.StatusServiceUnavailable, "database_unavailable")
	slow := sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", "90")
	expired := sandbox.Respond(http.StatusConflict, "quote_expired")
	all := []sandbox.Fault{sandbox.DropBefore(), sandbox.DropAfterCommit(), sandbox.DropAfterCommit(), down,
		down.AfterCommit(), slow, expired, sandbox.Garbage(), sandbox.Garbage().AfterCommit(), sandbox.Truncate(0),
		sandbox.ExpireToken()}
	return all[l.random.IntN(len(all))].Times(1 + l.random.IntN(6))
}

func (l *life) chance(percent int) bool { return l.random.IntN(100) < percent }

// prepare arms what goes wrong, and returns the payment.
func (l *life) prepare() payment.Input {
	for range l.random.IntN(6) {
		operation := operations[l.random.IntN(len(operations))]
		l.faults = append(l.faults, l.host.Arm(operation[0], operation[1], l.harm()))
	}
	l.fate = func() (int, bool) {
		if l.deaths > 8 || !l.chance(40) {
			return 0, false
		}
		l.deaths++
		return 1 + l.random.IntN(6), l.chance(50)
	}
	l.startWorker()
	if l.chance(40) {
		assert.NoError(l.t, l.host.Configure(func(s *sandbox.Settings) {
			s.PayoutStepAfter = sandbox.Duration(5 * time.Hour)
		}))
	}
	if l.chance(25) { // the service is away: until tomorrow, or until it has forgotten the key
		lasts := 20 * time.Hour
		if l.chance(8) { // which takes hundreds of calls
			lasts = week + time.Hour
		}
		l.after(time.Duration(1+l.random.IntN(90))*time.Second, func() {
			away := l.outage()
			l.faults = append(l.faults, away)
			l.after(lasts, away.Disarm)
		})
	}
	if l.chance(25) {
		l.after(time.Duration(1+l.random.IntN(200))*time.Second, l.env.CancelWorkflow)
	}
	l.began = l.env.Now()
	l.after(3*time.Hour, l.decideNow)
	in := l.input()
	if l.chance(30) {
		in.Bounds.MaxFee = new(decimal.RequireFromString("0.1"))
	}
	if l.chance(15) {
		in.Terms.Amount = decimal.NewFromInt(120) // more than there is
	}
	return in
}

// decideNow is a person who looks every three hours, and a payee's bank that sends money back.
func (l *life) decideNow() {
	state := l.state()
	switch state.Status {
	case payment.NeedsDecision:
		if state.Problem.Kind == payment.PayoutNotFundable && l.chance(50) {
			_, _ = l.account().Sandbox.Deposit(l.t.Context(), // not during an outage
				dapi.DepositCreate{Amount: decimal.NewFromInt(30), Currency: dapi.USDC})
		}
		l.decide(l.decision(state), func(error) {}) // a person tries what is not allowed, too
	case payment.InDoubt, payment.Waiting:
		if late := l.env.Now().Sub(l.began) > 2*week; late || l.chance(5) {
			l.decide(payment.Decision{Action: payment.HandOver}, func(error) {})
		} else if l.chance(20) {
			l.decide(payment.Decision{Action: payment.Cancel}, func(error) {})
		}
	case payment.Paid:
		if l.chance(20) {
			_, _ = l.account().Sandbox.SetPayoutStatus(l.t.Context(), state.History.PayoutID, dapi.PayoutStatusFailed)
		}
	}
	if !l.env.IsWorkflowCompleted() {
		l.after(3*time.Hour, l.decideNow)
	}
}

func (l *life) decision(state payment.State) payment.Decision {
	actions := []payment.Action{payment.Retry, payment.Retry, payment.NewKey, payment.NewKey, payment.Cancel,
		payment.HandOver}
	d := payment.Decision{Action: actions[l.random.IntN(len(actions))]}
	if d.Action == payment.Retry && state.Problem.Kind == payment.PriceRefused && l.chance(70) {
		fee := decimal.RequireFromString([]string{"0.4", "0.5", "1"}[l.random.IntN(3)])
		d.Bounds = &dapi.Bounds{MaxFee: &fee}
	}
	return d
}

// agrees compares the end of a payment with the host's books.
func (l *life) agrees(in payment.Input, state payment.State) {
	left, fundings := l.left(), l.fundings()
	assert.LessOrEqual(l.t, fundings, 1, "the money left twice")
	if fundings > 0 {
		assert.True(l.t, state.Bounds.MaxFee.GreaterThanOrEqual(decimal.RequireFromString("0.5")), "the bound was broken")
	}
	switch state.Status {
	case payment.Completed:
		assert.Equal(l.t, map[string]string{string(state.History.PayoutID): in.Terms.Amount.String()}, left)
	case payment.CameBack:
		assert.Empty(l.t, left)
		assert.NotEmpty(l.t, state.History.PayoutID)
	case payment.Cancelled:
		assert.Zero(l.t, fundings)
		assert.True(l.t, state.History.Unpaid)
	case payment.HandedOver:
		assert.True(l.t, fundings == 0 || !state.History.Unpaid, "money left, and the payment says that it did not")
	default:
		assert.Fail(l.t, "not an end", state.Status)
	}
}

// Payments meet faults, dying workers, outages, cancellations and people who decide as they like. Each ends, is paid at
// most once, and ends as the host's books say.
func TestManySeeds(t *testing.T) {
	t.Parallel()
	seeds := uint64(200)
	if testing.Short() {
		seeds = 40
	}
	var mu sync.Mutex
	seen := map[string]int{}
	t.Run("seeds", func(t *testing.T) {
		for seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				l := &life{rig: newRig(t), random: rand.New(rand.NewPCG(seed, 14))}
				in := l.prepare()
				state := l.run(in)
				l.agrees(in, state)
				mu.Lock()
				defer mu.Unlock()
				seen[string(state.Status)]++
				seen["deaths"] += l.deaths
				for _, fault := range l.faults {
					seen["faults"] += fault.Consumed()
				}
			})
		}
	})
	t.Log(seen)
	for _, end := range []payment.Status{payment.Completed, payment.CameBack, payment.Cancelled, payment.HandedOver} {
		assert.NotZero(t, seen[string(end)], "no payment ends %s", end)
	}
	assert.Greater(t, seen["faults"], int(seeds))
	assert.Greater(t, seen["deaths"], int(seeds)/4)
}
