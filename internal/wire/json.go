package wire

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
	"github.com/shopspring/decimal"
)

// Encoding keeps promises that the libraries' defaults would break. Under JSON v2 `omitempty` drops an explicit null and an
// empty string behind a pointer, which PATCH bodies need. And decimal's package-wide switch MarshalJSONWithoutQuotes, which
// a program may have set for its own sake, would send amounts as JSON numbers. And JSON v2 writes maps in random order, so that a call that
// is made again with the same key would come with other bytes. And times keep the caller's zone, where UTC is stated.
// A nullable would be encoded without these options.
var Encoding = json.JoinOptions(
	jsonv1.OmitEmptyWithLegacySemantics(true),
	json.Deterministic(true),
	json.WithMarshalers(Marshalers),
)

// Marshalers are those of Encoding, for options that have more of them.
var Marshalers = json.JoinMarshalers(
	json.MarshalToFunc(func(enc *jsontext.Encoder, amount decimal.Decimal) error {
		return enc.WriteToken(jsontext.String(amount.String()))
	}),
	json.MarshalToFunc(encodeTime),
	json.MarshalToFunc(encodeNullable),
)

// decoding reads amounts from the literal's digits, be it a string or a number, and bounds them: decimal's own reading takes
// 1e999999999, which prints as a gigabyte. And it reads timestamps in each of the forms that are stated.
var decoding = json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(DecodeAmount), json.UnmarshalFromFunc(decodeTime)))

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
