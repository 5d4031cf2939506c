package transport

import (
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Call holds the settings of one call.
type Call struct {
	Key    string       // idempotency key; "" sends none
	KeySet bool         // the caller set a key, even an empty one
	Keep   func(Answer) // gets the response; nil to drop it

	// Counted is a further window that counts the call, by something in its body. By default there is no such window.
	Counted struct {
		Window Window
		Scope  string
	}

	Class    RateClass     // in the rate windows; "" for the operation's class
	Closes   time.Time     // of a confirm: when its approval expires, by the service's clock
	Reserved bool          // [Client.Reserve] has waited for the place of the first attempt in the rate windows
	Queued   time.Duration // how long Reserve waited

	Auth Authorizer // the credential for the whole call; nil for the client's

	Timeout    time.Duration // of the whole call, 0 for none
	TimeoutSet bool          // use Timeout and not the client's, even if it is 0

	Invalid InvalidOptions
}

// CallOf collects the settings of options. Nil options are ignored.
func CallOf[O ~func(*Call)](options []O) Call {
	if len(options) == 0 {
		return Call{} // the usual case needs no Call on the heap
	}
	var call Call
	Apply(&call, options)
	return call
}

// WriteOption configures a write with an idempotency key.
type WriteOption interface{ ApplyToWrite(*Call) }

// WriteOf collects the settings of the options of such a write. Nil options are ignored.
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
