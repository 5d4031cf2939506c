// Package outcome says what a call comes to that pays nothing. Before it is sent, several packages refuse the same
// things with the same words. After it, the flows of dapi and the processor of payments read from here what to do, so
// that a refusal means the same to both.
package outcome

import (
	"context"
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Next is what to do with a payment after a call that paid nothing.
type Next int

// The values of [Next].
const (
	Wait   Next = iota // make the same call later: nothing is wrong with the payment
	Pause              // make no calls for a while: the service refuses the credential, or all calls
	Decide             // somebody must act or decide: the same call is refused again
	Change             // the service or the SDK refuses the payment as it is
	NewKey             // the key cannot pay any more, and an earlier call with it may have paid
)

// After returns what to do after an error. Only its outermost type counts: a caller's function, a signer or a verifier
// can return an error of another payment.
func After(err error) Next {
	failure, typed := errors.AsType[errors.Failure](err)
	if !typed {
		return Wait
	}
	if advice, advises := failure.(interface{ Remedy() errors.Remedy }); advises {
		return afterRefusal(failure, advice.Remedy())
	}
	page, received := failure.(*errors.UnexpectedResponse)
	unsent, notSent := failure.(*errors.NotDelivered)
	switch {
	case received && page.Status == http.StatusTooManyRequests, // of a proxy
		notSent && After(unsent.Err) == Pause: // of a login
		return Pause
	case notSent, failure.Retryable(), failure.MovedByCall() != errors.NotMoved:
		return Wait
	}
	return Decide
}

// afterRefusal is [After] for an error that has a remedy.
func afterRefusal(failure errors.Failure, remedy errors.Remedy) Next {
	refusal, refused := errors.AsType[*errors.Refusal](failure)
	lacks, forbidden := failure.(*errors.Forbidden)
	switch {
	case remedy == errors.RemedyNewKey:
		return NewKey
	case forbidden && lacks.RequiredScope != "": // other calls may be in the scopes of the credential
		return Wait
	case refused && refusesAll(refusal):
		return Pause
	case failure.MovedByCall() != errors.NotMoved: // only the flow knows that this call paid nothing
		return Wait
	case refused && ofDeployment(refusal.Code), remedy == errors.RemedyChangeAccount:
		return Decide
	case remedy == errors.RemedyChangeRequest:
		return Change
	}
	return Wait
}

// refusesAll reports a refusal that other calls meet as well. A payment can do nothing about it.
func refusesAll(refusal *errors.Refusal) bool {
	return OfCredential(refusal.Code) || refusal.Code == errors.CodeDatabaseUnavailable ||
		refusal.Status == http.StatusTooManyRequests
}

// OfCredential reports a refusal that every call with the credential meets.
func OfCredential(code errors.Code) bool {
	switch code {
	case errors.CodeUnauthenticated, errors.CodeTokenExpired, errors.CodeForbidden, errors.CodeInvalidCredentials,
		errors.CodeKeyNotRegistered, errors.CodeLoginUnavailable, errors.CodeLoginModeUnavailable,
		errors.CodeSignatureInvalid:
		return true
	}
	return false
}

// ofDeployment reports a refusal that can come from a wrong address or a newer service just as well as from wrong
// terms. It must not end each payment for good: a person looks first.
func ofDeployment(code errors.Code) bool {
	switch code {
	case errors.CodeNotFound, errors.CodeGone, errors.CodeMethodNotAllowed:
		return true
	}
	return !code.Known()
}

// The checks are those of the flows of package dapi, which sets them. Package payments refuses with them what a flow
// would refuse, before it stores a payment. They return *errors.InvalidInput. payouts and escrows are the services that
// will pay, nil if they are not known. payout is a dapi.PayoutCreate with its dapi.Bounds, and escrow a
// dapi.EscrowCreate.
var (
	CheckPayout func(payouts, payout, bounds any, key string) error
	CheckEscrow func(escrows, escrow any, key string) error
	CheckAction func(escrow any, id, action, key string) error
)

// RequireContext returns *errors.InvalidInput for a nil context.
func RequireContext(ctx context.Context, operation string) error {
	if ctx != nil {
		return nil
	}
	return &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: operation}, Fields: []errors.Field{NoContext()}}
}

// NoContext is the problem of a nil context.
func NoContext() errors.Field {
	return errors.Field{Field: "context", Code: "required",
		Message: "is nil: pass context.Background() if there is no other"}
}

// NoClient is the problem of a client that no constructor made. makers names the constructors.
func NoClient(makers string) errors.Field {
	return errors.Field{Field: "client", Code: "not_made", Message: "was not made by " + makers}
}
