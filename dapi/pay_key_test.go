package dapi_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Rule: idempotency.derived
func TestPayMakesAKeyOfItsOwn(t *testing.T) {
	w := newPayWorld(t)
	first, err := w.pay()
	require.NoError(t, err)
	second, err := w.pay()
	require.NoError(t, err)
	assert.NotEmpty(t, first.IdempotencyKey)
	assert.NotEqual(t, first.IdempotencyKey, second.IdempotencyKey)
	assert.NotEqual(t, first.ID, second.ID, "two payments of equal terms")
	assert.Equal(t, 2, w.fundings())
	for i, payout := range []*dapi.Payout{first, second} {
		assert.Equal(t, payout.IdempotencyKey, w.requests("BookPayout")[i].IdempotencyKey)
		assert.Equal(t, payout.IdempotencyKey, w.requests("ConfirmPayout")[i].IdempotencyKey)
	}
}

func TestPayErrorsCarryTheKeyOfTheirOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.host.Arm("POST", confirmPath, sandbox.DropBefore().Times(4))
		_, err := w.pay()
		key := as[*errors.OutcomeUnknown](t, err).IdempotencyKey
		require.NotEmpty(t, key)
		payout, err := w.pay(moneymovement.IdempotencyKey(moneymovement.Key(key)))
		require.NoError(t, err)
		assert.Equal(t, key, payout.IdempotencyKey)
		assert.Len(t, w.bookings(), 1, "it is still the same payment")
	})
}

// bookings are the distinct payouts that were confirmed.
func (w *payWorld) bookings() map[string]bool {
	paths := map[string]bool{}
	for _, request := range w.requests("ConfirmPayout") {
		paths[request.Path] = true
	}
	return paths
}

func TestPayLeavesTheCallersOptionsAlone(t *testing.T) {
	w := newPayWorld(t)
	var answer moneymovement.Answer
	options := make([]moneymovement.CallOption, 1, 8)
	options[0] = moneymovement.Capture(&answer)
	_, err := w.pay(options...)
	require.NoError(t, err)
	for _, spare := range options[1:8] {
		assert.Nil(t, spare, "the spare capacity is the caller's")
	}
	assert.Equal(t, w.requests("ConfirmPayout")[0].RequestID, answer.RequestID, "what is kept is the last call's answer")
}

func TestConcurrentPaysWithOneKeyAreOnePayment(t *testing.T) {
	for name, step := range map[string]time.Duration{"a slow service": 5 * time.Second, "a fast service": time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				w.configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(step) })
				w.key.beforeApproval(func(int) { time.Sleep(time.Second) }) // all book before one confirms
				var (
					calls sync.WaitGroup
					mu    sync.Mutex
					ids   = map[dapi.PayoutID]bool{}
				)
				for range 10 {
					calls.Go(func() {
						payout, err := w.pay(moneymovement.IdempotencyKey("invoice-42"))
						if assert.NoError(t, err) {
							mu.Lock()
							defer mu.Unlock()
							ids[payout.ID] = true
						}
					})
				}
				calls.Wait()
				assert.Len(t, ids, 1)
				assert.Equal(t, 1, w.fundings())
				assert.Equal(t, 10, w.sent("ConfirmPayout"))
			})
		})
	}
}

// Rule: idempotency.equal-payouts
func TestConcurrentPaysWithKeysOfTheirOwn(t *testing.T) {
	w := newPayWorld(t)
	w.asked.Amount = amount("10")
	var calls sync.WaitGroup
	var mu sync.Mutex
	paid, refused := 0, 0
	for i := range 20 {
		calls.Go(func() {
			_, err := w.pay(moneymovement.IdempotencyKey(moneymovement.Key(fmt.Sprintf("invoice-%d", i))))
			_, uncovered := errors.AsType[*errors.PayoutNotFundable](err)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				paid++
			case uncovered:
				refused++
			default:
				assert.NoError(t, err)
			}
		})
	}
	calls.Wait()
	assert.Equal(t, 10, paid, "100 USDC cover ten payments of 10")
	assert.Equal(t, 10, refused)
	assert.Equal(t, 10, w.fundings())
}
