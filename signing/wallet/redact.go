package wallet

import (
	"fmt"
	"io"
	"log/slog"
)

// These methods have value receivers, so they also work for a copied key.

// String returns the address.
func (k Key) String() string {
	if k.address == "" {
		return "wallet.Key(none)"
	}
	return fmt.Sprintf("wallet.Key(%s redacted)", k.address)
}

// Format writes [Key.String] for every verb and flag.
func (k Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// GoString returns [Key.String].
func (k Key) GoString() string { return k.String() }

// MarshalText returns [Key.String], which JSON and other encodings show. It cannot be decoded.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue returns [Key.String].
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }
