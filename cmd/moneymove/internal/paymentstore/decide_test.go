package paymentstore

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// overtaken is a store in which something else happens before the command takes the lease.
type overtaken struct {
	payments.Store
	first func()
}

func (s *overtaken) Claim(ctx context.Context, claim payments.Claim) ([]payments.Claimed, time.Time, error) {
	if first := s.first; first != nil {
		s.first = nil
		first()
	}
	return s.Store.Claim(ctx, claim)
}

// -timeout waits for a call that is being made, and for nothing else: the second of two people learns of the first.
func TestTwoPeopleDecideAtOnce(t *testing.T) {
	for name, one := range map[string]struct {
		before func(t *testing.T, inner payments.Store, colleague *payments.Processor)
		fails  bool
		made   []string
	}{
		"a colleague decides": {func(t *testing.T, _ payments.Store, colleague *payments.Processor) {
			_, err := colleague.Decide(t.Context(), "k", payments.Retry().By("Ada"))
			require.NoError(t, err)
		}, true, []string{"Ada: retry"}},
		"a call is being made": {func(t *testing.T, inner payments.Store, _ *payments.Processor) {
			callFor(t, inner, 300*time.Millisecond, func() {})
		}, false, []string{"Zoë: cancel"}},
		"a call is being made, and then a colleague decides": {
			func(t *testing.T, inner payments.Store, colleague *payments.Processor) {
				callFor(t, inner, 300*time.Millisecond, func() {
					_, err := colleague.Decide(context.WithoutCancel(t.Context()), "k", payments.Retry().By("Ada"))
					assert.NoError(t, err)
				})
			}, true, []string{"Ada: retry"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inner := payments.NewMemoryStore()
				insert(t, inner)
				colleague, err := payments.New(inner, payments.Services{}, payments.Config{})
				require.NoError(t, err)
				ours, err := payments.New(&overtaken{inner, func() { one.before(t, inner, colleague) }},
					payments.Services{}, payments.Config{})
				require.NoError(t, err)
				d := decision{author: "Zoë", wait: 20 * time.Second}
				_, err = d.store(t.Context(), nil, ours, "k", "cancel")
				if !one.fails {
					require.NoError(t, err)
				} else {
					var refused *payments.NotPossible
					require.ErrorAs(t, err, &refused)
					assert.True(t, refused.Changed)
				}
				record, err := inner.Load(t.Context(), "k")
				require.NoError(t, err)
				var made []string
				for _, by := range record.Decisions {
					made = append(made, by.By+": "+by.What)
				}
				assert.Equal(t, one.made, made)
			})
		})
	}
}

// losing is a store whose responses to what it stores are lost, or that says why it stores nothing.
type losing struct {
	payments.Store
	says error
}

func (s *losing) Save(ctx context.Context, claimed payments.Claimed, release bool) (payments.Position, error) {
	if !errors.Is(s.says, errConnection) {
		return "", s.says
	}
	_, _ = s.Store.Save(ctx, claimed, release)
	return "", s.says
}

var errConnection = errors.New("the connection was reset")

// After an error of the store, nobody knows whether the decision is stored. After others, it is not.
func TestADecisionOfWhichTheStoreLostTheResponse(t *testing.T) {
	const unknown = "the decision may be stored or not: look at the payment before you decide again"
	for _, one := range []struct {
		says    error
		unknown bool
	}{{errConnection, true}, {&payments.CapReached{Key: "k"}, false}} {
		inner := payments.NewMemoryStore()
		insert(t, inner)
		processor, err := payments.New(&losing{inner, one.says}, payments.Services{}, payments.Config{})
		require.NoError(t, err)
		_, err = (&decision{author: "Zoë"}).store(t.Context(), nil, processor, "k", "cancel")
		require.ErrorIs(t, err, one.says)
		err = outcome(err)
		assert.Equal(t, app.ExitFailure, app.ExitCode(err))
		if one.unknown {
			assert.ErrorContains(t, err, unknown)
		} else {
			assert.NotContains(t, err.Error(), unknown)
		}
		_, err = (&decision{author: "Zoë"}).store(t.Context(), nil, processor, "other", "cancel")
		assert.NotContains(t, outcome(err).Error(), unknown)
	}
}

// insert stores a payment that needs a decision.
func insert(t *testing.T, store payments.Store) {
	t.Helper()
	_, _, err := store.Insert(t.Context(), payments.Record{Key: "k", Kind: payments.KindPayout,
		State: moneymovement.PaymentNeedsDecision, AcceptedAt: time.Now(),
		Payout: &dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(1), Currency: dapi.USDC},
		Reason: &payments.Reason{Code: payments.ReasonPrice}})
	require.NoError(t, err)
}

// callFor takes the lease of the payment as a worker does, and stores something when the call ends.
func callFor(t *testing.T, store payments.Store, d time.Duration, after func()) {
	t.Helper()
	claimed, _, err := store.Claim(t.Context(), payments.Claim{Owner: "worker", Key: "k", Now: time.Now(),
		For: time.Minute})
	require.NoError(t, err)
	ctx := context.WithoutCancel(t.Context())
	time.AfterFunc(d, func() {
		claimed[0].Record.Calls++
		_, err := store.Save(ctx, claimed[0], true)
		assert.NoError(t, err)
		after()
	})
}
