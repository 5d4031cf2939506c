package signing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	moneyerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// Challenge is what the service returns when a login begins: bytes that the developer key must sign.
type Challenge struct {
	// ID identifies the challenge. It is sent with the signature.
	ID string
	// Payload has the bytes to sign, decoded from base64.
	Payload []byte
}

// ChallengeRefused is the error for a login challenge that was not signed, because a signature of its bytes could
// authorize a payment. The same key signs both, and the service chooses the bytes of a challenge.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#signingchallengerefused
type ChallengeRefused struct {
	// CallInfo describes the login that needed the signature. It is empty if you called this package yourself.
	moneyerrors.CallInfo
	// ChallengeID is the id of the refused challenge.
	ChallengeID string
	// Reason is one sentence that is safe to log.
	Reason string
	// Err is the error that your [ChallengeVerifier] returned, or nil.
	Err error
}

func (e *ChallengeRefused) Error() string {
	message := fmt.Sprintf("signing: login challenge %s refused: %s", quote(e.ChallengeID), e.Reason)
	if e.Err != nil {
		message += ": " + e.Err.Error()
	}
	return errorbase.Text(e, message)
}

// Unwrap returns Err.
func (e *ChallengeRefused) Unwrap() error { return e.Err }

// CheckChallenge returns [*ChallengeRefused] for bytes that must not be signed as a challenge:
//
//   - no bytes, or more than 16 KiB,
//   - the payload of an approval in seen, which may be nil,
//   - JSON with the members of an approval: a member approvalId, the members resourceId and amount, or a member
//     operation that names an operation of a payout or escrow. The JSON may be canonical or what lenient parsers
//     read: in any letter case, with comments, escapes or without quotes, in UTF-8, UTF-16 or UTF-32, in a string,
//     and in up to three layers of base64.
//
// For all other bytes it returns nil, because the service's description does not state what a challenge looks like. So
// CheckChallenge does not see an approval
//
//   - that is opaque, such as a digest, and is not in seen,
//   - in another format: XML, a form (approvalId=1), CSV, CBOR, Protocol Buffers, a list of values without their names,
//   - in another encoding: hexadecimal, base32, base85, percent or HTML escapes, UTF-7, EBCDIC, reversed text,
//   - that is compressed or encrypted, or that has more layers of base64 or escapes,
//   - whose members have other names, other letters that look the same, or letters between them.
//
// If you know what a challenge looks like, use [OnlyChallenges], which accepts nothing else.
func CheckChallenge(c Challenge, seen *SeenApprovals) error {
	refuse := func(reason string) error { return &ChallengeRefused{ChallengeID: c.ID, Reason: reason} }
	switch {
	case len(c.Payload) == 0:
		return refuse("it has no bytes to sign")
	case len(c.Payload) > maxPayload:
		return refuse(fmt.Sprintf("it has %d bytes, which is too long", len(c.Payload)))
	case seen.has(c.Payload):
		return refuse("its bytes are the payload of an approval")
	}
	if found := readAsApproval(c.Payload); found != "" {
		return refuse("its bytes look like an approval: " + found)
	}
	return nil
}

// ChallengeVerifier makes the final decision about a login challenge. verdict is the result of [CheckChallenge]: nil or
// [*ChallengeRefused]. The function returns nil to sign, even if the verdict is not nil, or the reason not to sign. The
// call then fails with [*ChallengeRefused], which has the reason in Err. A ChallengeVerifier can also return its own
// *ChallengeRefused.
type ChallengeVerifier func(ctx context.Context, c Challenge, verdict error) error

// ChallengeForm says what the payload of a challenge is: a JSON object in RFC 8785 canonical form with exactly these
// members. Each member is a string, and equals the given value unless that is empty.
type ChallengeForm map[string]string

// OnlyChallenges is the strict [ChallengeVerifier]: it accepts only what [CheckChallenge] accepts and what also has the
// form. The form of the sandbox host, for example, is
//
//	signing.ChallengeForm{
//		"challengeId": "", "email": "ops@example.com", "expiresAt": "", "nonce": "", "purpose": "login",
//	}
//
// A member whose value you know, such as your email, is worth most: no approval has it. An empty form accepts nothing.
func OnlyChallenges(form ChallengeForm) ChallengeVerifier {
	form = maps.Clone(form)
	return func(_ context.Context, c Challenge, verdict error) error {
		if verdict != nil {
			return verdict
		}
		if reason := form.differs(c.Payload); reason != "" {
			return &ChallengeRefused{ChallengeID: c.ID, Reason: reason}
		}
		return nil
	}
}

// differs returns why data does not have the form, or "".
func (f ChallengeForm) differs(data []byte) string {
	if len(f) == 0 {
		return "your ChallengeForm has no members, so no challenge has it"
	}
	if refused := checkCanonical(data); refused != nil {
		return "its form differs from your ChallengeForm: " + refused.Reason
	}
	m := members{value: data}
	m.decode(slices.Collect(maps.Keys(f))...)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if got := m.text(name); m.refused == nil && f[name] != "" && got != f[name] {
			m.refuse(name, "it has another value", nil)
		}
	}
	if m.refused != nil {
		return "its form differs from your ChallengeForm: " + quote(m.refused.Field) + ": " + m.refused.Reason
	}
	return ""
}

// ChallengeOption is an option of [SignChallenge].
type ChallengeOption func(*challengeOptions)

type challengeOptions struct{ verifier ChallengeVerifier }

// VerifyChallengeWith calls v after [CheckChallenge], and signs if v returns nil. If v is nil, CheckChallenge decides.
func VerifyChallengeWith(v ChallengeVerifier) ChallengeOption {
	return func(o *challengeOptions) { o.verifier = v }
}

// SignChallenge returns the signature of the challenge's payload by s, if [CheckChallenge] or the [ChallengeVerifier]
// of [VerifyChallengeWith] accepts it. seen has the approvals that this credential received, and may be nil. The
// signature has the form that [Signer] describes.
//
// Errors are [*ChallengeRefused] and [*NotSigned].
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
	if err := options.decide(ctx, c, CheckChallenge(c, seen)); err != nil {
		return nil, err
	}
	return sign(ctx, s, signed)
}

// decide returns the decision of the caller's verifier, or the verdict if there is none.
func (o challengeOptions) decide(ctx context.Context, c Challenge, verdict error) error {
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
		return over // and not what the verifier says about it
	}
	return &ChallengeRefused{ChallengeID: c.ID, Reason: "your ChallengeVerifier refused it", Err: err}
}
