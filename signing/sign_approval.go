package signing

import (
	"bytes"
	"context"
	"errors"
	"time"
)

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
