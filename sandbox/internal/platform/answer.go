package platform

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
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
	body platformwire.Client
}

func (a clientAnswer) VisitCreateClientResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}
func (a clientAnswer) VisitGetClientResponse(w http.ResponseWriter) error { return a.write(w, a.body) }

type contactAnswer struct {
	outcome
	body platformwire.Contact
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
	body platformwire.ContactCapabilities
}

func (a capabilitiesAnswer) VisitGetContactCapabilitiesResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type payoutAnswer struct {
	outcome
	body platformwire.Payout
}

func (a payoutAnswer) VisitBookPayoutResponse(w http.ResponseWriter) error { return a.write(w, a.body) }
func (a payoutAnswer) VisitGetPayoutResponse(w http.ResponseWriter) error  { return a.write(w, a.body) }
func (a payoutAnswer) VisitConfirmPayoutResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}
func (a payoutAnswer) VisitMovePayoutResponse(w http.ResponseWriter) error { return a.write(w, a.body) }

type transactionAnswer struct {
	outcome
	body platformwire.Transaction
}

func (a transactionAnswer) VisitCreateDepositResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type transactionPageAnswer struct {
	outcome
	body platformwire.TransactionPage
}

func (a transactionPageAnswer) VisitListTransactionsResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type chainPageAnswer struct {
	outcome
	body platformwire.ChainPage
}

func (a chainPageAnswer) VisitListChainsResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type treasuryAnswer struct {
	outcome
	body platformwire.Treasury
}

func (a treasuryAnswer) VisitGetTreasuryResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type kybAnswer struct {
	outcome
	body platformwire.KYB
}

func (a kybAnswer) VisitGetKYBResponse(w http.ResponseWriter) error  { return a.write(w, a.body) }
func (a kybAnswer) VisitSaveKYBResponse(w http.ResponseWriter) error { return a.write(w, a.body) }

type submissionAnswer struct {
	outcome
	body platformwire.KYBSubmission
}

func (a submissionAnswer) VisitCompleteKYBResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type railPageAnswer struct {
	outcome
	body platformwire.RailPage
}

func (a railPageAnswer) VisitListRailsResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type railAnswer struct {
	outcome
	body platformwire.Rail
}

func (a railAnswer) VisitOpenRailResponse(w http.ResponseWriter) error { return a.write(w, a.body) }

type payinAnswer struct {
	outcome
	body platformwire.Payin
}

func (a payinAnswer) VisitCreatePayinResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}
func (a payinAnswer) VisitGetPayinResponse(w http.ResponseWriter) error { return a.write(w, a.body) }
func (a payinAnswer) VisitCompletePayinResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type instructionsAnswer struct {
	outcome
	body platformwire.PayinInstructions
}

func (a instructionsAnswer) VisitCreatePayinInstructionsResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}

type escrowAnswer struct {
	outcome
	body platformwire.Escrow
}

func (a escrowAnswer) VisitCreateEscrowResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}
func (a escrowAnswer) VisitConfirmEscrowActionResponse(w http.ResponseWriter) error {
	return a.write(w, a.body)
}
func (a escrowAnswer) VisitSyncEscrowResponse(w http.ResponseWriter) error { return a.write(w, a.body) }

type escrowActionAnswer struct {
	outcome
	body platformwire.EscrowAction
}

func (a escrowActionAnswer) VisitPrepareEscrowActionResponse(w http.ResponseWriter) error {
	return a.write(w, platformwire.PreparedEscrowAction{Action: a.body})
}
