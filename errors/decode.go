package errors

import (
	"bytes"
	"net/http"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// Response is the input of [Decode]: an HTTP response, and what is known about its call.
type Response struct {
	// CallInfo describes the call. Decode reads RequestID and RetryAt from the response.
	CallInfo
	// Status is the HTTP status.
	Status int
	// Header is the header of the response.
	Header http.Header
	// Body is the body of the response, as far as it was read.
	Body []byte
	// Truncated says that the body continues after what was read.
	Truncated bool
	// Now is the time of the response, from which Retry-After counts. Zero means time.Now().
	Now time.Time
}

// Reasons why a body is not the service's JSON error.
var (
	errTruncated = New("body was cut short")
	// JSON does not allow one
	errByteOrderMark = New("body begins with a byte order mark")
	errNoErrorBody   = New("body has neither an error code nor a detail array")
)

// envelope is the union of the two JSON errors of the service. Details and Detail are parts of the body.
type envelope struct {
	Code    Code
	Message string
	Details codec.Value
	Detail  codec.Value
}

// readEnvelope reads a body in one pass. If it has text that JSON does not allow, such as a message that was cut in the
// middle of a character, it reads the body once more with U+FFFD in place of what is wrong.
func readEnvelope(body []byte) (envelope, error) {
	e, err := readValid(body)
	if err == nil {
		return e, nil
	}
	if valid, ends := codec.ReplaceInvalidText(body); ends != nil {
		return readValid(valid)
	}
	return e, err
}

func readValid(body []byte) (e envelope, err error) {
	s := codec.Over(body)
	isObject := s.Kind() == codec.KindBeginObject
	members := s.Object()
	for s.Member(&members) {
		switch string(members.Name) {
		case "error":
			e.read(&s)
		case "detail":
			e.Detail = s.Raw()
		}
	}
	if isObject && s.End() {
		return e, nil
	}
	return envelope{}, syntaxError(body)
}

// syntaxError returns what JSON v2 finds wrong with a body. It is nil for null, which is valid and empty.
func syntaxError(body []byte) error {
	type errorBody struct {
		Error  codec.Value `json:"error"`
		Detail codec.Value `json:"detail"`
	}
	return codec.Unmarshal(body, new(errorBody))
}

// read reads the error object of the platform API.
func (e *envelope) read(s *codec.Scanner) {
	members := s.Object()
	for s.Member(&members) {
		switch string(members.Name) {
		case "code":
			e.Code = codeOf(s.Bytes())
		case "message":
			e.Message = s.Text()
		case "details":
			e.Details = s.Raw()
		}
	}
}

// Decode returns the error for a response that is not a success. It never returns nil. The error is
//
//   - the type of the slug, or [*Unrecognized] if the slug is not known,
//   - [*DetailErrors] for the validation failures of the /api/v1 endpoints,
//   - [*UnexpectedResponse] for every other body.
//
// The slug decides the type, regardless of the status. A folded slug becomes the slug that it is folded into. If detail
// is a sentence and not an array, status 401 gives [*Unauthenticated], and any other 4xx status but 408 gives
// [*Unrecognized] without a code. The error keeps no reference to the body.
//
// The SDK calls Decode for every response. Call it yourself only for responses that you get in another way.
func Decode(a Response) error {
	r := refusalOf(a)

	e, err := readEnvelope(a.Body)
	if err != nil {
		switch {
		case a.Truncated:
			err = Join(errTruncated, err)
		case bytes.HasPrefix(a.Body, []byte("\ufeff")):
			err = Join(errByteOrderMark, err)
		}
		return newUnexpectedResponse(a, r, err)
	}
	if e.Code != "" {
		return newRefused(r, &e)
	}
	if e.Detail.Kind() == codec.KindBeginArray {
		return newDetailErrors(r, bytes.Clone(e.Detail))
	}
	if sentence := textOf(e.Detail); sentence != "" && (rejects(a.Status) || a.Status == http.StatusConflict) {
		return newSentence(r, sentence, bytes.Clone(e.Detail))
	}
	return newUnexpectedResponse(a, r, errNoErrorBody)
}

// newRefused returns the error for the error object of the body.
func newRefused(r Refusal, e *envelope) error {
	r.Code, r.Message = e.Code, e.Message
	if e.Details.Kind() != codec.KindNull {
		r.Details = bytes.Clone(e.Details)
	}
	d := details(r.Details)
	if r.RequestID == "" {
		r.RequestID = d.text("requestId")
	}
	if err := newSlug(r, d); err != nil {
		return err
	}
	return &Unrecognized{Refusal: r}
}

// newSentence returns the error for a refusal that consists of one sentence.
func newSentence(r Refusal, sentence string, raw []byte) error {
	r.Message, r.Details = sentence, raw
	if r.Status == http.StatusUnauthorized {
		r.Code = CodeUnauthenticated
		return newSlug(r, nil)
	}
	return &Unrecognized{Refusal: r}
}

// refusalOf returns what the call and the header of the response say.
func refusalOf(a Response) Refusal {
	r := Refusal{CallInfo: a.CallInfo, Status: a.Status}
	// X-Request-ID, as net/http spells it: looking for another spelling makes a copy
	r.RequestID, r.RetryAt = a.Header.Get("X-Request-Id"), time.Time{}
	if a.Header.Get("Retry-After") == "" {
		return r // the usual case, which needs no clock
	}
	now := a.Now
	if now.IsZero() {
		now = time.Now()
	}
	if wait, ok := RetryAfter(a.Header, now); ok {
		r.RetryAfter, r.RetryAt = wait, now.Add(wait)
	}
	return r
}

// maxRetryAfter is the longest wait that a header can ask for. A wrong or hostile value must not overflow a duration or
// stop a program for years.
const maxRetryAfter = 24 * time.Hour

// RetryAfter returns the wait that the Retry-After header asks for. The header has seconds, or a date, from which now
// is subtracted. Fractions of a second are rounded up. Of several numbers, the largest counts. A negative number and a
// time in the past give 0, and a wait of more than 24 hours gives 24 hours. RetryAfter returns false if the header is
// absent or cannot be read.
func RetryAfter(h http.Header, now time.Time) (longest time.Duration, asked bool) {
	for _, value := range h["Retry-After"] {
		wait, ok := retryAfterDate(strings.TrimSpace(value), now)
		if !ok {
			wait, ok = retryAfterSeconds(value)
		}
		longest, asked = max(longest, wait), asked || ok
	}
	return longest, asked
}

// retryAfterSeconds reads numbers, of which a proxy can make a list.
func retryAfterSeconds(value string) (longest time.Duration, ok bool) {
	for number := range strings.SplitSeq(value, ",") {
		digits, negative := strings.CutPrefix(strings.TrimSpace(number), "-")
		whole, fraction, fractional := strings.Cut(digits, ".")
		if !isIndex(whole) || fractional && !isIndex(fraction) {
			return 0, false
		}
		if negative {
			continue
		}
		seconds, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || seconds >= int64(maxRetryAfter/time.Second) {
			return maxRetryAfter, true // these are digits, so only a number out of range fails here
		}
		if strings.Trim(fraction, "0") != "" {
			seconds++
		}
		longest = max(longest, time.Duration(seconds)*time.Second)
	}
	return longest, true
}

// retryAfterDate reads a date as HTTP writes it, and as mail does: with another zone, or with a leap second.
func retryAfterDate(value string, now time.Time) (time.Duration, bool) {
	if len(value) < len(time.ANSIC) { // a number
		return 0, false
	}
	leap := time.Duration(0)
	if before, after, found := strings.Cut(value, ":60 "); found {
		value, leap = before+":59 "+after, time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		date, err = mail.ParseDate(value)
		if name, offset := date.Zone(); err == nil && offset == 0 && !slices.Contains(zeroZones, name) {
			return 0, false // an abbreviation of which the offset is not known
		}
	}
	if err != nil {
		return 0, false
	}
	// Sub saturates, so a date far away cannot overflow.
	return min(max(date.Add(leap).Sub(now), 0), maxRetryAfter), true
}

// zeroZones are the names of the zones without an offset.
var zeroZones = []string{"", "UTC", "GMT", "UT", "Z"}
