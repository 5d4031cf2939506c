package dapi

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// UnmarshalJSONFrom reads the action out of the answer, or an answer that is the action itself. An action's key is its address: an answer
// without one shows no action.
//
// Source: Resources, Platform resources; Limits, Idempotency.
func (p *PreparedEscrowAction) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	var answer struct {
		Action *EscrowAction `json:"action"`
		EscrowAction
	}
	if err := json.UnmarshalDecode(dec, &answer); err != nil {
		return err
	}
	p.Action = answer.EscrowAction
	if answer.Action != nil {
		p.Action = *answer.Action
	}
	if p.Action.IdempotencyKey == "" {
		return errors.New("answer has no action.idempotencyKey")
	}
	return nil
}

// UnmarshalJSON is UnmarshalJSONFrom for encoding/json.
func (p *PreparedEscrowAction) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, p) }
