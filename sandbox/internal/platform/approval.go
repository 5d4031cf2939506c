package platform

import (
	"crypto/rand"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// approvalPayload is the content that a developer key signs to fund a payout or to act on an escrow deal, as RFC 8785
// canonical JSON.
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

// approvalDestination is where the money goes: a payout's contact, or an escrow deal's payee.
type approvalDestination struct {
	ContactID string `json:"contactId,omitzero"`
	Address   string `json:"address,omitzero"`
	ChainID   int64  `json:"chainId,omitzero"` // only if the booking named it
}

// newApproval completes the payload with an id, its window's end and a nonce.
func newApproval(payload approvalPayload, expires time.Time) (platformwire.Approval, error) {
	approval := platformwire.Approval{ID: newID("apr_"), ExpiresAt: expires}
	payload.ApprovalID, payload.ExpiresAt, payload.Nonce = approval.ID, expires, rand.Text()
	text, err := json.Marshal(payload)
	if err != nil {
		return platformwire.Approval{}, err
	}
	canonical := jsontext.Value(text)
	if err := canonical.Canonicalize(); err != nil {
		return platformwire.Approval{}, err
	}
	approval.Payload = canonical
	return approval, nil
}
