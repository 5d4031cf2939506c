package signing

import (
	"context"
	"errors"
	"fmt"

	"github.com/moneymovement/moneymovement-go/internal/required"
	"github.com/moneymovement/moneymovement-go/signing/internal/oneline"
)

// Errors that carry nothing but their kind; compare with errors.Is.
var (
	// ErrNoKey is the cause of [*NotSigned] for a zero [DeveloperKey], and for [SignApproval] and [SignChallenge]
	// without a signer.
	ErrNoKey = errors.New("signing: there is no key")
	// ErrSignatureInvalid means that a signature does not verify.
	ErrSignatureInvalid = errors.New("signing: signature does not verify")
	// ErrSignatureMalleable means that an ECDSA signature verifies but has a high S, so that anybody could have
	// made it from another signature. It is also an [ErrSignatureInvalid].
	ErrSignatureMalleable = fmt.Errorf("%w: S is in the upper half of the curve's order", ErrSignatureInvalid)
	// ErrPassphraseRequired means that a key is encrypted and no passphrase was given, or that an empty
	// passphrase was given to encrypt with.
	ErrPassphraseRequired = errors.New("signing: a passphrase is required")
	// ErrPassphraseIncorrect means that what the passphrase decrypts is no key of a supported kind. As a rule the
	// passphrase is another one; a key of a kind that is not supported, such as secp256k1, gives the same error.
	ErrPassphraseIncorrect = errors.New("signing: the passphrase does not decrypt a key of a supported kind")
	// ErrNotEncrypted means that a key was to be decrypted and is not encrypted.
	ErrNotEncrypted = errors.New("signing: the key is not encrypted")
	// ErrNotExportable means that the private half is held elsewhere, so that it cannot be saved.
	ErrNotExportable = errors.New("signing: the private key is held by its signer and cannot be exported")
)

// NotSigned says that a signature was wanted and none was made: there is no key, the context ended, or the signer
// failed. What was to be signed was not refused.
type NotSigned struct {
	// Err is the cause: [ErrNoKey], [*RemoteSignatureRefused], the context's error, or the signer's own.
	Err error
}

func (e *NotSigned) Error() string {
	if e.Err == nil {
		return "signing: not signed"
	}
	return "signing: not signed: " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *NotSigned) Unwrap() error { return e.Err }

// notSigned gives a signer's error its type, unless it has that already.
func notSigned(err error) error {
	if _, typed := errors.AsType[*NotSigned](err); typed {
		return err
	}
	return &NotSigned{Err: err}
}

// ended returns why nothing should be signed under ctx any more.
func ended(ctx context.Context) error {
	if err := required.Context(ctx, "Sign"); err != nil {
		return &NotSigned{Err: err}
	}
	err, cause := ctx.Err(), context.Cause(ctx)
	switch {
	case err == nil:
		return nil
	case !errors.Is(cause, err):
		err = fmt.Errorf("%w: %w", err, cause)
	}
	return &NotSigned{Err: err}
}

// KeyRefused says why a key cannot be a developer key: another algorithm or curve, a short modulus, damaged or
// ambiguous data. It never holds private key material.
type KeyRefused struct {
	// Kind is what the key turned out to be, such as "ECDSA P-384" or "RSA 1024".
	Kind string
	// Reason is one sentence safe to log.
	Reason string
	// Err is the cause, if there is one.
	Err error
}

func (e *KeyRefused) Error() string {
	message := "signing: key refused"
	if e.Kind != "" {
		message += " (" + oneline.Of(e.Kind) + ")"
	}
	message += ": " + e.Reason
	if e.Err != nil {
		message += ": " + oneline.Of(e.Err.Error())
	}
	return message
}

// Unwrap returns the cause.
func (e *KeyRefused) Unwrap() error { return e.Err }

// RemoteSignatureRefused says that a signer answered something that is not a signature by its own public key:
// the wrong key version, another algorithm (RSA-PSS for PKCS #1 v1.5), or a damaged answer. Nothing was returned.
type RemoteSignatureRefused struct {
	// Algorithm is the one that was asked for.
	Algorithm Algorithm
	// Err says what is wrong with the answer.
	Err error
}

func (e *RemoteSignatureRefused) Error() string {
	return fmt.Sprintf("signing: the signer's answer is no %s signature by its public key: %v", e.Algorithm, e.Err)
}

// Unwrap returns what is wrong with the answer.
func (e *RemoteSignatureRefused) Unwrap() error { return e.Err }
