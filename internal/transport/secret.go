package transport

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Hidden holds a value in a function, where printers that use reflection cannot reach it. The zero Hidden holds the
// zero value.
type Hidden[T any] struct{ get func() T }

// Hide hides a value.
func Hide[T any](value T) Hidden[T] { return Hidden[T]{func() T { return value }} }

// Value returns the value.
func (h Hidden[T]) Value() T {
	if h.get == nil {
		var zero T
		return zero
	}
	return h.get()
}

// Secret is a text that does not print.
type Secret struct{ text Hidden[string] }

// NewSecret returns a Secret that holds a text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{Hide(text)}
}

// Reveal returns the text. It is empty for the zero Secret. It is not a method: a type that embeds a Secret would then
// have the method too.
func Reveal(s Secret) string { return s.text.Value() }

// SameSecret compares two texts in constant time.
func SameSecret(a, b Secret) bool {
	return subtle.ConstantTimeCompare([]byte(Reveal(a)), []byte(Reveal(b))) == 1
}

// IsZero reports that there is no text.
func (s Secret) IsZero() bool { return Reveal(s) == "" }

// Redaction is the text that a secret shows in place of its own.
const Redaction = wire.Redaction

// String returns whether there is a text, and nothing about it.
func (s Secret) String() string {
	if s.IsZero() {
		return "[none]"
	}
	return Redaction
}

// Format writes the result of String for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns a redaction if there is a text. JSON, XML, YAML and most other encodings use it.
func (s Secret) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return []byte{}, nil
	}
	return []byte(Redaction), nil
}

// MarshalBinary is MarshalText for gob and binary encodings.
func (s Secret) MarshalBinary() ([]byte, error) { return s.MarshalText() }

// LogValue returns String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// credentialRule is the form of a credential in a header: one word without spaces.
var credentialRule = Rule{Required: true, Pattern: `^[\x21-\x7e]+$`}

// Credential checks a secret before it is used as a credential.
func (c *Check) Credential(field string, s Secret) { c.Header(field, Reveal(s), credentialRule) }
