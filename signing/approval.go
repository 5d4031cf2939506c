package signing

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	moneyerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing/internal/oneline"
)

// Approval is what the service answers when it prepared a money-moving operation: bytes that the developer key is
// to sign within a window, 120 seconds for a payout or transfer and 60 for an escrow action.
// Source: Authentication, Platform API; Limits, Lifetimes.
type Approval struct {
	// ID identifies the approval when the operation is confirmed.
	ID string
	// Payload is the decoded payload: the very bytes to sign.
	Payload []byte
	// ExpiresAt is the end of the window.
	ExpiresAt time.Time
}

// Intent is what the caller asked the service for. Every field is compared with the approval's payload, and none
// stands for "anything": a field left zero is refused, but for those of Destination that do not apply.
type Intent struct {
	// Operation is what is to happen, such as "payout.fund" or "escrow.release".
	Operation string
	// ResourceID is the payout's or escrow's id.
	ResourceID string
	// Account is the client's id, or "self".
	Account string
	// Amount is positive; amounts are compared by value, so that 25 equals 25.00.
	Amount decimal.Decimal
	// Currency is the asset debited, such as "USDC".
	Currency string
	// Destination is where the money goes.
	Destination Destination
}

// Destination is a saved contact or an address on a chain. What the caller did not ask for stays empty, and the
// payload must then leave it out as well.
type Destination struct {
	// ContactID is the contact that is paid.
	ContactID string
	// Address is the on-chain address that is paid. Hexadecimal addresses are compared without regard to case.
	Address string
	// ChainID is a chain code such as "base", or an EVM chain id in decimal digits such as "8453"; in the payload,
	// the latter may be a string or an integer.
	ChainID string
	// ChainAlias is the other name of that chain: its code if ChainID is an EVM id, its EVM id if that is a code. The
	// payload may say either. Leave it empty where it is not known; then only ChainID will do.
	ChainAlias string
}

// Verifier decides whether an approval is what the caller wants. It returns nil, or the reason not to sign, which
// arrives as [ApprovalRefused].Err unless it is an *ApprovalRefused itself.
type Verifier func(ctx context.Context, a Approval, want Intent) error

// ApprovalRefused says that an approval was not signed, since it is not what the caller asked for. Nothing was
// authorized, and the operation can be prepared again.
type ApprovalRefused struct {
	// CallInfo is what the flow that asked for the signature knows of its call; empty where none did.
	moneyerrors.CallInfo
	// ApprovalID is the refused approval's.
	ApprovalID string
	// Field is the payload member in question, such as "amount" or "destination.contactId", or "payload" for a
	// payload that cannot be read as an approval at all.
	Field string
	// Want is what the caller's intent, or the approval's envelope, says; empty if there is nothing to compare.
	Want string
	// Got is what the payload says.
	Got string
	// Reason is one sentence safe to log.
	Reason string
	// Expired says that only the time is to blame: the window had closed before the signer was asked.
	Expired bool
	// Err is the reason that the caller's own [Verifier] gave, if it was that which refused.
	Err error
}

func (e *ApprovalRefused) Error() string {
	of := ""
	if e.Resource != "" {
		of = " of " + quote(e.Resource)
	}
	message := fmt.Sprintf("signing: approval %s%s refused: %s: %s", quote(e.ApprovalID), of, oneline.Of(e.Field),
		e.Reason)
	if e.Want != "" || e.Got != "" {
		message += fmt.Sprintf(" (got %s, want %s)", quote(e.Got), quote(e.Want))
	}
	if e.Err != nil {
		message += ": " + e.Err.Error()
	}
	return message
}

// Unwrap returns the reason of the caller's verifier, if there is one.
func (e *ApprovalRefused) Unwrap() error { return e.Err }

// quote keeps what a payload says from flooding or forging a line of a log.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
