package transport

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Encoded is a body that is JSON already, such as a document that was encoded while it was read. It is sent as it is.
type Encoded []byte

// encode turns the body into bytes, once for all attempts.
func (r *Request) encode() ([]byte, error) {
	if !r.hasBody {
		return nil, nil
	}
	if encoded, done := r.body.(Encoded); done {
		return encoded, nil
	}
	if r.op.Tells {
		return json.Marshal(r.body, revealing)
	}
	return json.Marshal(r.body, wire.Encoding)
}

// unencodable names the field that cannot be encoded, such as a text that is no UTF-8; "body" if it is not known.
func unencodable(err error) string {
	var at jsontext.Pointer
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		at = semantic.JSONPointer
	} else if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at = syntactic.JSONPointer
	}
	field := ""
	for step := range at.Tokens() {
		if _, err := strconv.ParseUint(step, 10, 64); err == nil {
			field += "[" + step + "]"
		} else {
			field += "." + step
		}
	}
	if field = strings.TrimPrefix(field, "."); field == "" {
		return "body"
	}
	return field
}
