package dapi_test

import (
	"fmt"
	"net/http"
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

// A payment takes a key of the caller's: one that the SDK made up would die with the process, and its payment could be
// made twice.
func TestPaymentsNeedAKey(t *testing.T) {
	w := newPayWorld(t)
	before := len(w.Host.Requests())
	for name, call := range map[string]func() error{
		"Pay": func() error { _, err := w.payAs(""); return err },
		"Open": func() error {
			_, err := w.account.Escrows.Open(t.Context(), deal(), "", dapi.DealTerms{})
			return err
		},
		"Act": func() error {
			_, err := w.account.Escrows.Act(t.Context(), deal(), "esc_1", dapi.EscrowActionTypeRelease, "",
				dapi.DealTerms{})
			return err
		},
	} {
		err := call()
		assert.Equal(t, "Idempotency-Key", as[*errors.InvalidInput](t, err).Fields[0].Field, name)
		assert.ErrorContains(t, err, "DeriveKey", name)
	}
	assert.Len(t, w.Host.Requests(), before, "nothing was sent")
}

func TestPayErrorsCarryTheKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		w.Host.Arm("POST", confirmPath, sandbox.DropBefore().Times(4))
		_, err := w.pay()
		key := as[*errors.OutcomeUnknown](t, err).IdempotencyKey
		assert.Equal(t, "invoice-42", key)
		payment, err := w.payAs(moneymovement.Key(key))
		require.NoError(t, err)
		assert.Equal(t, key, payment.Payout.IdempotencyKey)
		assert.Len(t, w.bookings(), 1, "it is still the same payment")
	})
}

// bookings are the distinct payouts that were confirmed.
func (w *payWorld) bookings() map[string]bool {
	paths := map[string]bool{}
	for _, request := range w.Requests("ConfirmPayout") {
		paths[request.Path] = true
	}
	return paths
}

func TestPayKeepsTheLastAnswer(t *testing.T) {
	w := newPayWorld(t)
	w.keepsTheLastAnswer(bookPath, func(answer *moneymovement.Response) error {
		_, err := w.account.Payouts.Pay(w.Context(), w.asked, "invoice-42", dapi.PayTerms{},
			moneymovement.CaptureResponse(answer))
		return err
	})
	assert.Equal(t, "ConfirmPayout", w.Host.Requests()[len(w.Host.Requests())-1].Operation)
}

func TestOpenKeepsTheLastAnswer(t *testing.T) {
	w := newDealWorld(t)
	w.keepsTheLastAnswer(dealPath, func(answer *moneymovement.Response) error {
		_, err := w.account.Escrows.Open(w.Context(), w.deal, "deal-1", dapi.DealTerms{},
			moneymovement.CaptureResponse(answer))
		return err
	})
}

// keepsTheLastAnswer checks that what the last call of a flow came to is kept, whichever call it was: the first one, to
// a path, or the last.
func (w *world) keepsTheLastAnswer(first string, flow func(*moneymovement.Response) error) {
	w.Helper()
	var answer moneymovement.Response
	w.Host.Arm("POST", first, sandbox.Respond(http.StatusForbidden, "forbidden"))
	require.Error(w, flow(&answer))
	assert.Equal(w, http.StatusForbidden, answer.Status)
	require.NoError(w, flow(&answer))
	requests := w.Host.Requests()
	assert.Equal(w, requests[len(requests)-1].RequestID, answer.RequestID)
	assert.Equal(w, http.StatusOK, answer.Status)
}

func TestConcurrentPaysWithOneKeyAreOnePayment(t *testing.T) {
	for name, step := range map[string]time.Duration{"a slow service": 5 * time.Second,
		"a fast service": time.Nanosecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newPayWorld(t)
				w.Configure(func(s *sandbox.Settings) { s.PayoutStepAfter = sandbox.Duration(step) })
				w.Key.BeforeApproval(func(int) { time.Sleep(time.Second) }) // all book before one confirms
				var (
					calls sync.WaitGroup
					mu    sync.Mutex
					ids   = map[dapi.PayoutID]bool{}
				)
				for range 10 {
					calls.Go(func() {
						payment, err := w.payAs("invoice-42")
						if assert.NoError(t, err) {
							mu.Lock()
							defer mu.Unlock()
							ids[payment.Payout.ID] = true
						}
					})
				}
				calls.Wait()
				assert.Len(t, ids, 1)
				assert.Equal(t, 1, w.Fundings())
				assert.Equal(t, 10, w.Sent("ConfirmPayout"))
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
			_, err := w.payAs(moneymovement.Key(fmt.Sprintf("invoice-%d", i)), journaled())
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
	assert.Equal(t, 10, w.Fundings())
}

// The description states a public key and a signature of a booking. They are sent as given, and are no terms of the
// key: a signature is new each time.
//
// Rule: size.payout-public-key, size.signature
func TestABookingThatIsSigned(t *testing.T) {
	w := newPayWorld(t)
	w.asked.PublicKey, w.asked.Signature = w.Key.PublicKey(), []byte("first")
	paid, err := w.pay(journaled())
	require.NoError(t, err)
	read, err := w.account.Payouts.Get(t.Context(), paid.Payout.ID)
	require.NoError(t, err)
	assert.Equal(t, w.asked.PublicKey, read.PublicKey)
	assert.Equal(t, w.asked.Signature, read.Signature)

	w.asked.Signature = []byte("second")
	again, err := w.pay()
	require.NoError(t, err)
	assert.Equal(t, paid.Payout.ID, again.Payout.ID)
	assert.Equal(t, 1, w.Fundings())

	w.asked.PublicKey, w.asked.Signature = make([]byte, 385), make([]byte, 1537) // 516 and 2,052 characters
	_, err = w.payAs("invoice-43")
	invalid := as[*errors.InvalidInput](t, err)
	require.Len(t, invalid.Fields, 2)
	assert.Equal(t, "publicKey", invalid.Fields[0].Field)
	assert.Equal(t, "signature", invalid.Fields[1].Field)
}
