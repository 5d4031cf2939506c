package signing

import (
	"bytes"
	"context"
	"errors"
	"time"
)

// ApprovalOption changes how [SignApproval] and [PrepareApproval] work.
type ApprovalOption func(*approvalOptions)

type approvalOptions struct {
	verifier     Verifier
	allowExpired bool
}

// VerifyWith replaces the comparison of [CheckApproval] as the judge of an approval's payload, for example if the
// service sends opaque payloads. What v returns nil for is signed, so v must decode and compare everything that it
// means to authorize. The approval's id and window are checked in any case. A nil Verifier leaves CheckApproval in
// place.
//
// An opaque approval cannot be told from an opaque login challenge: whoever sets a Verifier should also judge
// challenges, with [VerifyChallengeWith].
func VerifyWith(v Verifier) ApprovalOption {
	return func(o *approvalOptions) { o.verifier = v }
}

// AllowExpired signs an approval also after its window has closed by the caller's clock, for a service that gives the
// same one again: only its own answer says then whether the approval is over. Nothing else is let through.
func AllowExpired() ApprovalOption {
	return func(o *approvalOptions) { o.allowExpired = true }
}

// SignApproval signs the approval's payload with s, if it is what the caller wants; now is the service's time as
// far as the caller knows it. The signer is called only after the check passed. The signature is as [Signer] says,
// ready to be sent in base64.
//
// Errors are [*ApprovalRefused], also with the reason of a [Verifier] set by [VerifyWith], or [*NotSigned].
func SignApproval(
	ctx context.Context, s Signer, a Approval, want Intent, now time.Time, opts ...ApprovalOption,
) ([]byte, error) {
	checked, err := PrepareApproval(ctx, s, a, want, now, opts...)
	if err != nil {
		return nil, err
	}
	return checked.Sign(ctx)
}

// PrepareApproval is the first half of [SignApproval], the check, for a caller that has something to wait for before
// it signs. The signer is not called yet.
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

	// What will be signed is a copy that nobody else can reach: the bytes that were checked.
	signed := bytes.Clone(a.Payload)
	a.Payload = bytes.Clone(signed)
	if refused := envelopeRefused(a, want.Operation, now, options); refused != nil {
		return nil, refusal(a, refused)
	}
	if err := options.judge(ctx, a, want); err != nil {
		return nil, err
	}
	return &CheckedApproval{sign: func(ctx context.Context) ([]byte, error) { return sign(ctx, s, signed) }}, nil
}

// judge asks the caller's verifier, or compares.
func (o approvalOptions) judge(ctx context.Context, a Approval, want Intent) error {
	if o.verifier == nil {
		return refusal(a, termsRefused(a, want))
	}
	err := o.verifier(ctx, a, want)
	if err == nil {
		return nil
	}
	if _, typed := errors.AsType[*ApprovalRefused](err); typed {
		return err
	}
	if over := ended(ctx); over != nil {
		return over // rather than the verifier's word for it
	}
	return refusal(a, &ApprovalRefused{Field: "payload", Reason: "the caller's verifier refused it", Err: err})
}

// CheckedApproval is an approval that is what the caller wants, and is not signed yet. [PrepareApproval] makes it.
type CheckedApproval struct {
	// A function, so that packages that print structs by reflection reach no signer.
	sign func(ctx context.Context) ([]byte, error)
}

// Sign is the second half of [SignApproval]. Nothing is checked again, also not the time. Errors are [*NotSigned].
func (c *CheckedApproval) Sign(ctx context.Context) ([]byte, error) {
	if c == nil || c.sign == nil {
		return nil, &NotSigned{Err: errors.New("no approval was checked")}
	}
	return c.sign(ctx)
}

// sign calls a signer of the caller's and gives its errors a type.
func sign(ctx context.Context, s Signer, message []byte) ([]byte, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	signature, err := s.Sign(ctx, bytes.Clone(message))
	switch {
	case err != nil:
		return nil, notSigned(err)
	case len(signature) == 0:
		return nil, &NotSigned{Err: errors.New("the signer answered nothing")}
	}
	return signature, nil
}
