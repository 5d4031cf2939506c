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

// approval is an issued approval without what it approves. The payload is longer than most records, so nobody keeps it
// whose record has its content.
type approval struct {
	ID, Nonce string
	ExpiresAt time.Time
}

// newApproval returns an approval with a window's end.
func newApproval(expires time.Time) approval {
	return approval{ID: newID("apr_"), Nonce: rand.Text(), ExpiresAt: expires}
}

// of returns the approval with its payload. The same content gives the same bytes.
func (a approval) of(content approvalPayload) platformwire.Approval {
	content.ApprovalID, content.ExpiresAt, content.Nonce = a.ID, a.ExpiresAt, a.Nonce
	text, err := json.Marshal(content)
	canonical := jsontext.Value(text)
	if err == nil {
		err = canonical.Canonicalize()
	}
	if err != nil {
		panic(err) // the content has a time, and texts that were read from JSON
	}
	return platformwire.Approval{ID: a.ID, Payload: canonical, ExpiresAt: a.ExpiresAt}
}
