package host

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/signing"
)

// approvalJSON is an approval as the service sends it.
type approvalJSON struct {
	ID        string    `json:"id"`
	Payload   string    `json:"payload"`
	ExpiresAt time.Time `json:"expiresAt"`
}

// preparedJSON is a response that holds an approval: a booked payout, a deal, or a prepared action of a deal. What it
// says about the payment must be what the approval says.
type preparedJSON struct {
	approvalJSON
	Amount    string        `json:"amount"`
	Currency  string        `json:"currency"`
	ContactID string        `json:"contactId"`
	Payee     string        `json:"payee"` // of a deal
	Approval  *approvalJSON `json:"approval"`
	Action    *struct {
		Type     string        `json:"type"`
		Approval *approvalJSON `json:"approval"`
	} `json:"action"`
}

// prepared is an approval, and what must be in it.
type prepared struct {
	signing.Approval
	want []term
}

// term is a value that a field of the payload must have, and where that value comes from.
type term struct{ field, value, from string }

const fromResponse = "the response around the approval"

// readPrepared reads a whole response, or only its approval.
func readPrepared(text []byte) (prepared, error) {
	var p preparedJSON
	if err := json.Unmarshal(bytes.TrimSpace(text), &p, json.RejectUnknownMembers(false)); err != nil {
		return prepared{}, app.Usagef("the input is not the JSON of a booking or of its approval: %w", err)
	}
	var want []term
	add := func(field, value string) {
		if value != "" {
			want = append(want, term{field, value, fromResponse})
		}
	}
	found := p.Approval
	switch {
	case found != nil:
		add("resourceId", p.ID)
	case p.Action != nil && p.Action.Approval != nil:
		found = p.Action.Approval
		if p.Action.Type != "" {
			add("operation", "escrow."+p.Action.Type)
		}
		add("resourceId", p.ID)
	case p.Payload != "":
		found = &p.approvalJSON
	default:
		return prepared{}, app.Usagef("the input has no approval: give the response of POST /payouts, " +
			"or its member approval; a payout that is funded has none any more")
	}
	add("amount", p.Amount)
	add("currency", p.Currency)
	add("destination.contactId", p.ContactID)
	add("destination.address", p.Payee)
	payload, err := base64.StdEncoding.DecodeString(found.Payload)
	if err != nil {
		return prepared{}, app.Usagef("the payload of the approval is not base64: %w", err)
	}
	return prepared{signing.Approval{ID: found.ID, Payload: payload, ExpiresAt: found.ExpiresAt}, want}, nil
}

// payloadField is one member of a payload, as it is.
type payloadField struct{ name, value string }

// fields returns every member of the payload in its order, also the unknown ones. A payload that is not JSON has one
// field.
func (p prepared) fields() []payloadField {
	fields, err := members("", p.Payload)
	if err != nil {
		return []payloadField{{"payload", fmt.Sprintf("%q", p.Payload)}}
	}
	return fields
}

func members(prefix string, object []byte) (fields []payloadField, err error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.ReadToken(); err != nil {
		return nil, err
	}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, err
		}
		field := prefix + name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, err
		}
		if value.Kind() == '{' {
			inner, err := members(field+".", value)
			if err != nil {
				return nil, err
			}
			fields = append(fields, inner...)
			continue
		}
		fields = append(fields, payloadField{field, shownValue(value)})
	}
	return fields, nil
}

func shownValue(value jsontext.Value) string {
	var text string
	if value.Kind() == '"' && json.Unmarshal(value, &text) == nil {
		return text
	}
	return value.String()
}

// known are the fields of a payload that package signing compares. A payload with another one is not signed.
var known = []string{
	"approvalId", "operation", "resourceId", "account", "amount", "currency", "destination.contactId",
	"destination.address", "destination.chainId", "expiresAt", "nonce",
}
