package transport

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
)

// encodeOptions keep promises that the libraries' defaults would break. Under JSON v2 `omitempty` drops an explicit null and an
// empty string behind a pointer, which PATCH bodies need. And decimal's package-wide switch MarshalJSONWithoutQuotes, which
// a program may have set for its own sake, would send amounts as JSON numbers. And JSON v2 writes maps in random order, so that a call that
// is made again with the same key would come with other bytes. And times keep the caller's zone, where UTC is stated. A nullable would be
// encoded without these options.
var encodeOptions = json.JoinOptions(
	jsonv1.OmitEmptyWithLegacySemantics(true),
	json.Deterministic(true),
	json.WithMarshalers(json.JoinMarshalers(
		json.MarshalToFunc(func(enc *jsontext.Encoder, amount decimal.Decimal) error {
			return enc.WriteToken(jsontext.String(amount.String()))
		}),
		json.MarshalToFunc(encodeTime),
		json.MarshalToFunc(encodeNullable),
	)),
)

// nullable is every nullable.Nullable: a map that holds the value under true, or anything under false for null.
type nullable interface {
	IsNull() bool
	IsSpecified() bool
}

func encodeNullable(enc *jsontext.Encoder, n nullable) error {
	value := reflect.Indirect(reflect.ValueOf(n)).MapIndex(reflect.ValueOf(true))
	if !value.IsValid() {
		return enc.WriteToken(jsontext.Null)
	}
	return json.MarshalEncode(enc, value.Interface())
}

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
	return json.Marshal(r.body, encodeOptions)
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
