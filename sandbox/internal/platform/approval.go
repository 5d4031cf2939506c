package platform

import (
	"crypto/rand"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/api"
)

// approvalPayload is what a developer key signs to fund a payout, as RFC 8785 canonical JSON.
type approvalPayload struct {
	ApprovalID  string              `json:"approvalId"`
	Operation   string              `json:"operation"`
	ResourceID  string              `json:"resourceId"`
	Account     string              `json:"account"`
	Amount      string              `json:"amount"`
	Currency    string              `json:"currency"`
	Destination approvalDestination `json:"destination"`
	ExpiresAt   time.Time           `json:"expiresAt"`
	Nonce       string              `json:"nonce"`
}

type approvalDestination struct {
	ContactID string `json:"contactId"`
	ChainID   int64  `json:"chainId,omitzero"` // only when the booking named it
}

// newApproval prepares the approval of a payout.
func newApproval(booked *payout, expires time.Time) (api.Approval, error) {
	approval := api.Approval{ID: newID("apr_"), ExpiresAt: expires}
	payload, err := json.Marshal(approvalPayload{
		ApprovalID:  approval.ID,
		Operation:   "payout.fund",
		ResourceID:  booked.id,
		Account:     booked.holder.key.account,
		Amount:      booked.terms.Amount.String(),
		Currency:    booked.asset(),
		Destination: approvalDestination{ContactID: booked.terms.ContactID, ChainID: booked.terms.ToChainID},
		ExpiresAt:   expires,
		Nonce:       rand.Text(),
	})
	if err != nil {
		return api.Approval{}, err
	}
	canonical := jsontext.Value(payload)
	if err := canonical.Canonicalize(); err != nil {
		return api.Approval{}, err
	}
	approval.Payload = canonical
	return approval, nil
}
