package signing

import moneyerrors "github.com/moneymovement/moneymovement-go/errors"

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
