package transport

import (
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
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
		return jsonv2.Marshal(r.body, revealing)
	}
	return jsonv2.Marshal(r.body, wire.Encoding)
}

// unencodable names the field that cannot be encoded, such as a text that is no UTF-8; "body" if it is not known.
func unencodable(err error) string {
	var at jsonv2.Pointer
	if semantic, ok := errors.AsType[*jsonv2.SemanticError](err); ok {
		at = semantic.JSONPointer
	}
	if syntactic, ok := errors.AsType[*jsonv2.SyntacticError](err); ok && (at == "" || !at.Contains(syntactic.JSONPointer)) {
		at += syntactic.JSONPointer // within a value that writes itself
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
