package wire

import (
	"reflect"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Encoding keeps promises that the libraries' defaults would break. Under JSON v2 `omitempty` drops an explicit null
// and an empty string behind a pointer, which PATCH bodies need. And decimal's package-wide switch
// MarshalJSONWithoutQuotes, which a program may have set for its own sake, would send amounts as JSON numbers. And JSON
// v2 writes maps in random order, so that a call that is made again with the same key would come with other bytes. And
// times keep the caller's zone, where UTC is stated. A nullable would be encoded without these options.
var Encoding = jsonv2.JoinOptions(
	jsonv2.OmitEmptyAsV1(),
	jsonv2.Deterministic(),
	jsonv2.WithMarshalers(Marshalers),
)

// Marshal is what types that are sent write themselves with.
func Marshal(value any) ([]byte, error) { return jsonv2.Marshal(value, Encoding) }

// Unmarshal is what types of an answer read themselves with.
func Unmarshal(body []byte, value any) error { return jsonv2.Unmarshal(body, value, decoding) }

// Marshalers are those of Encoding, for options that have more of them.
var Marshalers = jsonv2.JoinMarshalers(
	jsonv2.MarshalToFunc(func(enc *jsonv2.Encoder, amount decimal.Decimal) error {
		return enc.WriteToken(jsonv2.String(amount.String()))
	}),
	jsonv2.MarshalToFunc(encodeTime),
	jsonv2.MarshalToFunc(encodeNullable),
)

// decoding reads amounts from the literal's digits, be it a string or a number, and bounds them: decimal's own reading
// takes 1e999999999, which prints as a gigabyte. And it reads timestamps in each of the forms that are stated.
var decoding = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(decodeAmount), jsonv2.UnmarshalFromFunc(decodeTime))

// nullable is every nullable.Nullable: a map that holds the value under true, or anything under false for null.
type nullable interface {
	IsNull() bool
	IsSpecified() bool
}

func encodeNullable(enc *jsonv2.Encoder, n nullable) error {
	value := reflect.Indirect(reflect.ValueOf(n)).MapIndex(reflect.ValueOf(true))
	if !value.IsValid() {
		return enc.WriteToken(jsonv2.Null())
	}
	return jsonv2.MarshalEncode(enc, value.Interface())
}
