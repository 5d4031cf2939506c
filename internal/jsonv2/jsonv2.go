// Package jsonv2 is the SDK's one way to JSON v2: strict, fast, and with hooks for types of other packages. Go 1.27 has
// it as encoding/json/v2; for Go 1.26 the same code is an experiment's. Only this file names that module, and no
// exported type shows it, so that it can be left in one commit once the older release is out of support.
package jsonv2

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// The types of encoding/json/v2.
type (
	Options       = json.Options
	Marshalers    = json.Marshalers
	Unmarshalers  = json.Unmarshalers
	SemanticError = json.SemanticError
)

// The types of encoding/json/jsontext.
type (
	Value          = jsontext.Value
	Pointer        = jsontext.Pointer
	Encoder        = jsontext.Encoder
	Decoder        = jsontext.Decoder
	Token          = jsontext.Token
	SyntacticError = jsontext.SyntacticError
)

// The kinds of a [Value].
const (
	KindInvalid     = jsontext.KindInvalid
	KindNull        = jsontext.KindNull
	KindTrue        = jsontext.KindTrue
	KindFalse       = jsontext.KindFalse
	KindString      = jsontext.KindString
	KindNumber      = jsontext.KindNumber
	KindBeginObject = jsontext.KindBeginObject
	KindBeginArray  = jsontext.KindBeginArray
	KindEndArray    = jsontext.KindEndArray
)

// Marshal writes a Go value as JSON.
func Marshal(v any, options ...Options) ([]byte, error) { return json.Marshal(v, options...) }

// MarshalWrite is Marshal into a writer.
func MarshalWrite(w io.Writer, v any, options ...Options) error {
	return json.MarshalWrite(w, v, options...)
}

// MarshalEncode is Marshal in the middle of a document.
func MarshalEncode(enc *Encoder, v any, options ...Options) error {
	return json.MarshalEncode(enc, v, options...)
}

// Unmarshal reads JSON into what v points to. It refuses duplicate names, invalid UTF-8 and anything behind the value.
func Unmarshal(b []byte, v any, options ...Options) error { return json.Unmarshal(b, v, options...) }

// NewEncoder writes a document token by token.
func NewEncoder(w io.Writer, options ...Options) *Encoder { return jsontext.NewEncoder(w, options...) }

// NewDecoder reads a document token by token.
func NewDecoder(r io.Reader, options ...Options) *Decoder { return jsontext.NewDecoder(r, options...) }

// String is the token of a text.
func String(text string) Token { return jsontext.String(text) }

// Null is the token of null.
func Null() Token { return jsontext.Null }

// AppendQuote appends a text as JSON writes it.
func AppendQuote(dst []byte, text string) ([]byte, error) { return jsontext.AppendQuote(dst, text) }

// AppendUnquote appends the text that a JSON string says.
func AppendUnquote(dst, quoted []byte) ([]byte, error) { return jsontext.AppendUnquote(dst, quoted) }

// JoinOptions makes one of several; a later one has the last word.
func JoinOptions(options ...Options) Options { return json.JoinOptions(options...) }

// Deterministic writes maps in the order of their keys.
func Deterministic() Options { return json.Deterministic(true) }

// Indented writes each member and entry on a line of its own.
func Indented() Options { return jsontext.WithIndent("  ") }

// NoUnknownMembers refuses a member of an object that the struct has no field for.
func NoUnknownMembers() Options { return json.RejectUnknownMembers(true) }

// OmitEmptyAsV1 has omitempty drop the values that it drops under encoding/json.
func OmitEmptyAsV1() Options { return jsonv1.OmitEmptyWithLegacySemantics(true) }

// Lenient takes duplicate names and invalid UTF-8.
func Lenient() Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// MarshalToFunc writes values of T, or those that implement it, in a way of one's own.
func MarshalToFunc[T any](write func(*Encoder, T) error) *Marshalers {
	return json.MarshalToFunc(write)
}

// UnmarshalFromFunc reads into a T, which is a pointer, in a way of one's own.
func UnmarshalFromFunc[T any](read func(*Decoder, T) error) *Unmarshalers {
	return json.UnmarshalFromFunc(read)
}

// WithMarshalers has values written by these.
func WithMarshalers(marshalers ...*Marshalers) Options {
	return json.WithMarshalers(json.JoinMarshalers(marshalers...))
}

// WithUnmarshalers has values read by these.
func WithUnmarshalers(unmarshalers ...*Unmarshalers) Options {
	return json.WithUnmarshalers(json.JoinUnmarshalers(unmarshalers...))
}

// JoinMarshalers makes one of several; an earlier one is asked first.
func JoinMarshalers(marshalers ...*Marshalers) *Marshalers { return json.JoinMarshalers(marshalers...) }
