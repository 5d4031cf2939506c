// Package yourbackend is a small backend that pays invoices, tested against a host: go test ./examples/yourbackend
//
// Look at the tests. What does the backend do if a response is lost after the money moved, if a customer clicks twice,
// if an hour passes, if a partner is down? The sandbox host makes each of these happen, and then shows its ledger.
package yourbackend

import (
	"context"
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
	rows    rows
}

// maxFee is the highest fee of a payment that this backend accepts, in USDC.
var maxFee = decimal.NewFromInt(1)

// New returns a backend that pays from an account.
func New(account *dapi.Account) http.Handler {
	b := &Backend{account: account}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /invoices/{number}/pay", b.pay)
	return mux
}

// pay pays an invoice. Its key derives from the invoice's number: each invoice is paid once, however many requests
// come.
func (b *Backend) pay(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ContactID dapi.ContactID
		Amount    decimal.Decimal
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&asked); err != nil {
		respond(w, http.StatusBadRequest, map[string]any{"problem": "the body cannot be read"})
		return
	}
	number := r.PathValue("number")
	row := b.rows.load(number)
	payment, err := b.account.Payouts.Pay(r.Context(),
		dapi.PayoutCreate{ContactID: asked.ContactID, Amount: asked.Amount, Currency: dapi.USDC},
		moneymovement.DeriveKey("invoice", number),
		dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: &maxFee}, History: row.history,
			Journal: func(_ context.Context, history dapi.History) error {
				return b.rows.store(number, &row, history)
			}})
	if b.rows.store(number, &row, payment.History) != nil && err != nil {
		payment = dapi.Payment{} // another request pays the invoice, and its row counts
	}
	status, body := explain(payment)
	respond(w, status, body)
}

// explain returns what the customer can do about the payment. The state decides before the refusal, which says nothing
// about the calls before it: a payment in doubt stays in doubt.
func explain(payment dapi.Payment) (status int, body map[string]any) {
	switch payment.State {
	case moneymovement.PaymentPaid:
		return http.StatusOK, map[string]any{"payout": payment.Payout.ID, "status": payment.Payout.Status}
	case moneymovement.PaymentEnded:
		return http.StatusConflict, map[string]any{"problem": "the payment did not arrive",
			"payout": payment.Payout.ID, "status": payment.Payout.Status}
	case moneymovement.PaymentNeedsDecision:
		if fields, wrong := wrongFields(payment.Refusal); wrong {
			if !payment.Unpaid {
				break // an earlier request may have paid
			}
			return http.StatusUnprocessableEntity, map[string]any{"problem": "wrong fields", "fields": fields}
		}
		if reused, ok := errors.AsType[*errors.IdempotencyKeyReused](payment.Refusal); ok {
			return http.StatusConflict, map[string]any{"problem": "this invoice was booked with other terms",
				"payout": reused.PayoutID}
		}
		if contact, ok := errors.AsType[*errors.ContactNotPayable](payment.Refusal); ok {
			return http.StatusUnprocessableEntity,
				map[string]any{"problem": "the payee cannot be paid", "blockers": contact.Blockers}
		}
		return http.StatusConflict, map[string]any{"problem": "a person here must decide"}
	case moneymovement.PaymentNotPaid:
		return http.StatusServiceUnavailable, map[string]any{"problem": "this is not paid; try again later"}
	}
	return http.StatusAccepted, map[string]any{"problem": "we do not know yet whether this is paid; ask again"}
}

// wrongFields returns the fields that the SDK or the service refused.
func wrongFields(err error) ([]errors.Field, bool) {
	if invalid, ok := errors.AsType[*errors.InvalidInput](err); ok {
		return invalid.Fields, true
	}
	refused, ok := errors.AsType[*errors.ValidationFailed](err)
	if !ok {
		return nil, false
	}
	return refused.Fields, true
}

func respond(w http.ResponseWriter, status int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // an error here means that the client has gone
}
