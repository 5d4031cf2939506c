package errors

import (
	"reflect"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// CallInfo describes the call that an error comes from. Every error of a call embeds it, including the errors of the
// flows, such as dapi.PriceRefused. [CallInfoOf] finds it in any error. Each field is empty or zero when it is not
// known.
type CallInfo struct {
	// Operation is the OpenAPI operationId, for example "BookPayout".
	Operation string
	// IdempotencyKey is the idempotency key that the write was sent with. It is empty for a read.
	IdempotencyKey string
	// RequestID is the X-Request-ID header of the response, or else the requestId in the refusal's details. Give it to
	// the service's support. It is empty if there was no response.
	RequestID string
	// Attempts is how many times the request was sent.
	Attempts int
	// RetryAt is the earliest time at which it is worth trying again. It is zero when no time is known.
	RetryAt time.Time
	// Resource is the id that the call was about: the id in the path, or the contact's id for a booking.
	Resource string
	// Account is the id of the client that the call acted for. It is empty for the credential's own account.
	Account string

	facts errorbase.Facts
}

func init() { //nolint:gochecknoinits // the SDK's other packages call these, and programs cannot
	errorbase.SetFacts = func(of any, facts errorbase.Facts) {
		if of, ok := of.(interface{ callInfo() *CallInfo }); ok {
			of.callInfo().facts = facts
		}
	}
	errorbase.WithoutEffect = withoutEffect
	errorbase.SetResource = func(err error, resource, key string) {
		var found withCallInfo
		if As(err, &found) {
			call := found.callInfo()
			call.Resource, call.IdempotencyKey = resource, key
		}
	}
	errorbase.Clone = clone
}

// withCallInfo is an error that embeds a CallInfo.
type withCallInfo interface {
	error
	callInfo() *CallInfo
}

// CallInfoOf returns the [CallInfo] of the first error in err's tree that has one. It returns false if no error has
// one.
func CallInfoOf(err error) (CallInfo, bool) {
	var found withCallInfo
	if !As(err, &found) {
		return CallInfo{}, false
	}
	return *found.callInfo(), true
}

func (c *CallInfo) callInfo() *CallInfo { return c }

// withoutEffect is [errorbase.WithoutEffect].
func withoutEffect(err error) bool {
	if _, unknown := AsType[*InDoubt](err); unknown {
		return false
	}
	if unexpected, ok := AsType[*UnexpectedResponse](err); ok {
		return unexpected.effect() == NotMoved
	}
	if refusal, ok := AsType[*Refusal](err); ok {
		return refusal.effect() == NotMoved
	}
	failure, ok := AsType[Failure](err)
	return ok && failure.MovedByCall() == NotMoved
}

// clone is [errorbase.Clone].
func clone(err error) error {
	shared, ok := err.(withCallInfo) //nolint:errorlint // the value itself is copied
	if !ok || reflect.TypeOf(shared).Kind() != reflect.Pointer || reflect.ValueOf(shared).IsNil() {
		return err
	}
	own := reflect.New(reflect.TypeOf(shared).Elem())
	own.Elem().Set(reflect.ValueOf(shared).Elem())
	copied, _ := own.Interface().(error)
	return copied
}
