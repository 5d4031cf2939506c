package signing

import (
	"fmt"
	"io"
	"log/slog"
)

// These methods have value receivers, so they also work for a copied key.

// String returns the algorithm and a shortened [DeveloperKey.Fingerprint].
func (k DeveloperKey) String() string {
	if k.publicDER == nil {
		return "signing.DeveloperKey(none)"
	}
	return fmt.Sprintf("signing.DeveloperKey(%s %.23s… redacted)", k.algorithm, k.Fingerprint())
}

// Format writes [DeveloperKey.String] for every verb and flag.
func (k DeveloperKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// GoString returns [DeveloperKey.String].
func (k DeveloperKey) GoString() string { return k.String() }

// MarshalText returns [DeveloperKey.String], which JSON and other encodings show. It cannot be decoded.
func (k DeveloperKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue returns [DeveloperKey.String].
func (k DeveloperKey) LogValue() slog.Value { return slog.StringValue(k.String()) }
