package refapi

import (
	"fmt"
	"io"
	"log/slog"
)

// secret is a text that does not print. It is a function so that packages that print structs by reflection cannot reach the text.
type secret struct{ text func() string }

func newSecret(text string) secret { return secret{func() string { return text }} }

func (s secret) reveal() string {
	if s.text == nil {
		return ""
	}
	return s.text()
}

// String says whether there is one, and no more.
func (s secret) String() string {
	if s.reveal() == "" {
		return "[none]"
	}
	return "[redacted]"
}

// Format writes String for every verb and flag.
func (s secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText writes String; JSON and other encodings show that. There is no way back.
func (s secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue logs String.
func (s secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
