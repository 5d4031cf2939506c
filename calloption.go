package moneymovement

import (
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// WriteOption sets up one write that can have an idempotency key, such as dapi's Payouts.Book. [IdempotencyKey] and
// every [CallOption] are WriteOptions. A method that takes CallOptions has no use for a key: it only reads, or
// repeating it changes nothing, or the service ignores the key.
type WriteOption interface{ apply(to *CallSettings) }

// CallOption sets up one call of any method: [CaptureResponse], [CaptureResponseWithSecrets] or [Timeout].
type CallOption interface {
	WriteOption
	ofAnyCall()
}

type callOption func(*CallSettings)

func (o callOption) apply(to *CallSettings) { o(to) }
func (callOption) ofAnyCall()               {}

// CallSettings is what the options of a call set.
type CallSettings struct {
	Key     Key            // of [IdempotencyKey]; empty for none
	Timeout *time.Duration // of [Timeout]; nil for the client's
	// Capture and CaptureRevealing are where the response is stored, of each [CaptureResponse] and of each
	// [CaptureResponseWithSecrets].
	Capture, CaptureRevealing []*Response
	// Invalid are the problems with the options. The call is refused because of them.
	Invalid []errors.Field
}

// CallSettingsOf returns what the options of a call set. It ignores nil options. Use it in fakes of a service, to check
// which key your program sent.
func CallSettingsOf[O WriteOption](options ...O) CallSettings {
	if len(options) == 0 {
		return CallSettings{} // the usual case needs nothing on the heap
	}
	var settings CallSettings
	for _, option := range options {
		if any(option) != nil {
			option.apply(&settings)
		}
	}
	return settings
}

// IdempotencyKey sends a write with your key. With an empty key, the call fails with *errors.InvalidInput. [Key] says
// what a key does, and what happens to a write without a key.
func IdempotencyKey(key Key) WriteOption { return keyOption(key) }

type keyOption Key

func (k keyOption) apply(to *CallSettings) {
	to.Key = Key(k)
	if k == "" {
		refuse(&to.Invalid, "Idempotency-Key", errors.FieldMissing, "is required")
	}
}

// Timeout ends one call after d, with all its attempts, pauses and waiting in line, unless the context ends it earlier.
// It replaces the client's [WithTimeout]; 0 means no timeout. With a negative d, the call fails with
// *errors.InvalidInput. If the time is over, the call fails with *errors.NotDelivered, or with *errors.InDoubt
// for a write that the service may have carried out. errors.Is finds context.DeadlineExceeded in both. For a stream,
// such as a PDF, d includes the time in which you read it.
func Timeout(d time.Duration) CallOption {
	return callOption(func(to *CallSettings) {
		to.Timeout = &d
		if d < 0 {
			refuse(&to.Invalid, "Timeout", "out_of_range", "must not be negative")
		}
	})
}

// Response is the response to a call, without the decoded value. [CaptureResponse] fills it.
type Response struct {
	// Status is the HTTP status. It is 0 if there was no response.
	Status int
	// Header is the header of the response.
	Header http.Header
	// RequestID is the service's X-Request-ID.
	RequestID string
	// IdempotencyKey is the key that you gave to the write. It is empty if you gave none. The field of the resource,
	// such as dapi's Payout.IdempotencyKey, also shows a key that the service derived.
	IdempotencyKey string
	// Replayed is true if the service repeated its response to an earlier write (Idempotency-Replayed: true).
	Replayed bool
	// Attempts is how many times the request was sent.
	Attempts int
	// Queued is how long the call waited for its rate windows, over all attempts.
	Queued time.Duration
	// Unread names at most 1,000 members of the body that the SDK could not read, because they differ from the
	// service's description or from what this SDK assumes, or are text that JSON does not allow. Their
	// fields are zero. It leaves out members that the SDK could read in another form, such as a number written as a
	// string, and optional members that are missing. It also names a list that has more entries than you asked for;
	// these are read.
	Unread []Unread

	// Body is the body as it was received, with the members that this version of the SDK does not know. It is nil for
	// a call that reveals secrets, such as a card's details, unless you use [CaptureResponseWithSecrets].
	Body []byte
}

// Unread names a member of a response body that could not be read.
type Unread struct {
	// Pointer is the JSON pointer (RFC 6901) of the member, such as /items/3/amount. For an entry of a list, it begins
	// with /items, even if the member of the response with the list has another name.
	Pointer string

	// Stated is true if the service's description states the form that was expected. If it is false, this SDK assumed
	// it; openapi/README.md says why.
	Stated bool

	// Problem says what is wrong in a few words, without the value, such as "is a number".
	Problem string
}

// CaptureResponse stores the response of the call in *into, also if the call fails. If the method makes several calls,
// it stores the last response. If into is nil, the call fails with *errors.InvalidInput. You can pass the option more
// than once.
func CaptureResponse(into *Response) CallOption {
	return callOption(func(to *CallSettings) { to.capture(&to.Capture, into) })
}

// CaptureResponseWithSecrets does what [CaptureResponse] does, and also keeps the body of a call that reveals secrets.
// The body prints like any other bytes: keep it out of logs.
func CaptureResponseWithSecrets(into *Response) CallOption {
	return callOption(func(to *CallSettings) { to.capture(&to.CaptureRevealing, into) })
}

func (s *CallSettings) capture(all *[]*Response, into *Response) {
	if into == nil {
		refuse(&s.Invalid, "CaptureResponse", errors.FieldMissing, "must not be nil")
		return
	}
	*all = append(*all, into)
}
