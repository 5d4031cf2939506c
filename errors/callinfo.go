package errors

import (
	"reflect"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/callfacts"
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

	facts callfacts.Facts
}

// WithFacts is internal to the SDK: no other module can name the type of its argument.
func (c CallInfo) WithFacts(facts callfacts.Facts) CallInfo {
	c.facts = facts
	return c
}

// CallInfoOf returns the [CallInfo] of the first error in err's tree that has one. It returns false if no error has
// one.
func CallInfoOf(err error) (CallInfo, bool) {
	var found interface {
		error
		callInfo() *CallInfo
	}
	if !As(err, &found) {
		return CallInfo{}, false
	}
	return *found.callInfo(), true
}

func (c *CallInfo) callInfo() *CallInfo { return c }

// CarriedOut reports whether the service carried out the request of err, also if the request moves no money. It is
// internal to the SDK: no other module can name the type of its last argument.
func CarriedOut(err error, _ callfacts.Asker) Movement {
	if _, unknown := AsType[*OutcomeUnknown](err); unknown {
		return MaybeMoved
	}
	if unexpected, ok := AsType[*UnexpectedResponse](err); ok {
		return unexpected.effect()
	}
	if refusal, ok := AsType[*Refusal](err); ok {
		return refusal.effect()
	}
	if failure, ok := AsType[Failure](err); ok {
		return failure.MovedByCall()
	}
	return MaybeMoved
}

// EarlierCalls returns what an error of a payment knows of the earlier calls with its key. It is internal to the SDK:
// no other module can name the type of its last argument.
func EarlierCalls(err error, _ callfacts.Asker) callfacts.Earlier {
	call, _ := CallInfoOf(err)
	return call.facts.Earlier
}

// SetEarlierCalls sets what an error of a payment knows of the earlier calls with its key. It is internal to the SDK:
// no other module can name the type of its last argument.
func SetEarlierCalls(err error, earlier callfacts.Earlier, _ callfacts.Asker) {
	var found interface {
		error
		callInfo() *CallInfo
	}
	if As(err, &found) {
		found.callInfo().facts.Earlier = earlier
	}
}

// SetResource sets the resource and the idempotency key in the [CallInfo] of err, for a flow of several calls. It is
// internal to the SDK: no other module can name the type of its last argument.
func SetResource(err error, resource, key string, _ callfacts.Asker) {
	var found interface {
		error
		setResource(resource, key string)
	}
	if As(err, &found) {
		found.setResource(resource, key)
	}
}

func (c *CallInfo) setResource(resource, key string) { c.Resource, c.IdempotencyKey = resource, key }

// Clone returns a copy of err that [SetResource] can change. All calls that waited for the same login share its error,
// so each of them needs its own copy. Clone is internal to the SDK: no other module can name the type of its last
// argument.
func Clone(err error, _ callfacts.Asker) error {
	shared, ok := err.(interface { //nolint:errorlint // the value itself is copied
		error
		setResource(resource, key string)
	})
	if !ok || reflect.TypeOf(shared).Kind() != reflect.Pointer || reflect.ValueOf(shared).IsNil() {
		return err
	}
	own := reflect.New(reflect.TypeOf(shared).Elem())
	own.Elem().Set(reflect.ValueOf(shared).Elem())
	copied, _ := own.Interface().(error)
	return copied
}
