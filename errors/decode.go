package errors

import (
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// Response is what [Decode] needs to know of an HTTP answer and of the request it belongs to.
type Response struct {
	// CallInfo is what is known of the request. RequestID and RetryAt are read from the answer.
	CallInfo
	// Status is the HTTP status.
	Status int
	// Header is the answer's header.
	Header http.Header
	// Body is the answer's body, as far as it was read.
	Body []byte
	// Truncated says that the body goes on beyond what was read.
	Truncated bool
	// Now is the time of the answer, which Retry-After counts from. Zero means the clock's time.
	Now time.Time
}

// Reasons why a body is no envelope.
var (
	errTruncated  = New("body was cut short")
	errNoEnvelope = New("body has neither an error code nor a detail array")
)

// envelope is the union of the two shapes in which the service refuses.
type envelope struct {
	Error  jsonv2.Value `json:"error"`
	Detail jsonv2.Value `json:"detail"`
}

// Decode turns an answer that is no success into its error: the slug's own type, [*Unrecognized] for an unknown slug,
// [*DetailErrors] for the /api/v1 shape, and [*UnexpectedResponse] for everything else. It is never nil, for any input.
//
// A slug is taken at its word whatever the status is; the status is kept as received. A slug that folds into another
// one becomes that other one. Where detail is a sentence instead of an array, a client error is [*Unauthenticated] if
// it is 401 and else [*Unrecognized] without a code: of the other statuses, more than one slug is known. The error
// keeps no reference to the body.
//
// Source: Errors.
func Decode(a Response) error {
	r := refusalOf(a)

	var e envelope
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
	return newUnexpectedResponse(a, r, errNoEnvelope)
}

// newRefused builds the error of a platform envelope from its members.
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

// newSentence builds the error of a refusal that says nothing but a sentence.
func newSentence(r Refusal, sentence string, raw []byte) error {
	r.Message, r.Details = sentence, raw
	if r.Status == http.StatusUnauthorized {
		r.Code = CodeUnauthenticated
		return newSlug(r, nil)
	}
	return &Unrecognized{Refusal: r}
}

// refusalOf gives what an answer's head and its request say.
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
