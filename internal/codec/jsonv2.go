// Package codec is the SDK's one way to JSON. It passes on JSON v2, which is strict, fast, and has hooks for types of
// other packages, and has a [Scanner] that reads JSON in memory without allocations, just as strictly.
//
// Go 1.27 has JSON v2 as encoding/json/v2. For Go 1.26, an experimental module has the same code. Only this file names
// that module, and no exported type shows it. So it can be replaced in one commit when Go 1.26 is no longer supported.
package codec

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
	Kind           = jsontext.Kind
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
	KindEndObject   = jsontext.KindEndObject
)

// Marshal encodes a Go value as JSON.
func Marshal(v any, options ...Options) ([]byte, error) { return json.Marshal(v, options...) }

// MarshalWrite encodes a value into a writer.
func MarshalWrite(w io.Writer, v any, options ...Options) error {
	return json.MarshalWrite(w, v, options...)
}

// MarshalEncode encodes a value in the middle of a document.
func MarshalEncode(enc *Encoder, v any, options ...Options) error {
	return json.MarshalEncode(enc, v, options...)
}

// Unmarshal decodes JSON into what v points to. It refuses duplicate names, invalid UTF-8 and anything after the value.
func Unmarshal(b []byte, v any, options ...Options) error { return json.Unmarshal(b, v, options...) }

// NewEncoder returns an encoder that writes token by token.
func NewEncoder(w io.Writer, options ...Options) *Encoder { return jsontext.NewEncoder(w, options...) }

// NewDecoder returns a decoder that reads token by token.
func NewDecoder(r io.Reader, options ...Options) *Decoder { return jsontext.NewDecoder(r, options...) }

// String returns the token of a text.
func String(text string) Token { return jsontext.String(text) }

// Null is the token of null.
func Null() Token { return jsontext.Null }

// AppendQuote appends a text as a JSON string.
func AppendQuote(dst []byte, text string) ([]byte, error) { return jsontext.AppendQuote(dst, text) }

// AppendUnquote appends the text of a JSON string.
func AppendUnquote(dst, quoted []byte) ([]byte, error) { return jsontext.AppendUnquote(dst, quoted) }

// JoinOptions joins options. A later one replaces an earlier one.
func JoinOptions(options ...Options) Options { return json.JoinOptions(options...) }

// Deterministic writes maps in the order of their keys.
func Deterministic() Options { return json.Deterministic(true) }

// Indented writes each member and entry on a line of its own.
func Indented() Options { return jsontext.WithIndent("  ") }

// NoUnknownMembers refuses a member of an object that the struct has no field for.
func NoUnknownMembers() Options { return json.RejectUnknownMembers(true) }

// OmitEmptyAsV1 makes omitempty drop what it drops in encoding/json.
func OmitEmptyAsV1() Options { return jsonv1.OmitEmptyWithLegacySemantics(true) }

// Lenient accepts duplicate names and invalid UTF-8.
func Lenient() Options {
	return json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// MarshalToFunc encodes values of T, or those that implement it, with a function.
func MarshalToFunc[T any](write func(*Encoder, T) error) *Marshalers {
	return json.MarshalToFunc(write)
}

// UnmarshalFromFunc decodes into a T, which is a pointer, with a function.
func UnmarshalFromFunc[T any](read func(*Decoder, T) error) *Unmarshalers {
	return json.UnmarshalFromFunc(read)
}

// WithMarshalers sets the functions that encode values.
func WithMarshalers(marshalers ...*Marshalers) Options {
	return json.WithMarshalers(json.JoinMarshalers(marshalers...))
}

// WithUnmarshalers sets the functions that decode values.
func WithUnmarshalers(unmarshalers ...*Unmarshalers) Options {
	return json.WithUnmarshalers(json.JoinUnmarshalers(unmarshalers...))
}

// JoinMarshalers joins functions. The first that fits is used.
func JoinMarshalers(marshalers ...*Marshalers) *Marshalers { return json.JoinMarshalers(marshalers...) }
