package signing

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
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
	// ResourceID is the id of the payout or escrow.
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

// ApprovalOption is an option of [SignApproval] and [PrepareApproval].
type ApprovalOption func(*approvalOptions)

type approvalOptions struct {
	verifier     Verifier
	allowExpired bool
}

// VerifyWith replaces the comparison of [CheckApproval] by v, for example if your service sends opaque payloads. If v
// returns nil, the payload is signed. So v must decode the payload and compare everything in it. The approval's id and
// window are always checked. If v is nil, CheckApproval decides.
//
// Nobody can tell an opaque approval from an opaque login challenge. If you set a Verifier, also set a
// [ChallengeVerifier] with [VerifyChallengeWith].
func VerifyWith(v Verifier) ApprovalOption {
	return func(o *approvalOptions) { o.verifier = v }
}

// AllowExpired also signs an approval whose window has closed by the caller's clock. Use it if the service returns the
// same approval again: the service then decides whether it has expired. All other checks remain.
func AllowExpired() ApprovalOption {
	return func(o *approvalOptions) { o.allowExpired = true }
}

// SignApproval returns the signature of the approval's payload by s, if the approval is what the caller wants. now is
// the current time of the service, as well as you know it. SignApproval calls the signer only after all checks have
// passed. The signature has the form that [Signer] describes; encode it in base64 to send it.
//
// Errors are [*ApprovalRefused] and [*NotSigned].
func SignApproval(
	ctx context.Context, s Signer, a Approval, want Intent, now time.Time, opts ...ApprovalOption,
) ([]byte, error) {
	checked, err := PrepareApproval(ctx, s, a, want, now, opts...)
	if err != nil {
		return nil, err
	}
	return checked.Sign(ctx)
}

// PrepareApproval makes the checks of [SignApproval] and does not call the signer. Use it if you must wait between the
// checks and the signature. Then call [CheckedApproval.Sign].
//
// Errors are [*ApprovalRefused] and [*NotSigned].
func PrepareApproval(
	ctx context.Context, s Signer, a Approval, want Intent, now time.Time, opts ...ApprovalOption,
) (*CheckedApproval, error) {
	if isNil(s) {
		return nil, &NotSigned{Err: ErrNoKey}
	}
	if err := ended(ctx); err != nil {
		return nil, err
	}
	var options approvalOptions
	for _, option := range opts {
		option(&options)
	}

	// A copy that nobody else can change: the bytes that are signed are those that were checked.
	a.Payload = bytes.Clone(a.Payload)
	if refused := checkWindow(a, want.Operation, now, options); refused != nil {
		return nil, refusal(a, refused)
	}
	if err := options.decide(ctx, a, want); err != nil {
		return nil, err
	}
	return &CheckedApproval{sign: func(ctx context.Context) ([]byte, error) { return sign(ctx, s, a.Payload) }}, nil
}

// decide asks the caller's verifier, or compares.
func (o approvalOptions) decide(ctx context.Context, a Approval, want Intent) error {
	if o.verifier == nil {
		return refusal(a, checkTerms(a, want))
	}
	a.Payload = bytes.Clone(a.Payload) // the verifier may change it
	err := o.verifier(ctx, a, want)
	if err == nil {
		return nil
	}
	if _, typed := errors.AsType[*ApprovalRefused](err); typed {
		return err
	}
	if over := ended(ctx); over != nil {
		return over // and not what the verifier says about it
	}
	return refusal(a, &ApprovalRefused{Field: "payload", Reason: "your Verifier refused it", Err: err})
}

// CheckedApproval is an approval that has passed the checks of [PrepareApproval] and is not signed yet.
type CheckedApproval struct {
	// A function, because packages that print structs by reflection cannot reach a signer in it.
	sign func(ctx context.Context) ([]byte, error)
}

// Sign returns the signature. It repeats no check, not even that of the time. Every error is a [*NotSigned].
func (c *CheckedApproval) Sign(ctx context.Context) ([]byte, error) {
	if c == nil || c.sign == nil {
		return nil, &NotSigned{Err: errors.New("the CheckedApproval is empty: make it with PrepareApproval")}
	}
	return c.sign(ctx)
}

// sign calls the caller's signer and wraps its errors.
func sign(ctx context.Context, s Signer, message []byte) ([]byte, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	signature, err := s.Sign(ctx, bytes.Clone(message))
	switch {
	case err != nil:
		return nil, notSigned(err)
	case len(signature) == 0:
		return nil, &NotSigned{Err: errors.New("the signer returned an empty signature")}
	}
	return signature, nil
}

// mostSeen limits the memory of [SeenApprovals] to about a megabyte. An approval is valid for two minutes at most.
const mostSeen = 10_000

// SeenApprovals is a set of approval payloads, which [SignChallenge] refuses to sign as a login challenge. Use one set
// for each developer key. The zero value is an empty set. It keeps the digests of the last 10,000 payloads.
type SeenApprovals struct {
	mu      sync.Mutex
	digests map[[sha256.Size]byte]struct{}
	order   [][sha256.Size]byte // becomes a ring when it is full
	oldest  int
}

// Add adds the payload of an approval.
func (s *SeenApprovals) Add(payload []byte) {
	digest := sha256.Sum256(payload)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.digests[digest]; known {
		return
	}
	if s.digests == nil {
		s.digests = make(map[[sha256.Size]byte]struct{})
	}
	s.digests[digest] = struct{}{}
	if len(s.order) < mostSeen {
		s.order = append(s.order, digest)
		return
	}
	delete(s.digests, s.order[s.oldest])
	s.order[s.oldest] = digest
	s.oldest = (s.oldest + 1) % mostSeen
}

func (s *SeenApprovals) has(payload []byte) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, known := s.digests[sha256.Sum256(payload)]
	return known
}
