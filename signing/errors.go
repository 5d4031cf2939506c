package signing

import (
	"context"
	"errors"
	"fmt"

	moneyerrors "github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/signing/internal/keyfile"
)

// Error values. Compare with them by errors.Is.
var (
	// ErrNoKey means that there is no key to sign with or to save: a zero [DeveloperKey], or a nil signer. [*NotSigned]
	// wraps it.
	ErrNoKey = errors.New("signing: there is no key: load or generate one")
	// ErrSignatureInvalid means that a signature does not verify.
	ErrSignatureInvalid = errors.New("signing: the signature does not verify")
	// ErrSignatureMalleable means that an ECDSA signature verifies but has a high S. Anybody can make it from the
	// signature with a low S, without the key. It wraps [ErrSignatureInvalid].
	ErrSignatureMalleable = fmt.Errorf("%w: S is in the upper half of the curve's order", ErrSignatureInvalid)
	// ErrPassphraseRequired means that the key is encrypted and there is no passphrase, or that the passphrase to
	// encrypt a key with is empty.
	ErrPassphraseRequired = errors.New("signing: a passphrase is required")
	// ErrPassphraseIncorrect means that the passphrase is wrong, or that the decrypted key is of a kind that is not
	// supported, such as secp256k1. The two cases look the same.
	ErrPassphraseIncorrect = errors.New(
		"signing: the passphrase is wrong, or the key in the file is of a kind that is not supported")
	// ErrNotEncrypted means that the key is not encrypted. Use [LoadDeveloperKey] or [ParseDeveloperKey].
	ErrNotEncrypted = errors.New("signing: the key is not encrypted: load it without a passphrase")
	// ErrNotExportable means that the key cannot be saved, because its private half is in a key-management service or
	// another signer.
	ErrNotExportable = errors.New("signing: the private key is inside its signer and cannot be saved")
)

// NotSigned is the error for a signature that failed: there is no key, the context ended, or the signer failed. The
// approval or the challenge itself was accepted.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#signingnotsigned
type NotSigned struct {
	// Err is the cause: [ErrNoKey], [*RemoteSignatureRefused], the context's error, or the signer's error.
	Err error
}

func (e *NotSigned) Error() string {
	if e.Err == nil {
		return errorbase.Text(e, "signing: not signed")
	}
	return errorbase.Text(e, "signing: not signed: "+e.Err.Error())
}

// Unwrap returns Err.
func (e *NotSigned) Unwrap() error { return e.Err }

// notSigned wraps a signer's error in [*NotSigned], unless it is one already.
func notSigned(err error) error {
	if _, typed := errors.AsType[*NotSigned](err); typed {
		return err
	}
	return &NotSigned{Err: err}
}

// ended returns the error of a context that has ended, or nil.
func ended(ctx context.Context) error {
	if err := outcome.RequireContext(ctx, "Sign"); err != nil {
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

// KeyRefused is the error for a key that cannot be a developer key: another algorithm or curve, an RSA modulus that is
// too short, or damaged or ambiguous data. It contains nothing of the private key.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#signingkeyrefused
type KeyRefused struct {
	// Kind is the kind of the key, such as "ECDSA P-384" or "RSA 1024". It is empty if it is not known.
	Kind string
	// Reason is one sentence that is safe to log.
	Reason string
	// Err is the cause, or nil.
	Err error
}

func (e *KeyRefused) Error() string {
	message := "signing: key refused"
	if e.Kind != "" {
		message += " (" + keyfile.OneLine(e.Kind) + ")"
	}
	message += ": " + e.Reason
	if e.Err != nil {
		message += ": " + keyfile.OneLine(e.Err.Error())
	}
	return errorbase.Text(e, message)
}

// Unwrap returns Err.
func (e *KeyRefused) Unwrap() error { return e.Err }

// RemoteSignatureRefused is the error for a signer that returned something other than a valid signature for its public
// key. Usual causes are another version of the key, another algorithm such as RSA-PSS in place of PKCS #1 v1.5, or
// damaged bytes. The signature was not used. [*NotSigned] wraps this error.
//
// See https://github.com/moneymovement/moneymovement-go/blob/main/docs/errors.md#signingremotesignaturerefused
type RemoteSignatureRefused struct {
	// Algorithm is the algorithm that the key needs.
	Algorithm Algorithm
	// Err says what is wrong with the signature.
	Err error
}

func (e *RemoteSignatureRefused) Error() string {
	return errorbase.Textf(e,
		"signing: the signer did not return a valid %s signature for its public key: %v", e.Algorithm,
		e.Err)
}

// Unwrap returns Err.
func (e *RemoteSignatureRefused) Unwrap() error { return e.Err }

// The errors of a call implement errors.Failure. Nothing was signed, so the call moved no money.
var (
	_ moneyerrors.Failure = (*ApprovalRefused)(nil)
	_ moneyerrors.Failure = (*ChallengeRefused)(nil)
	_ moneyerrors.Failure = (*NotSigned)(nil)
	_ moneyerrors.Failure = (*RemoteSignatureRefused)(nil)
)

// Retryable returns true if only the time is the reason, see Expired. Then prepare the operation again.
func (e *ApprovalRefused) Retryable() bool { return e.Expired }

// MovedByCall returns errors.NotMoved: nothing was signed.
func (e *ApprovalRefused) MovedByCall() moneyerrors.Movement { return moneyerrors.NotMoved }

// Retryable returns false: something asked for a signature that can move money.
func (e *ChallengeRefused) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: nothing was signed.
func (e *ChallengeRefused) MovedByCall() moneyerrors.Movement { return moneyerrors.NotMoved }

// Retryable returns true: the signer can be available again, or the next context can last longer.
func (e *NotSigned) Retryable() bool { return true }

// MovedByCall returns errors.NotMoved: nothing was signed.
func (e *NotSigned) MovedByCall() moneyerrors.Movement { return moneyerrors.NotMoved }

// Retryable returns false: the signer would return the same again.
func (e *RemoteSignatureRefused) Retryable() bool { return false }

// MovedByCall returns errors.NotMoved: the signature was not used.
func (e *RemoteSignatureRefused) MovedByCall() moneyerrors.Movement { return moneyerrors.NotMoved }
