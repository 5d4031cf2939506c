package transport

import (
	"fmt"
	"io"
	"log/slog"
)

// Secret is a text that does not print. It is a function so that packages that print structs by reflection cannot reach the text.
type Secret struct{ text func() string }

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{func() string { return text }} }

// Reveal gives the text, "" of the zero Secret. It is no method, lest the types that surfaces make of a Secret show it to callers.
func Reveal(s Secret) string {
	if s.text == nil {
		return ""
	}
	return s.text()
}

// String says whether there is one, and no more.
func (s Secret) String() string {
	if Reveal(s) == "" {
		return "[none]"
	}
	return "[redacted]"
}

// Format writes String for every verb and flag.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText writes String; JSON and other encodings show that. There is no way back.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue logs String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// credentialRule is what can travel in a header and is one token there.
var credentialRule = Rule{Required: true, Pattern: `^[\x21-\x7e]+$`}

// Credential checks a secret that is sent as a credential.
func (c *Check) Credential(field string, s Secret) { c.Header(field, Reveal(s), credentialRule) }
