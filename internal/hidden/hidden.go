// Package hidden holds values that must not print.
package hidden

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
)

// Value holds a value in a function, where printers that use reflection cannot reach it. The zero Value holds the
// zero value.
type Value[T any] struct{ get func() T }

// Hide hides a value.
func Hide[T any](value T) Value[T] { return Value[T]{func() T { return value }} }

// Value returns the value.
func (h Value[T]) Value() T {
	if h.get == nil {
		var zero T
		return zero
	}
	return h.get()
}

// Text is a text that does not print.
type Text struct{ text Value[string] }

// NewText returns a Text that holds a text.
func NewText(text string) Text {
	if text == "" {
		return Text{}
	}
	return Text{Hide(text)}
}

// Reveal returns the text. It is empty for the zero Text. It is not a method: a type that embeds a Text would then
// have the method too.
func Reveal(s Text) string { return s.text.Value() }

// Same compares two texts in constant time.
func Same(a, b Text) bool {
	return subtle.ConstantTimeCompare([]byte(Reveal(a)), []byte(Reveal(b))) == 1
}

// IsZero reports that there is no text.
func (s Text) IsZero() bool { return Reveal(s) == "" }

// Redaction is the text that a secret shows in place of its own.
const Redaction = "[redacted]"

// String returns whether there is a text, and nothing about it.
func (s Text) String() string {
	if s.IsZero() {
		return "[none]"
	}
	return Redaction
}

// Format writes the result of String for every verb and flag.
func (s Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns a redaction if there is a text. JSON, XML, YAML and most other encodings use it.
func (s Text) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return []byte{}, nil
	}
	return []byte(Redaction), nil
}

// MarshalBinary is MarshalText for gob and binary encodings.
func (s Text) MarshalBinary() ([]byte, error) { return s.MarshalText() }

// LogValue returns String.
func (s Text) LogValue() slog.Value { return slog.StringValue(s.String()) }
