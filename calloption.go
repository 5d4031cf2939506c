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

// WriteOption sets up one write that an idempotency key can anchor, such as dapi's Payouts.Book: [IdempotencyKey], and
// every [CallOption]. A method that takes CallOptions takes no key: it reads, or repeating it changes nothing, or the
// service anchors nothing to a key there.
type WriteOption interface{ ApplyToWrite(call *transport.Call) }

// IdempotencyKey anchors a write to your own key. An empty key is *errors.InvalidInput. See [Key] for what a key does,
// and for what the service does with a write that has none.
func IdempotencyKey(key Key) WriteOption { return keyOption(key) }

type keyOption Key

// ApplyToWrite implements [WriteOption].
func (k keyOption) ApplyToWrite(call *transport.Call) { call.Key, call.KeySet = string(k), true }

// KeyOf returns the idempotency key that the options of a write set. ok is false if they set none. It is for fakes that
// stand in for a service in your tests, and check which key your program used.
func KeyOf(options ...WriteOption) (key Key, ok bool) {
	call := transport.WriteOf(options)
	return Key(call.Key), call.KeySet
}

// Timeout ends one call after d, with all its attempts, pauses and waiting in line, unless the context ends it earlier.
// It replaces the client's [WithTimeout]; 0 means no timeout. A negative d is *errors.InvalidInput. The error of a call
// that runs out of time is context.DeadlineExceeded within the type that says what happened: *errors.NotDelivered, or
// *errors.OutcomeUnknown for a write that may have been carried out. A stream, such as a PDF, must be read within it.
func Timeout(d time.Duration) CallOption {
	return func(c *transport.Call) { c.Timeout, c.TimeoutSet = d, true }
}

// Response is what came back besides the decoded value.
type Response struct {
	// Status is the HTTP status, 0 when no answer came.
	Status int
	// Header is the answer's header.
	Header http.Header
	// RequestID is the service's X-Request-ID.
	RequestID string
	// IdempotencyKey is the caller's key that the write carried, else empty. A key that the service derived is in the
	// resource's own field, such as dapi's Payout.IdempotencyKey.
	IdempotencyKey string
	// Replayed says that the service answered an earlier write again (Idempotency-Replayed: true).
	Replayed bool
	// Attempts is how many times the request was sent.
	Attempts int
	// Queued is how long the call waited in line for its rate windows, over all attempts.
	Queued time.Duration
	// Unread names what could not be read of the answer, as it differs from what the service's description states or
	// this SDK assumes; its fields are zero. What was read in another form, such as a number that came as a text, is
	// not named, and neither is an optional member that is absent or null. Of one answer a thousand are named at most.
	Unread []Unread

	// Body is the answer's body as it came, with the fields that this version of the SDK does not know. Of a call that
	// reveals secrets, such as a card's details, it is nil unless [CaptureResponseWithSecrets] asked for it.
	Body []byte
}

// Unread is a member of an answer that could not be read.
type Unread struct {
	// Pointer is the JSON pointer (RFC 6901) of the member, such as /items/3/amount. It is that of the body as it is
	// described: of a list that came in another envelope, it begins with /items all the same.
	Pointer string

	// Stated says that the service's description states what the member differs from. Else the SDK assumes it, and
	// openapi/README.md says why.
	Stated bool

	// Problem is what is wrong, in a few words without the value, such as "is a number".
	Problem string
}

// CaptureResponse keeps what came back besides the decoded value, also when the call fails. Of a flow that makes
// several calls, it keeps the last one's answer. Several of them each keep it.
func CaptureResponse(into *Response) CallOption {
	return capturing(into, func(answer transport.Answer) Response {
		if answer.Secret {
			answer.Body = nil
		}
		return answerOf(answer)
	})
}

// CaptureResponseWithSecrets is [CaptureResponse] that keeps the body of a call that reveals secrets, too. A body
// prints and is encoded like any other bytes: keep it out of logs.
func CaptureResponseWithSecrets(into *Response) CallOption { return capturing(into, answerOf) }

func capturing(into *Response, what func(transport.Answer) Response) CallOption {
	if into == nil {
		return nil
	}
	return func(c *transport.Call) {
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
