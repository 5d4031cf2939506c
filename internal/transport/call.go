package transport

import (
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Call holds the settings of one call.
type Call struct {
	Key    string       // idempotency key; "" sends none
	KeySet bool         // the caller named a key, even an empty one
	Keep   func(Answer) // takes what came back, nil for nobody

	// Counted is a further window that counts the call, by something in its body. None is the default.
	Counted struct {
		Window Window
		Scope  string
	}

	Class    RateClass     // in the rate windows; "" for what the operation is
	Closes   time.Time     // when the approval's window closes that a confirm is for, by the service's clock
	Reserved bool          // [Client.Reserve] has waited for the first attempt's place in the rate windows
	Queued   time.Duration // for how long it did

	Auth Authorizer // whose credential the call carries to its end, nil for the client's

	Timeout    time.Duration // of the whole call, 0 for none
	TimeoutSet bool          // in place of the client's, even by 0

	Invalid InvalidOptions
}

// CallOf collects what options set. Nil options are ignored.
func CallOf[O ~func(*Call)](options []O) Call {
	if len(options) == 0 {
		return Call{} // most calls, which then need no Call on the heap
	}
	var call Call
	Apply(&call, options)
	return call
}

// WriteOption sets up a write that an idempotency key anchors.
type WriteOption interface{ ApplyToWrite(*Call) }

// WriteOf collects what the options of such a write set. Nil options are ignored.
func WriteOf[O WriteOption](options []O) Call {
	if len(options) == 0 {
		return Call{}
	}
	var call Call
	for _, option := range options {
		if any(option) != nil {
			option.ApplyToWrite(&call)
		}
	}
	return call
}

// Apply applies options to a value. Nil options are ignored.
func Apply[T any, O ~func(*T)](to *T, options []O) {
	for _, option := range options {
		if option != nil {
			option(to)
		}
	}
}

// Answer is the response to a call, without the decoded value. moneymovement.Response has the same fields.
type Answer struct {
	Status         int
	Header         http.Header
	RequestID      string
	IdempotencyKey string
	Replayed       bool
	Attempts       int
	Queued         time.Duration
	Unread         []wire.Unread
	Body           []byte
	Secret         bool // the body holds secrets
}
