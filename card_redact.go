package moneymovement

import (
	"fmt"
	"io"
	"log/slog"
)

// String shows the last four digits, as receipts do. Number and security code are in the fields.
func (d CardDetails) String() string {
	if len(d.CardNumber) < 12 {
		return "card details (redacted)"
	}
	return "card details (redacted, ending " + d.CardNumber[len(d.CardNumber)-4:] + ")"
}

// Format writes [CardDetails.String] for every verb and flag, so that a log line cannot hold a card's number by accident.
func (d CardDetails) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, d.String()) }

// LogValue is [CardDetails.String].
func (d CardDetails) LogValue() slog.Value { return slog.StringValue(d.String()) }
