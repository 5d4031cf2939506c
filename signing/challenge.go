package signing

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	moneyerrors "github.com/moneymovement/moneymovement-go/errors"
)

// Challenge is what the service sends when a login begins: bytes that the developer key is to sign.
// Source: Authentication, Platform API.
type Challenge struct {
	// ID identifies the challenge when the login is completed.
	ID string
	// Payload is the decoded payload: the very bytes to sign.
	Payload []byte
}

// ChallengeRefused says that a login challenge was not signed, since a signature over its bytes could authorize
// something other than a login. The same key signs both, and the other end chooses the bytes of a challenge.
type ChallengeRefused struct {
	// CallInfo is what the flow that asked for the signature knows of its call; empty where none did.
	moneyerrors.CallInfo
	// ChallengeID is the refused challenge's.
	ChallengeID string
	// Reason is one sentence safe to log.
	Reason string
	// Err is the reason that the caller's own [ChallengeVerifier] gave, if it was that which refused.
	Err error
}

func (e *ChallengeRefused) Error() string {
	message := fmt.Sprintf("signing: login challenge %s refused: %s", quote(e.ChallengeID), e.Reason)
	if e.Err != nil {
		message += ": " + e.Err.Error()
	}
	return message
}

// Unwrap returns the reason of the caller's verifier, if there is one.
func (e *ChallengeRefused) Unwrap() error { return e.Err }

// CheckChallenge returns nil, or [*ChallengeRefused] for bytes that are not a challenge: empty ones, those of an
// approval in seen, which may be nil, and those that read as an approval in any form. That is: a member approvalId,
// the members resourceId and amount, or a member operation with a payout's or an escrow's operation, in any spelling
// and encoding that a careless reader might understand, and wherever in the payload they stand.
//
// Other bytes pass, whatever they are, since the form of a challenge is not stated. An opaque approval that is not
// in seen therefore passes too: it cannot be told from an opaque challenge.
func CheckChallenge(c Challenge, seen *SeenApprovals) error {
	refuse := func(reason string) error { return &ChallengeRefused{ChallengeID: c.ID, Reason: reason} }
	switch {
	case len(c.Payload) == 0:
		return refuse("it has no bytes to sign")
	case len(c.Payload) > maxPayload:
		return refuse(fmt.Sprintf("%d bytes are too many", len(c.Payload)))
	case seen.has(c.Payload):
		return refuse("its bytes are those of an approval")
	}
	if found := readAsApproval(c.Payload); found != "" {
		return refuse("its bytes read as an approval: " + found)
	}
	return nil
}

// ChallengeVerifier has the last word on a login challenge. verdict is what [CheckChallenge] says: nil, or
// [*ChallengeRefused]. It returns nil to sign, also against the verdict, or the reason not to, which arrives as
// [ChallengeRefused].Err unless it is a *ChallengeRefused itself.
type ChallengeVerifier func(ctx context.Context, c Challenge, verdict error) error

// ChallengeOption changes how [SignChallenge] works.
type ChallengeOption func(*challengeOptions)

type challengeOptions struct{ verifier ChallengeVerifier }

// VerifyChallengeWith asks v after [CheckChallenge], and signs if v returns nil. A nil ChallengeVerifier leaves the
// decision to CheckChallenge.
func VerifyChallengeWith(v ChallengeVerifier) ChallengeOption {
	return func(o *challengeOptions) { o.verifier = v }
}

// SignChallenge signs the challenge's payload with s, if [CheckChallenge] or the caller's [ChallengeVerifier] takes
// it for one. seen holds the approvals that this credential met, and may be nil.
//
// Errors are [*ChallengeRefused] or [*NotSigned].
func SignChallenge(
	ctx context.Context, s Signer, c Challenge, seen *SeenApprovals, opts ...ChallengeOption,
) ([]byte, error) {
	if isNil(s) {
		return nil, &NotSigned{Err: ErrNoKey}
	}
	if err := ended(ctx); err != nil {
		return nil, err
	}
	var options challengeOptions
	for _, option := range opts {
		option(&options)
	}

	signed := bytes.Clone(c.Payload)
	c.Payload = bytes.Clone(signed)
	if err := options.judge(ctx, c, CheckChallenge(c, seen)); err != nil {
		return nil, err
	}
	return sign(ctx, s, signed)
}

// judge hands the verdict to the caller's verifier, if there is one.
func (o challengeOptions) judge(ctx context.Context, c Challenge, verdict error) error {
	if o.verifier == nil {
		return verdict
	}
	err := o.verifier(ctx, c, verdict)
	if err == nil {
		return nil
	}
	if _, typed := errors.AsType[*ChallengeRefused](err); typed {
		return err
	}
	if over := ended(ctx); over != nil {
		return over // rather than the verifier's word for it
	}
	return &ChallengeRefused{ChallengeID: c.ID, Reason: "the caller's verifier refused it", Err: err}
}
