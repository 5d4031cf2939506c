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

// String shows the nonce. Whoever holds the signature with the caller's credential can see the card for the five minutes that it is valid.
func (p CardDetailsProof) String() string {
	return fmt.Sprintf("card details proof (redacted, nonce %d)", p.Nonce)
}

// Format writes [CardDetailsProof.String] for every verb and flag.
func (p CardDetailsProof) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.String()) }

// LogValue is [CardDetailsProof.String].
func (p CardDetailsProof) LogValue() slog.Value { return slog.StringValue(p.String()) }
