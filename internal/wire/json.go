package wire

import (
	"reflect"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Encoding corrects defaults of the libraries. With JSON v2, `omitempty` drops an explicit null and an empty string
// behind a pointer. PATCH bodies need both. Package decimal has a global switch, MarshalJSONWithoutQuotes, that a
// program may have set. It would send amounts as JSON numbers. JSON v2 writes maps in random order, so the body of a
// repeated call would differ. Times keep the caller's zone, but the description requires UTC. JSON v2 cannot encode a
// nullable.
var Encoding = codec.JoinOptions(
	codec.OmitEmptyAsV1(),
	codec.Deterministic(),
	codec.WithMarshalers(Marshalers),
)

// Marshal encodes what is sent.
func Marshal(value any) ([]byte, error) { return codec.Marshal(value, Encoding) }

// Unmarshal decodes what was received.
func Unmarshal(body []byte, value any) error { return codec.Unmarshal(body, value, decoding) }

// Marshalers are the marshalers of Encoding, to be joined with others.
var Marshalers = codec.JoinMarshalers(
	codec.MarshalToFunc(func(enc *codec.Encoder, amount decimal.Decimal) error {
		return enc.WriteToken(codec.String(amount.String()))
	}),
	codec.MarshalToFunc(encodeTime),
	codec.MarshalToFunc(encodeNullable),
)

// decoding reads amounts from the digits of a string or a number, and bounds them: package decimal accepts 1e999999999,
// which prints as a gigabyte. It also reads times in each of the stated forms.
var decoding = codec.WithUnmarshalers(codec.UnmarshalFromFunc(decodeAmount), codec.UnmarshalFromFunc(decodeTime))

// nullable is the type behind nullable.Nullable: a map with the value at true, or anything at false for null.
type nullable interface {
	IsNull() bool
	IsSpecified() bool
}

func encodeNullable(enc *codec.Encoder, n nullable) error {
	value := reflect.Indirect(reflect.ValueOf(n)).MapIndex(reflect.ValueOf(true))
	if !value.IsValid() {
		return enc.WriteToken(codec.Null())
	}
	return codec.MarshalEncode(enc, value.Interface())
}
