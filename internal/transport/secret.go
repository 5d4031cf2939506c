package transport

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Hidden holds a value where packages that print structs by reflection cannot reach it: in a function. The zero Hidden
// holds the zero value.
type Hidden[T any] struct{ get func() T }

// Hide puts a value away.
func Hide[T any](value T) Hidden[T] { return Hidden[T]{func() T { return value }} }

// Value gives the value back.
func (h Hidden[T]) Value() T {
	if h.get == nil {
		var zero T
		return zero
	}
	return h.get()
}

// Secret is a text that does not print.
type Secret struct{ text Hidden[string] }

// NewSecret hides a text.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{Hide(text)}
}

// Reveal gives the text, "" of the zero Secret. It is no method, lest each type that is made of a Secret shows it to
// callers.
func Reveal(s Secret) string { return s.text.Value() }

// SameSecret compares two texts in a time that does not depend on where they differ.
func SameSecret(a, b Secret) bool {
	return subtle.ConstantTimeCompare([]byte(Reveal(a)), []byte(Reveal(b))) == 1
}

// IsZero reports that there is no text.
func (s Secret) IsZero() bool { return Reveal(s) == "" }

// Redaction is what a secret shows instead of its text.
const Redaction = wire.Redaction

// String says whether there is one, and no more.
func (s Secret) String() string {
	if s.IsZero() {
		return "[none]"
	}
	return Redaction
}

// Format writes String for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText returns a redaction, of a text that is not empty. JSON, XML, YAML and most other encodings show that.
func (s Secret) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return []byte{}, nil
	}
	return []byte(Redaction), nil
}

// MarshalBinary is MarshalText, for gob and binary encodings.
func (s Secret) MarshalBinary() ([]byte, error) { return s.MarshalText() }

// LogValue logs String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// credentialRule is what can travel in a header and is one token there.
var credentialRule = Rule{Required: true, Pattern: `^[\x21-\x7e]+$`}

// Credential checks a secret that is sent as a credential.
func (c *Check) Credential(field string, s Secret) { c.Header(field, Reveal(s), credentialRule) }
