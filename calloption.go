package moneymovement

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// WriteOption sets up one write that can have an idempotency key, such as dapi's Payouts.Book. [IdempotencyKey] and
// every [CallOption] are WriteOptions. A method that takes CallOptions has no use for a key: it only reads, or
// repeating it changes nothing, or the service ignores the key.
type WriteOption interface{ apply(to *CallSettings) }

// CallOption sets up one call of any method: [CaptureResponse], [CaptureResponseWithSecrets], [Header] or [Timeout].
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
	Header  http.Header    // of each [Header]; nil for none
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
	// Deprecation says that the operation will end. It is nil if the response does not announce it.
	Deprecation *Deprecation
	// RateLimits are the rate windows that the response names, at most 16.
	RateLimits []RateLimit
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

// WaitOption sets up one wait, such as dapi's Payouts.Wait: [Header], [OnProgress] or [PollEvery].
type WaitOption interface{ applyToWait(to *WaitSettings) }

type waitOption func(*WaitSettings)

func (o waitOption) applyToWait(to *WaitSettings) { o(to) }

// WaitSettings is what the options of a wait set.
type WaitSettings struct {
	Polling  Pace           // of [PollEvery]; zero for the client's
	Progress func(Progress) // of [OnProgress]; nil for none
	Header   http.Header    // of each [Header]; nil for none
	// Invalid are the problems with the options. The wait is refused because of them.
	Invalid []errors.Field
}

// WaitSettingsOf returns what the options of a wait set. It ignores nil options.
func WaitSettingsOf(options ...WaitOption) WaitSettings {
	var settings WaitSettings
	for _, option := range options {
		if option != nil {
			option.applyToWait(&settings)
		}
	}
	return settings
}

// Progress reports what a wait has read so far.
type Progress struct {
	Resource string        // what is waited for, such as "payout"
	ID       string        // the resource's id
	Status   string        // the status as last read; "unread" before the first read
	Reads    int           // how many times it was read
	Waited   time.Duration // the time since the wait began
}

// OnProgress calls f after each read, in the goroutine that waits. If f is nil, the wait fails with
// *errors.InvalidInput.
func OnProgress(f func(Progress)) WaitOption {
	return waitOption(func(to *WaitSettings) {
		to.Progress = f
		if f == nil {
			refuse(&to.Invalid, "OnProgress", errors.FieldMissing, "must not be nil")
		}
	})
}

// PollEvery sets the pauses between two reads. The first pause is shortest. Each further pause is 1.5 times as long as
// the one before, up to longest. The default is the client's, see [WithPolling]. To spread the reads of many waits,
// each pause is shortened at random, to half of its length at least.
//
// shortest must be at least 1 ms. longest must be at least shortest and at most 24 h. Otherwise the wait fails with
// *errors.InvalidInput.
func PollEvery(shortest, longest time.Duration) WaitOption {
	return waitOption(func(to *WaitSettings) {
		to.Polling = Pace{shortest, longest}
		to.Polling.check(&to.Invalid, "PollEvery")
	})
}

// StillPending says that a wait ended before its resource reached the status: its context ended, or had no time left
// for another read. It wraps the error of the context and, if the last read failed, the error of that read. To
// continue, wait again. A wait also ends with StillPending if the resource has ended in another status, or has had, for
// 30 minutes, a status that this version of the SDK does not know. Err then says so.
type StillPending struct {
	Progress
	Err error
}

// Error returns one line: what was waited for, its last status, and why the wait ended.
func (e *StillPending) Error() string {
	return errorbase.Textf(e, "%s %s is still %s after %s and %d reads: %v", e.Resource, e.ID, e.Status,
		e.Waited.Round(time.Millisecond), e.Reads, e.Err)
}

// Retryable returns true: you can wait again.
func (e *StillPending) Retryable() bool { return true }

// MovedByCall returns errors.NotMoved for a client, a rail and a verification, and errors.MaybeMoved for everything
// else, such as a payout, which can still move money.
func (e *StillPending) MovedByCall() errors.Movement {
	switch e.Resource {
	case "client", "rail", "verification":
		return errors.NotMoved
	}
	return errors.MaybeMoved
}

// Unwrap returns Err.
func (e *StillPending) Unwrap() error { return e.Err }

// Key is an idempotency key. It makes a write happen once, however often it is sent and by how many processes. A key
// has 1 to 128 characters of A-Z a-z 0-9 . _ : - and anything else is refused with *errors.InvalidInput. A constant
// string is a Key without a conversion. Make other keys with [DeriveKey].
//
// A key belongs to one account and one operation. The same key in another account or operation is a different key.
//
// The service remembers a key for 7 days from its first use. Within this time, the same call with the same key returns
// the first response again. After 7 days the key counts as new, and the same call pays again: read the payment before
// you repeat it.
//
// The same key with other terms is refused with *errors.IdempotencyKeyReused, which names the payout or escrow that has
// the key. The service refuses it, or the client itself if it sent the key with other terms before; then Status is 0
// and nothing was sent. Terms are compared by value: 12.5 equals 12.50.
//
// Calls that move money require a key. Some other writes take one as an option, see [IdempotencyKey]. Without a key,
// the platform API derives one from the request and remembers it for 2 hours: two equal bookings within this time are
// one payout. The descriptions of the other surfaces do not say that they derive keys.
type Key string

// DeriveKey makes an idempotency key from what a write is for, such as DeriveKey("payroll", "2026-11", employeeID). The
// same parts always give the same key. Different parts give different keys, however they are split: ("ab", "c") differs
// from ("a", "bc"). The key contains the beginning of the parts, which helps to find it in logs. Do not put secrets
// into them.
//
// Two payments with equal terms need different keys. So the parts must identify the payment. Let the last one be the
// number of the attempt, such as DeriveKey("invoice", "42", "1"): terms that the service has booked cannot be changed
// under their key. To pay an invoice whose payment was wrong and is known not to be made, take the next number.
func DeriveKey(parts ...string) Key {
	digest := sha256.New()
	for _, part := range parts {
		fmt.Fprintf(digest, "%d:%s", len(part), part)
	}
	readable := strings.Map(keyRune, strings.Join(parts, ":"))
	return Key(readable[:min(len(readable), maxReadable)] + "." + hex.EncodeToString(digest.Sum(nil)[:16]))
}

// maxReadable leaves room for a dot and 32 hexadecimal digits within the 128 characters of a key.
const maxReadable = 128 - 33

// keyRune replaces what a key may not contain.
func keyRune(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == ':', r == '-':
		return r
	}
	return '-'
}
