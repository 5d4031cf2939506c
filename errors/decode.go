package errors

import (
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
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
	errTruncated   = New("body was cut short")
	errNoErrorBody = New("body has neither an error code nor a detail array")
)

// errorBody is the union of the two JSON errors of the service.
type errorBody struct {
	Error  jsonv2.Value `json:"error"`
	Detail jsonv2.Value `json:"detail"`
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

	var e errorBody
	if err := jsonv2.Unmarshal(a.Body, &e); err != nil {
		if a.Truncated {
			err = Join(errTruncated, err)
		}
		return newUnexpectedResponse(a, r, err)
	}
	if members := newDetails(e.Error); members.text("code") != "" {
		return newRefused(r, members)
	}
	if e.Detail.Kind() == jsonv2.KindBeginArray {
		return newDetailErrors(r, e.Detail)
	}
	if sentence := textOf(e.Detail); sentence != "" && (rejects(a.Status) || a.Status == http.StatusConflict) {
		return newSentence(r, sentence, e.Detail)
	}
	return newUnexpectedResponse(a, r, errNoErrorBody)
}

// newRefused returns the error for the members of error in the body.
func newRefused(r Refusal, members details) error {
	r.Code = Code(members.text("code"))
	r.Message = members.text("message")
	if raw := members["details"]; raw.Kind() != jsonv2.KindNull {
		r.Details = []byte(raw)
	}
	d := newDetails(r.Details)
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
	now := a.Now
	if now.IsZero() {
		now = time.Now()
	}
	r := Refusal{CallInfo: a.CallInfo, Status: a.Status}
	r.RequestID, r.RetryAt = a.Header.Get("X-Request-ID"), time.Time{}
	if wait, ok := RetryAfter(a.Header, now); ok {
		r.RetryAfter, r.RetryAt = wait, now.Add(wait)
	}
	return r
}
