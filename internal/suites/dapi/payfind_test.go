package dapi_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A payout of equal terms that does not say its key is not taken for this payment's, which nobody may have made.
func TestAPayoutOfEqualTermsIsAnother(t *testing.T) {
	w := newPayWorld(t)
	_, err := w.payAs("invoice-41")
	require.NoError(t, err)
	w.account = w.integrator().Self()
	w.onSuccess("GET", "/payouts/*", without("idempotencyKey"))
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
	payment, err := w.pay()
	assert.Nil(t, payment.Payout)
	w.assertInDoubt(t, payment, err)
}

// A process that knows nothing but the key reads ten payouts of the ledger at most, and none of another amount.
func TestHowManyPayoutsAreReadForAKey(t *testing.T) {
	w := newPayWorld(t)
	others := map[string]bool{}
	for i, text := range []string{"5", "6", "5", "5", "5", "6", "5", "5", "5", "5", "5", "5", "5", "5"} {
		w.asked.Amount = amount(text)
		payment, err := w.payAs(moneymovement.DeriveKey("before", strconv.Itoa(i)))
		require.NoError(t, err)
		others["/dapi/v1/payouts/"+string(payment.Payout.ID)] = text != "5"
	}
	w.asked.Amount = amount("5")
	w.account = w.integrator().Self()
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusNotFound, "not_found"))
	read := w.Sent("GetPayout")
	payment, err := w.pay()
	w.assertInDoubt(t, payment, err)
	reads := w.Requests("GetPayout")[read:]
	assert.Len(t, reads, 10)
	for _, request := range reads {
		assert.False(t, others[request.Path], "of another amount")
	}
}

// A read that the service refused for its rate window says when to call Pay again, as a refused booking does.
func TestARefusedReadSaysWhenToPayAgain(t *testing.T) {
	w := newPayWorld(t)
	w.Host.Arm("POST", bookPath, sandbox.Respond(http.StatusConflict, "contact_not_payable"))
	w.Host.Arm("GET", "/dapi/v1/transactions",
		sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", "300"))
	payment, err := w.pay()
	w.assertInDoubt(t, payment, err)
	call, ok := errors.CallInfoOf(err)
	require.True(t, ok)
	assert.WithinDuration(t, time.Now().Add(5*time.Minute), call.RetryAt, 10*time.Second)
}
