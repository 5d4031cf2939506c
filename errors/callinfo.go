package errors

import (
	"reflect"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/callfacts"
)

// CallInfo is what an error knows of the call that it comes from. Every error of a call embeds it, also those of the
// surfaces' flows, such as dapi.PriceRefused; [CallInfoOf] finds it in any of them.
type CallInfo struct {
	// Operation is the OpenAPI operationId, for example "BookPayout".
	Operation string
	// IdempotencyKey is the key the write was sent with, empty for a read.
	IdempotencyKey string
	// RequestID is the service's X-Request-ID, or else the requestId of a refusal's details; empty without an answer.
	RequestID string
	// Attempts is how many times the request was sent.
	Attempts int
	// RetryAt is the time before which trying again makes no sense, zero when nothing is known.
	RetryAt time.Time
	// Resource is the id that the call was about: the one in its path, or for a booking the contact's.
	Resource string
	// Account is the client that the call acted for, empty for the credential's own account.
	Account string

	facts callfacts.Facts
}

// WithFacts is for the SDK itself: its argument cannot be named outside of this module.
func (h CallInfo) WithFacts(facts callfacts.Facts) CallInfo {
	h.facts = facts
	return h
}

// CallInfoOf finds the head of the first error in err's tree that has one.
func CallInfoOf(err error) (CallInfo, bool) {
	var headed interface {
		error
		head() CallInfo
	}
	if !As(err, &headed) {
		return CallInfo{}, false
	}
	return headed.head(), true
}

func (h CallInfo) head() CallInfo { return h }

// CarriedOut says whether the request of err was carried out, also where it could move no money. It is for the SDK
// itself: its argument cannot be named outside of this module.
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

// SetResource says in the head of err which resource a flow of several calls was about, and under which key. It is for the SDK
// itself: its last argument cannot be named outside of this module.
func SetResource(err error, resource, key string, _ callfacts.Asker) {
	var headed interface {
		error
		setResource(resource, key string)
	}
	if As(err, &headed) {
		headed.setResource(resource, key)
	}
}

func (h *CallInfo) setResource(resource, key string) { h.Resource, h.IdempotencyKey = resource, key }

// Clone returns a copy of err that [SetResource] may write into: the error of one login is shared by all calls that waited for it.
// It is for the SDK itself: its last argument cannot be named outside of this module.
func Clone(err error, _ callfacts.Asker) error {
	shared, headed := err.(interface { //nolint:errorlint // the value itself is copied
		error
		setResource(resource, key string)
	})
	if !headed || reflect.TypeOf(shared).Kind() != reflect.Pointer || reflect.ValueOf(shared).IsNil() {
		return err
	}
	own := reflect.New(reflect.TypeOf(shared).Elem())
	own.Elem().Set(reflect.ValueOf(shared).Elem())
	copied, _ := own.Interface().(error)
	return copied
}
