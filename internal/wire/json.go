package wire

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
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

// Unencodable returns the field that [Marshal] could not write, such as a text that is not UTF-8. It returns "body" if
// it is not known.
func Unencodable(err error) string {
	var at codec.Pointer
	if semantic, ok := errors.AsType[*codec.SemanticError](err); ok {
		at = semantic.JSONPointer
	}
	if syntactic, ok := errors.AsType[*codec.SyntacticError](err); ok &&
		(at == "" || !at.Contains(syntactic.JSONPointer)) {
		at += syntactic.JSONPointer // inside a value that encodes itself
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

// Malformed reports that an error of [Unmarshal] means invalid JSON, and not a value of another type.
func Malformed(err error) bool {
	_, malformed := errors.AsType[*codec.SyntacticError](err)
	return malformed
}

// Valid returns nil for one JSON value without duplicate keys, and the reason for any other body. Text that [Mend]
// replaces is no reason.
func Valid(body []byte) error {
	body, _ = Mend(body)
	dec := codec.NewDecoder(bytes.NewReader(body))
	if err := dec.SkipValue(); err != nil {
		return fmt.Errorf("the response is not valid JSON: %w", err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("the response is not valid JSON: there is more after the value")
	}
	return nil
}
