package dapi_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// TestTheHostRepeatsItself makes payments under faults that a seed decides about, in a bubble: with the same seed the
// host sees and does the same, to the byte, and with another seed something else.
func TestTheHostRepeatsItself(t *testing.T) {
	traces := map[uint64]string{}
	for _, seed := range []uint64{1, 2, 1, 2} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			cryptotest.SetGlobalRandom(t, seed)
			var trace string
			synctest.Test(t, func(t *testing.T) { trace = tracePayments(t, seed) })
			if first, again := traces[seed]; again {
				assert.Equal(t, first, trace)
			}
			traces[seed] = trace
		})
	}
	assert.NotEqual(t, traces[1], traces[2])
}

// tracePayments makes ten payments one after another, and returns what the host saw and did.
func tracePayments(t *testing.T, seed uint64) string {
	t.Helper()
	moving := sandbox.WithSettings(func(s *sandbox.Settings) {
		s.FailOneIn, s.RefundOneIn, s.PriceDrift, s.Seed = 5, 5, amount("0.01"), int64(seed)
	})
	w := newWorld(t, sandbox.WithAudit(), sandbox.WithInstantProgress(), moving)
	contact := w.Contact(w.account().Contacts, sepa())
	// The pauses of retries are random, and not from the seed.
	account := w.Integrator(w.Developer(), moneymovement.WithoutPacing(),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1})).Self()
	happens := []sandbox.Fault{sandbox.DropBefore(), sandbox.DropAfterCommit(), sandbox.Truncate(0), sandbox.Repeat(),
		sandbox.Duplicate(0), sandbox.Duplicate(time.Hour), sandbox.Foreign(), sandbox.Foreign().AfterCommit(),
		sandbox.Delay(time.Second).AfterCommit(), sandbox.ExpireToken(), sandbox.Garbage()}
	decided := rand.New(rand.NewPCG(seed, 0))
	interception := w.Host.Intercept(func(r sandbox.Request) sandbox.Fault {
		if r.Attempt > 2 || decided.IntN(3) > 0 {
			return sandbox.Fault{}
		}
		return happens[decided.IntN(len(happens))]
	})
	const payments = 10
	for i := range payments {
		key := moneymovement.Key(fmt.Sprint("invoice-", i))
		asked := dapi.PayoutCreate{ContactID: contact, Amount: amount("2"), Currency: dapi.USDC}
		for range 50 {
			_, err := account.Payouts.Pay(t.Context(), asked, key, payTerms(quoteTolerance(amount("0.05"))))
			if err == nil {
				break
			}
			time.Sleep(time.Minute)
		}
	}
	interception.End()
	w.Host.Advance(2 * time.Hour)
	assert.Zero(t, w.Host.PendingDuplicates())
	var trace strings.Builder
	for _, request := range w.Host.Requests() {
		fmt.Fprintf(&trace, "%+v\n", request)
	}
	audited := slices.Collect(w.Host.Audit())
	require.Len(t, audited, payments)
	for _, payment := range audited {
		assert.Equal(t, 1, payment.Fundings, "%+v", payment)
		assert.Equal(t, 1, payment.Bodies, "%+v", payment)
		assert.Len(t, payment.PayoutIDs, 1)
		fmt.Fprintf(&trace, "%+v\n", payment)
	}
	assert.NotEmpty(t, interception.Consumed())
	fmt.Fprintf(&trace, "%v\n%+v\n", interception.Consumed(), w.Host.Ledger().Balances)
	time.Sleep(10 * time.Minute)
	return trace.String()
}
