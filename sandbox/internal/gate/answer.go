package gate

import (
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// answer is a response in memory.
type answer struct {
	requestID string
	status    int
	slug      string // of a refusal
	detailed  bool   // failed validations are an array of details
	header    http.Header
	body      []byte
}

func newAnswer(requestID string) *answer {
	return &answer{requestID: requestID, header: make(http.Header, 4)}
}

// take writes the result of an operation.
func (a *answer) take(returned wire.Answer) (err error) {
	if a.body, err = returned.Encode(); err != nil {
		return err
	}
	a.status = returned.Status
	maps.Copy(a.header, returned.Header)
	if returned.Body != nil && a.header.Get("Content-Type") == "" {
		a.header.Set("Content-Type", "application/json")
	}
	return nil
}

// refuse replaces the response with a refusal. An error that is not a refusal is a failure of the host: internal_error.
func (a *answer) refuse(err error) {
	var refusal *wire.Refusal
	if !errors.As(err, &refusal) {
		refusal = wire.InternalError()
	}
	a.write(refusal)
	var wrong *wrongMethod
	if errors.As(err, &wrong) {
		a.header.Set("Allow", strings.Join(wrong.allowed, ", "))
	}
}

// write writes a refusal in the form of the surface.
func (a *answer) write(refusal *wire.Refusal) {
	if a.detailed && isValidation(refusal) {
		a.detail(refusal)
		return
	}
	a.envelope(refusal)
}

type envelope struct {
	Error envelopeBody `json:"error"`
}

type envelopeBody struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// envelope writes a refusal as the description shows it.
func (a *answer) envelope(refusal *wire.Refusal) {
	details := refusal.Details
	if refusal.Status >= http.StatusInternalServerError {
		details = maps.Clone(details)
		if details == nil {
			details = map[string]any{}
		}
		details["requestId"] = a.requestID
	}
	body, err := json.Marshal(envelope{envelopeBody{refusal.Code, refusal.Message, details}}, json.Deterministic(true))
	if err != nil {
		a.envelope(wire.InternalError()) // its details can always be encoded
		return
	}
	a.replace(refusal.Status, "application/json", body)
	a.slug = refusal.Code
	if refusal.RetryAfter > 0 {
		a.header.Set("Retry-After", wholeSeconds(refusal.RetryAfter))
	}
}

// replace discards the response so far.
func (a *answer) replace(status int, contentType string, body []byte) {
	a.status, a.slug = status, ""
	clear(a.header)
	a.header.Set("Content-Type", contentType)
	a.body = body
}

// wholeSeconds rounds up, so that the wait is never too short.
func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
}

// finish completes the headers. A fault may script a header without a value, which is not sent.
func (a *answer) finish() {
	maps.DeleteFunc(a.header, func(_ string, values []string) bool {
		return !slices.ContainsFunc(values, func(value string) bool { return value != "" })
	})
	a.header.Set("X-Request-ID", a.requestID)
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.status != http.StatusNoContent {
		a.header.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
}

// send sends the response, or only the first bytes of its body. It reports whether the whole response was sent.
func (a *answer) send(w http.ResponseWriter, length int) bool {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	whole := length >= len(a.body)
	_, _ = w.Write(a.body[:min(length, len(a.body))]) // an error means that the caller has closed the connection
	return whole
}
