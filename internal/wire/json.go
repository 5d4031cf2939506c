package wire

import (
	"reflect"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Encoding corrects defaults of the libraries. With JSON v2, `omitempty` drops an explicit null and an empty string
// behind a pointer. PATCH bodies need both. Package decimal has a global switch, MarshalJSONWithoutQuotes, that a
// program may have set. It would send amounts as JSON numbers. JSON v2 writes maps in random order, so the body of a
// repeated call would differ. Times keep the caller's zone, but the description requires UTC. JSON v2 cannot encode a
// nullable.
var Encoding = jsonv2.JoinOptions(
	jsonv2.OmitEmptyAsV1(),
	jsonv2.Deterministic(),
	jsonv2.WithMarshalers(Marshalers),
)

// Marshal encodes what is sent.
func Marshal(value any) ([]byte, error) { return jsonv2.Marshal(value, Encoding) }

// Unmarshal decodes what was received.
func Unmarshal(body []byte, value any) error { return jsonv2.Unmarshal(body, value, decoding) }

// Marshalers are the marshalers of Encoding, to be joined with others.
var Marshalers = jsonv2.JoinMarshalers(
	jsonv2.MarshalToFunc(func(enc *jsonv2.Encoder, amount decimal.Decimal) error {
		return enc.WriteToken(jsonv2.String(amount.String()))
	}),
	jsonv2.MarshalToFunc(encodeTime),
	jsonv2.MarshalToFunc(encodeNullable),
)

// decoding reads amounts from the digits of a string or a number, and bounds them: package decimal accepts 1e999999999,
// which prints as a gigabyte. It also reads times in each of the stated forms.
var decoding = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(decodeAmount), jsonv2.UnmarshalFromFunc(decodeTime))

// nullable is the type behind nullable.Nullable: a map with the value at true, or anything at false for null.
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
