package dapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// bookPlainly books the payout over plain HTTP, without a key.
func (w *payWorld) bookPlainly(token string) (id, replayed string) {
	w.Helper()
	body := `{"currency":"USDC","amount":"` + w.asked.Amount.String() + `","contactId":"` + string(w.asked.ContactID) +
		`"}`
	r, err := http.NewRequestWithContext(w.Context(), http.MethodPost, w.URL+"/dapi/v1/payouts",
		strings.NewReader(body))
	require.NoError(w, err)
	r.Header.Set("Authorization", token)
	r.Header.Set("Content-Type", "application/json")
	answer, err := w.Wire.RoundTrip(r)
	require.NoError(w, err)
	defer answer.Body.Close()
	var payout struct {
		ID string `json:"id"`
	}
	require.NoError(w, json.UnmarshalRead(answer.Body, &payout))
	return payout.ID, answer.Header.Get("Idempotency-Replayed")
}

// Without a key the service derives one, which holds for two hours, through the SDK as over plain HTTP.
//
// Rule: idempotency.derived, idempotency.lifetimes, idempotency.equal-payouts
func TestEqualBookingsWithoutAKeyAreOne(t *testing.T) {
	w := newPayWorld(t)
	token := ""
	w.Wire.OnAnswer(func(r *http.Request, _ *http.Response) { token = r.Header.Get("Authorization") })
	var answer moneymovement.Response
	book := func(options ...moneymovement.WriteOption) *dapi.Payout {
		booked, err := w.account.Payouts.Book(t.Context(), w.asked,
			append(options, moneymovement.CaptureResponse(&answer))...)
		require.NoError(t, err)
		return booked
	}

	first := book()
	assert.NotEmpty(t, first.IdempotencyKey, "the service echoes the key that it derived")
	assert.Empty(t, answer.IdempotencyKey, "none was sent")
	assert.Equal(t, first.ID, book().ID)
	assert.True(t, answer.Replayed)
	id, replayed := w.bookPlainly(token)
	assert.Equal(t, string(first.ID), id)
	assert.Equal(t, "true", replayed)
	assert.NotEqual(t, first.ID, book(moneymovement.IdempotencyKey("another")).ID)
	for i, request := range w.Requests("BookPayout")[:3] {
		assert.Empty(t, request.IdempotencyKey, i)
	}

	w.Host.Advance(2 * time.Hour)
	second := book()
	assert.NotEqual(t, first.ID, second.ID, "the service has forgotten the first")
	id, _ = w.bookPlainly(token)
	assert.Equal(t, string(second.ID), id)
}

func TestALostBookingWithoutAKeyIsRepeated(t *testing.T) {
	w := newPayWorld(t)
	w.Host.Arm("POST", "/payouts", sandbox.DropAfterCommit().Times(2))
	var answer moneymovement.Response
	_, err := w.account.Payouts.Book(t.Context(), w.asked, moneymovement.CaptureResponse(&answer))
	require.NoError(t, err)
	assert.Equal(t, 3, answer.Attempts)
	assert.True(t, answer.Replayed, "it is one payout")
}

// Credits are anchored in the same way.
func TestEqualCreditsWithoutAKeyAreOne(t *testing.T) {
	w := newWorld(t)
	self := w.integrator().Self()
	credit := dapi.DepositCreate{Amount: amount("10"), Currency: dapi.USDC}
	first, err := self.Sandbox.Deposit(t.Context(), credit)
	require.NoError(t, err)
	again, err := self.Sandbox.Deposit(t.Context(), credit)
	require.NoError(t, err)
	assert.Equal(t, first.ID, again.ID)
	other, err := self.Sandbox.Deposit(t.Context(), credit, moneymovement.IdempotencyKey("credit-2"))
	require.NoError(t, err)
	assert.NotEqual(t, first.ID, other.ID)
}
