package moneymovement

import (
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// CallOption sets up one call.
type CallOption func(*transport.Call)

// IdempotencyKey anchors a write to a key of the caller's: 1 to 128 characters of A-Z a-z 0-9 . _ : - (else *errors.InvalidInput).
// The scope of a key is the account and the operation; an explicit key replays for 7 days, one that the service derived for 2 hours. The same
// key with other terms is refused: by the service as *errors.IdempotencyKeyReused with the id of what owns it, and before it is sent, as
// *errors.InvalidInput, if this client itself sent it with other terms. Derive it from what the payment is for, such as the invoice's number, so that a program that
// starts again pays nothing twice.
//
// Source: Limits, Idempotency.
func IdempotencyKey(key string) CallOption {
	return func(c *transport.Call) { c.Key, c.KeySet = key, true }
}

// Answer is what came back besides the decoded value.
type Answer struct {
	// Status is the HTTP status, 0 when no answer came.
	Status int
	// Header is the answer's header.
	Header http.Header
	// RequestID is the service's X-Request-ID.
	RequestID string
	// IdempotencyKey is the key that the write carried, the caller's or a fresh one; empty for a read.
	IdempotencyKey string
	// Replayed says that the service answered an earlier write again (Idempotency-Replayed: true).
	Replayed bool
	// Attempts is how many times the request was sent.
	Attempts int
	// Queued is how long the call waited in line for its rate windows, over all attempts.
	Queued time.Duration
	// Body is the answer's body as it came, with the fields that this version of the SDK does not know.
	Body []byte
}

// Capture keeps what came back besides the decoded value, also when the call fails. Of a flow that makes several calls, it keeps the
// last one's answer.
func Capture(into *Answer) CallOption {
	return func(c *transport.Call) { c.Answer = (*transport.Answer)(into) }
}
