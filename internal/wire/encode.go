package wire

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
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

// Valid returns nil for one JSON value without duplicate keys, and the reason for any other body. It accepts text
// that [ReplaceInvalidText] replaces.
func Valid(body []byte) error {
	body, _ = ReplaceInvalidText(body)
	dec := codec.NewDecoder(bytes.NewReader(body))
	if err := dec.SkipValue(); err != nil {
		return fmt.Errorf("the response is not valid JSON: %w", err)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("the response is not valid JSON: there is more after the value")
	}
	return nil
}

// Writer writes a JSON object, member by member, as [Marshal] writes it. The generator writes the bodies that are sent
// often with it. They then need no reflection.
type Writer struct {
	out []byte
	bad bool // a text is not valid UTF-8
}

var writers = sync.Pool{New: func() any { return new(Writer) }}

// Write returns the JSON object whose members are written by a function. It returns false for a value that cannot be
// written: [Marshal] says why.
func Write(members func(*Writer)) ([]byte, bool) {
	w := writers.Get().(*Writer)
	w.out, w.bad = append(w.out[:0], '{'), false
	members(w)
	w.out = append(w.out, '}')
	if cap(w.out) <= mostKept {
		defer writers.Put(w)
	}
	if w.bad {
		return nil, false
	}
	return bytes.Clone(w.out), true
}

// mostKept bounds the memory of a Writer that is used again.
const mostKept = 64 << 10

// Text writes a text.
func (w *Writer) Text(name, value string) {
	w.name(name)
	w.quote(value)
}

// Texts writes a list of texts.
func Texts[T ~string](w *Writer, name string, values []T) {
	w.name(name)
	w.out = append(w.out, '[')
	for i, value := range values {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.quote(string(value))
	}
	w.out = append(w.out, ']')
}

// Amount writes an amount.
func (w *Writer) Amount(name string, value decimal.Decimal) {
	w.name(name)
	w.quote(value.String())
}

// Integer writes a whole number.
func (w *Writer) Integer(name string, value int64) {
	w.name(name)
	w.out = strconv.AppendInt(w.out, value, 10)
}

// Boolean writes true or false.
func (w *Writer) Boolean(name string, value bool) {
	w.name(name)
	w.out = strconv.AppendBool(w.out, value)
}

// Bytes writes bytes in base64.
func (w *Writer) Bytes(name string, value []byte) {
	w.name(name)
	w.out = append(w.out, '"')
	w.out = base64.StdEncoding.AppendEncode(w.out, value)
	w.out = append(w.out, '"')
}

// name writes the name of a member, which needs no escapes.
func (w *Writer) name(name string) {
	if len(w.out) > len(`{`) {
		w.out = append(w.out, ',')
	}
	w.out = append(w.out, '"')
	w.out = append(w.out, name...)
	w.out = append(w.out, `":`...)
}

func (w *Writer) quote(text string) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c > '~' {
			out, err := codec.AppendQuote(w.out, text)
			w.out, w.bad = out, w.bad || err != nil
			return
		}
	}
	w.out = append(w.out, '"')
	w.out = append(w.out, text...)
	w.out = append(w.out, '"')
}

// QueryText returns how a value is written in a query, and whether it is sent. A zero value is not sent. A non-nil
// pointer is sent, even if it points to zero.
func QueryText(value any) (string, bool) {
	v := reflect.ValueOf(value)
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", false
		}
		return queryValue(v.Elem()), true
	}
	if !v.IsValid() || v.IsZero() || (v.Kind() == reflect.Slice && v.Len() == 0) {
		return "", false
	}
	return queryValue(v), true
}

func queryValue(v reflect.Value) string {
	if t, ok := v.Interface().(time.Time); ok {
		return t.UTC().Format(time.RFC3339Nano)
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Int, reflect.Int32, reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Slice:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = queryValue(v.Index(i))
		}
		return strings.Join(parts, ",")
	default: // such as a decimal
		return fmt.Sprint(v.Interface())
	}
}

// revealer is a secret that can return its text.
type revealer interface{ Reveal() string }

var revealing = codec.JoinOptions(Encoding, codec.WithMarshalers(Marshalers,
	codec.MarshalToFunc(func(enc *codec.Encoder, s revealer) error {
		return enc.WriteToken(codec.String(s.Reveal()))
	}),
))

// MarshalRevealing encodes the body of a request with the texts of its secrets. Every other encoder shows redactions.
func MarshalRevealing(body any) ([]byte, error) { return codec.Marshal(body, revealing) }

// Secrets returns the texts of the secrets in a body.
func Secrets(body any) (secrets []string) {
	collecting := codec.MarshalToFunc(func(enc *codec.Encoder, s revealer) error {
		secrets = append(secrets, s.Reveal())
		return enc.WriteToken(codec.String(hidden.Redaction))
	})
	_ = codec.MarshalWrite(io.Discard, body, Encoding, codec.WithMarshalers(Marshalers, collecting))
	return secrets
}

// Replace returns a body without the given texts, and whether it had one of them. It finds them with escaped characters
// too. In a body that is not JSON, it replaces the texts as they are.
func Replace(body []byte, by *strings.Replacer) (text []byte, found bool) {
	valid, _ := codec.ReplaceInvalidText(body)
	lenient := codec.Lenient()
	var out bytes.Buffer
	dec, enc := codec.NewDecoder(bytes.NewReader(valid), lenient), codec.NewEncoder(&out, lenient)
	for {
		token, err := dec.ReadToken()
		if errors.Is(err, io.EOF) {
			return out.Bytes(), found
		}
		if err == nil { // also a number: a validator may return a text of digits as one
			if was := token.String(); by.Replace(was) != was {
				token, found = codec.String(by.Replace(was)), true
			}
		}
		if err == nil {
			err = enc.WriteToken(token)
		}
		if err != nil {
			text = []byte(by.Replace(string(body)))
			return text, !bytes.Equal(text, body)
		}
	}
}
