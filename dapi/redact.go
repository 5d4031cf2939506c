package dapi

import (
	"fmt"
	"io"
	"log/slog"
)

// redacted is how the bodies of the login print, whatever the verb: each holds what opens a session. They travel by their fields.
const redacted = "[redacted]"

// String is a redaction.
func (TokenGrant) String() string { return redacted }

// Format writes the redaction for every verb and flag.
func (TokenGrant) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is the redaction.
func (TokenGrant) LogValue() slog.Value { return slog.StringValue(redacted) }

// String is a redaction.
func (RefreshRequest) String() string { return redacted }

// Format writes the redaction for every verb and flag.
func (RefreshRequest) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is the redaction.
func (RefreshRequest) LogValue() slog.Value { return slog.StringValue(redacted) }

// String is a redaction.
func (TokenRequest) String() string { return redacted }

// Format writes the redaction for every verb and flag.
func (TokenRequest) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue is the redaction.
func (TokenRequest) LogValue() slog.Value { return slog.StringValue(redacted) }
