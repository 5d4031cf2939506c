package signing

import (
	"context"

	"github.com/moneymovement/moneymovement-go/errors"
)

// NotSigned says that nothing was signed: the context had ended, or the key's holder could not sign.
type NotSigned struct {
	// Err is what went wrong.
	Err error
}

func (e *NotSigned) Error() string {
	if e.Err == nil {
		return "signing: not signed"
	}
	return "signing: not signed: " + e.Err.Error()
}

// Unwrap returns what went wrong, so that errors.Is finds a context's error.
func (e *NotSigned) Unwrap() error { return e.Err }

// Retryable is true: signing may be tried again.
func (e *NotSigned) Retryable() bool { return true }

// MovedByCall is errors.NotMoved: without a signature nothing is confirmed.
func (e *NotSigned) MovedByCall() errors.Movement { return errors.NotMoved }

// Retryable is false: the signer would answer the same again.
func (e *RemoteSignatureRefused) Retryable() bool { return false }

// MovedByCall is errors.NotMoved: without a signature nothing is confirmed.
func (e *RemoteSignatureRefused) MovedByCall() errors.Movement { return errors.NotMoved }

// Retryable is false: the same approval is refused again. The operation can be prepared anew.
func (e *ApprovalRefused) Retryable() bool { return false }

// MovedByCall is errors.NotMoved: nothing was signed.
func (e *ApprovalRefused) MovedByCall() errors.Movement { return errors.NotMoved }

// Unwrap returns what the caller's [Verifier] answered, if it is what refused.
func (e *ApprovalRefused) Unwrap() error { return e.Err }

var (
	_ errors.Failure = (*NotSigned)(nil)
	_ errors.Failure = (*RemoteSignatureRefused)(nil)
	_ errors.Failure = (*ApprovalRefused)(nil)
)

var errNilContext = errors.New("the context is nil")

// Ended returns [*NotSigned] if nothing should be signed under ctx any more. It serves signers of other packages.
func Ended(ctx context.Context) error {
	if ctx == nil {
		return &NotSigned{Err: errNilContext}
	}
	err := ctx.Err()
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); !errors.Is(cause, err) {
		err = errors.Join(err, cause)
	}
	return &NotSigned{Err: err}
}

// refusedBy makes an error of the caller's verifier a refusal of the approval, unless it is one already.
func refusedBy(err error, a Approval) error {
	if _, typed := errors.AsType[errors.Failure](err); typed || err == nil {
		return err
	}
	return &ApprovalRefused{ApprovalID: a.ID, Field: "payload", Reason: "the verifier refused it", Err: err}
}
