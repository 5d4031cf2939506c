package signing

import moneyerrors "github.com/moneymovement/moneymovement-go/errors"

// The refusals of this package answer the questions of errors.Failure: nothing was signed, so that nothing moved by
// this call.
var (
	_ moneyerrors.Failure = (*ApprovalRefused)(nil)
	_ moneyerrors.Failure = (*ChallengeRefused)(nil)
	_ moneyerrors.Failure = (*NotSigned)(nil)
	_ moneyerrors.Failure = (*RemoteSignatureRefused)(nil)
)

// Retryable reports whether preparing the operation again can help, which is so when only the time is to blame.
func (e *ApprovalRefused) Retryable() bool { return e.Expired }

// MovedByCall is not_moved: nothing was signed.
func (e *ApprovalRefused) MovedByCall() moneyerrors.Movement { return moneyerrors.NotMoved }

// Retryable is false: the service, or who stands in its place, asks for a signature that moves money.
func (e *ChallengeRefused) Retryable() bool { return false }

// MovedByCall is not_moved: nothing was signed.
func (e *ChallengeRefused) MovedByCall() moneyerrors.Movement { return moneyerrors.NotMoved }

// Retryable is true: the signer may be back, or have more time.
func (e *NotSigned) Retryable() bool { return true }

// MovedByCall is not_moved: nothing was signed.
func (e *NotSigned) MovedByCall() moneyerrors.Movement { return moneyerrors.NotMoved }

// Retryable is false: the signer would return the same again.
func (e *RemoteSignatureRefused) Retryable() bool { return false }

// MovedByCall is not_moved: the signature was not used.
func (e *RemoteSignatureRefused) MovedByCall() moneyerrors.Movement { return moneyerrors.NotMoved }
