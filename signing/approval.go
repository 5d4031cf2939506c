package signing

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	moneyerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/signing/internal/keyfile"
)

// Approval is what the service returns when a payment is prepared: bytes that the developer key must sign within a
// window. The window is 120 seconds for a payout or transfer, and 60 seconds for an escrow action.
type Approval struct {
	// ID identifies the approval. It is sent with the signature.
	ID string
	// Payload has the bytes to sign, decoded from base64.
	Payload []byte
	// ExpiresAt is the end of the window.
	ExpiresAt time.Time
}

// Intent is what the caller asked the service for. Every field is compared with the approval's payload. There is no
// value that means "anything": an empty field is refused, except in Destination.
type Intent struct {
	// Operation is the name of the operation, such as "payout.fund" or "escrow.release".
	Operation string
	// ResourceID is the id of the payout or escrow deal.
	ResourceID string
	// Account is the id of the client that pays, or "self" for the credential's own account.
	Account string
	// Amount is a positive amount in units of Currency. Amounts are compared by value: 25 equals 25.00.
	Amount decimal.Decimal
	// Currency is the asset that is debited, such as "USDC".
	Currency string
	// Destination is where the money goes.
	Destination Destination
}

// Destination is a saved contact or an address on a chain. Leave a field empty if the caller did not ask for it. The
// payload must leave it out too.
type Destination struct {
	// ContactID is the id of the contact that is paid.
	ContactID string
	// Address is the on-chain address that is paid. EVM addresses are compared without case.
	Address string
	// ChainID is a chain code such as "base", or an EVM chain id in decimal digits such as "8453". In the payload, an
	// EVM chain id may be a string or an integer.
	ChainID string
	// ChainAlias is the other name of the same chain: the code if ChainID is an EVM chain id, or the EVM chain id if
	// ChainID is a code. The payload may have either. If ChainAlias is empty, the payload must have ChainID.
	ChainAlias string
}

// Verifier decides whether an approval is what the caller wants. It returns nil to sign, or the reason not to sign. The
// call then fails with [*ApprovalRefused], which has the reason in Err. A Verifier can also return its own
// *ApprovalRefused.
type Verifier func(ctx context.Context, a Approval, want Intent) error

// ApprovalRefused is the error for an approval that is not what the caller asked for. It was not signed, so nothing was
// authorized.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#signingapprovalrefused
type ApprovalRefused struct {
	// CallInfo describes the call that needed the signature. It is empty if you called this package yourself.
	moneyerrors.CallInfo
	// ApprovalID is the id of the refused approval.
	ApprovalID string
	// Field is the member of the payload that was refused, such as "amount" or "destination.contactId". It is "payload"
	// if the payload is not a readable approval.
	Field string
	// Want is the value of the caller's intent, or of the approval's other fields. It is empty if nothing was compared.
	Want string
	// Got is the value of the payload.
	Got string
	// Reason is one sentence that is safe to log.
	Reason string
	// Expired says that only the time is the reason: the window closed before the signer was called.
	Expired bool
	// Err is the error that your [Verifier] returned, or nil.
	Err error
}

func (e *ApprovalRefused) Error() string {
	of := ""
	if e.Resource != "" {
		of = " of " + quote(e.Resource)
	}
	message := fmt.Sprintf("signing: approval %s%s refused: %s: %s", quote(e.ApprovalID), of, keyfile.OneLine(e.Field),
		e.Reason)
	if e.Want != "" || e.Got != "" {
		message += fmt.Sprintf(" (got %s, want %s)", quote(e.Got), quote(e.Want))
	}
	if e.Err != nil {
		message += ": " + e.Err.Error()
	}
	return errorbase.Text(e, message)
}

// Unwrap returns Err.
func (e *ApprovalRefused) Unwrap() error { return e.Err }

// quote quotes and shortens text of a payload, so that it cannot flood a log or forge a line of it.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
