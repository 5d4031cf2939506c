package moneymovement

import (
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// CallOption sets up one call of any method: [CaptureResponse], [CaptureResponseWithSecrets] or [Timeout].
type CallOption func(*transport.Call)

// ApplyToWrite makes every CallOption a [WriteOption].
func (o CallOption) ApplyToWrite(call *transport.Call) {
	if o != nil {
		o(call)
	}
}

// WriteOption sets up one write that can have an idempotency key, such as dapi's Payouts.Book. [IdempotencyKey] and
// every [CallOption] are WriteOptions. A method that takes CallOptions has no use for a key: it only reads, or
// repeating it changes nothing, or the service ignores the key.
type WriteOption interface{ ApplyToWrite(call *transport.Call) }

// IdempotencyKey sends a write with your key. With an empty key, the call fails with *errors.InvalidInput. [Key] says
// what a key does, and what happens to a write without a key.
func IdempotencyKey(key Key) WriteOption { return keyOption(key) }

type keyOption Key

// ApplyToWrite implements [WriteOption].
func (k keyOption) ApplyToWrite(call *transport.Call) { call.Key, call.KeySet = string(k), true }

// KeyOf returns the idempotency key that the options of a write set. ok is false if they set none. Use it in fakes of a
// service, to check which key your program sent.
func KeyOf(options ...WriteOption) (key Key, ok bool) {
	call := transport.WriteOf(options)
	return Key(call.Key), call.KeySet
}

// Timeout ends one call after d, with all its attempts, pauses and waiting in line, unless the context ends it earlier.
// It replaces the client's [WithTimeout]; 0 means no timeout. With a negative d, the call fails with
// *errors.InvalidInput. If the time is over, the call fails with *errors.NotDelivered, or with *errors.OutcomeUnknown
// for a write that the service may have carried out. errors.Is finds context.DeadlineExceeded in both. For a stream,
// such as a PDF, d includes the time in which you read it.
func Timeout(d time.Duration) CallOption {
	return func(c *transport.Call) { c.Timeout, c.TimeoutSet = d, true }
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
	return capturing(into, func(answer transport.Answer) Response {
		if answer.Secret {
			answer.Body = nil
		}
		return answerOf(answer)
	})
}

// CaptureResponseWithSecrets does what [CaptureResponse] does, and also keeps the body of a call that reveals secrets.
// The body prints like any other bytes: keep it out of logs.
func CaptureResponseWithSecrets(into *Response) CallOption { return capturing(into, answerOf) }

func capturing(into *Response, what func(transport.Answer) Response) CallOption {
	return func(c *transport.Call) {
		if into == nil {
			c.Invalid.NotNil("CaptureResponse", false)
			return
		}
		earlier := c.Keep
		c.Keep = func(answer transport.Answer) {
			if earlier != nil {
				earlier(answer)
			}
			*into = what(answer)
		}
	}
}

func answerOf(a transport.Answer) Response {
	answer := Response{
		Status: a.Status, Header: a.Header, RequestID: a.RequestID, IdempotencyKey: a.IdempotencyKey,
		Replayed: a.Replayed,
		Attempts: a.Attempts, Queued: a.Queued, Body: a.Body,
	}
	for _, unread := range a.Unread {
		answer.Unread = append(answer.Unread, Unread(unread))
	}
	return answer
}
