package platform

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/api"
)

// outcome is the status of an answer, and whether it is a replay. Source: Endpoints, Platform API (answer codes).
type outcome struct {
	status   int
	replayed bool
}

var (
	http200  = outcome{status: http.StatusOK}
	http201  = outcome{status: http.StatusCreated}
	replayed = outcome{status: http.StatusOK, replayed: true}
)

// write sends the answer. Unlike the generated answers it sends no Idempotency-Replayed header that is empty, and it
// leaves X-Request-ID to the gate, which sets it on every answer.
func (o outcome) write(w http.ResponseWriter, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	if o.replayed {
		w.Header().Set("Idempotency-Replayed", "true")
	}
	w.WriteHeader(o.status)
	_, err = w.Write(text)
	return err
}

type clientAnswer struct {
	outcome
	body api.Client
}

func (a clientAnswer) VisitCreateClientResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}
func (a clientAnswer) VisitGetClientResponse(w http.ResponseWriter) error { return a.write(w, a.body) }

type contactAnswer struct {
	outcome
	body api.Contact
}

func (a contactAnswer) VisitCreateContactResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}
func (a contactAnswer) VisitUpdateContactResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

// deletedAnswer has no body.
type deletedAnswer struct{}

func (deletedAnswer) VisitDeleteContactResponse(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type capabilitiesAnswer struct {
	outcome
	body api.ContactCapabilities
}

func (a capabilitiesAnswer) VisitGetContactCapabilitiesResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type payoutAnswer struct {
	outcome
	body api.Payout
}

func (a payoutAnswer) VisitBookPayoutResponse(w http.ResponseWriter) error { return a.write(w, a.body) }
func (a payoutAnswer) VisitGetPayoutResponse(w http.ResponseWriter) error  { return a.write(w, a.body) }
func (a payoutAnswer) VisitConfirmPayoutResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}
func (a payoutAnswer) VisitMovePayoutResponse(w http.ResponseWriter) error { return a.write(w, a.body) }

type transactionAnswer struct {
	outcome
	body api.Transaction
}

func (a transactionAnswer) VisitCreateDepositResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type transactionPageAnswer struct {
	outcome
	body api.TransactionPage
}

func (a transactionPageAnswer) VisitListTransactionsResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type chainPageAnswer struct {
	outcome
	body api.ChainPage
}

func (a chainPageAnswer) VisitListChainsResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type treasuryAnswer struct {
	outcome
	body api.Treasury
}

func (a treasuryAnswer) VisitGetTreasuryResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}
