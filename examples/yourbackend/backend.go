// Package yourbackend is a small backend that pays invoices, tested against a host: go test ./examples/yourbackend
//
// The tests are the point of it: what does the backend do when an answer is lost after the money moved, when a customer
// clicks twice, when an hour passes, when a partner is down? The sandbox host makes each of that happen on request and
// then shows its books.
package yourbackend

import (
	"encoding/json"
	"net/http"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Backend serves POST /invoices/{number}/pay with a body such as {"contactId":"ct_1","amount":"12.50"}.
type Backend struct {
	account *dapi.Account
	tries   tries
}

// maxFee is what this backend's owner allows a payment to cost, in USDC.
var maxFee = decimal.NewFromInt(1)

// New makes a backend that pays from an account.
func New(account *dapi.Account) http.Handler {
	b := &Backend{account: account}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /invoices/{number}/pay", b.pay)
	return mux
}

// pay pays an invoice once, however often it is asked to: the key derives from the invoice.
func (b *Backend) pay(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ContactID dapi.ContactID
		Amount    decimal.Decimal
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&asked); err != nil {
		answer(w, http.StatusBadRequest, map[string]any{"problem": "the body is not readable"})
		return
	}
	number := r.PathValue("number")
	payout, err := b.account.Payouts.Pay(r.Context(),
		dapi.PayoutCreate{ContactID: asked.ContactID, Amount: asked.Amount, Currency: dapi.USDC},
		moneymovement.DeriveKey("invoice", number), b.tries.begin(number), dapi.MaxFee(maxFee))
	state := dapi.PaymentStateOf(payout, err)
	b.tries.end(number, state, err)
	status, body := explain(state, payout, err)
	answer(w, status, body)
}

// explain turns the state of a payment into what the backend's own customer can do about it. A refusal speaks for its
// call; only success, already funded, or the payout's own end settles a payment that was in doubt: PaymentStateOf
// knows, and nothing here looks at an error before it.
func explain(state dapi.PaymentState, payout *dapi.Payout, err error) (status int, body map[string]any) {
	switch state {
	case dapi.PaymentPaid:
		if payout == nil { // the service said that it is funded, and could not be asked for more
			return http.StatusOK, map[string]any{"status": "funded"}
		}
		return http.StatusOK, map[string]any{"payout": payout.ID, "status": payout.Status}
	case dapi.PaymentEnded:
		return http.StatusConflict, map[string]any{"problem": "the payment did not arrive", "payout": payout.ID,
			"status": payout.Status}
	case dapi.PaymentNeedsDecision:
		if invalid, ok := errors.AsType[*errors.InvalidInput](err); ok {
			return http.StatusUnprocessableEntity, map[string]any{"problem": "wrong fields", "fields": invalid.Fields}
		}
		if reused, ok := errors.AsType[*errors.IdempotencyKeyReused](err); ok {
			return http.StatusConflict, map[string]any{"problem": "this invoice was paid with other terms",
				"payout": reused.PayoutID}
		}
		return http.StatusConflict, map[string]any{"problem": "somebody here has to decide"}
	case dapi.PaymentNotPaid:
		return whyNotPaid(err)
	}
	return http.StatusAccepted, map[string]any{"problem": "it is not known yet whether this is paid; ask again"}
}

// whyNotPaid is for a payment that was not made, by this request or by one before.
func whyNotPaid(err error) (status int, body map[string]any) {
	var (
		validation *errors.ValidationFailed
		notPayable *errors.ContactNotPayable
		failure    errors.Failure
	)
	switch {
	case errors.As(err, &validation):
		return http.StatusUnprocessableEntity, map[string]any{"problem": "wrong fields", "fields": validation.Fields}
	case errors.As(err, &notPayable):
		return http.StatusUnprocessableEntity,
			map[string]any{"problem": "the payee cannot be paid", "blockers": notPayable.Blockers}
	case errors.As(err, &failure) && failure.Retryable():
		return http.StatusServiceUnavailable, map[string]any{"problem": "this is not paid; try again later"}
	}
	return http.StatusInternalServerError, map[string]any{"problem": "this is not paid; somebody here has to look"}
}

func answer(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the peer has gone, if this fails
}
