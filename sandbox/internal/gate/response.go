package gate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// response is a response in memory.
type response struct {
	requestID string
	status    int
	slug      string // of a refusal
	detailed  bool   // failed validations are an array of details
	header    http.Header
	body      []byte
}

func newResponse(requestID string) *response {
	return &response{requestID: requestID, header: make(http.Header, 4)}
}

// setResult writes the result of an operation.
func (a *response) setResult(result wire.Response) (err error) {
	if a.body, err = result.Encode(); err != nil {
		return err
	}
	a.status = result.Status
	maps.Copy(a.header, result.Header)
	if result.Body != nil && a.header.Get("Content-Type") == "" {
		a.header.Set("Content-Type", "application/json")
	}
	return nil
}

// refuse replaces the response with a refusal. An error that is not a refusal is a failure of the host: internal_error.
func (a *response) refuse(err error) {
	var refusal *wire.Refusal
	if !errors.As(err, &refusal) {
		refusal = wire.InternalError()
	}
	a.writeRefusal(refusal)
	var wrong *wrongMethod
	if errors.As(err, &wrong) {
		a.header.Set("Allow", strings.Join(wrong.allowed, ", "))
	}
}

// writeRefusal writes a refusal in the form of the surface.
func (a *response) writeRefusal(refusal *wire.Refusal) {
	if a.detailed && isValidation(refusal) {
		a.writeDetails(refusal)
		return
	}
	a.writeEnvelope(refusal)
}

type envelope struct {
	Error envelopeBody `json:"error"`
}

type envelopeBody struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// writeEnvelope writes a refusal as the description shows it.
func (a *response) writeEnvelope(refusal *wire.Refusal) {
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
		a.writeEnvelope(wire.InternalError()) // its details can always be encoded
		return
	}
	a.replace(refusal.Status, "application/json", body)
	a.slug = refusal.Code
	if refusal.RetryAfter > 0 {
		a.header.Set("Retry-After", wholeSeconds(refusal.RetryAfter))
	}
}

// replace discards the response so far.
func (a *response) replace(status int, contentType string, body []byte) {
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
func (a *response) finish() {
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
func (a *response) send(w http.ResponseWriter, length int) bool {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	whole := length >= len(a.body)
	_, _ = w.Write(a.body[:min(length, len(a.body))]) // an error means that the caller has closed the connection
	return whole
}

// The types of problems in a failed validation. The description of the reference endpoints shows no slugs, and one
// status for both.
var (
	validationFailed = wire.ValidationFailed("").Code
	invalidRequest   = wire.InvalidRequest("").Code
)

func isValidation(refusal *wire.Refusal) bool {
	return refusal.Code == validationFailed || refusal.Code == invalidRequest
}

// writeDetails writes a failed validation in the form of the reference endpoints: an array with place, problem and
// type.
func (a *response) writeDetails(refusal *wire.Refusal) {
	location, _ := refusal.Details["location"].(string)
	if location == "" {
		location = "body"
	}
	fields, _ := refusal.Details["fields"].([]wire.Field)
	items := make([]referencewire.ValidationErrorItem, 0, max(len(fields), 1))
	for _, field := range fields {
		loc := []string{location}
		if field.Field != "" && field.Field != location {
			loc = append(loc, strings.Split(field.Field, ".")...)
		}
		items = append(items, referencewire.ValidationErrorItem{Loc: loc, Msg: field.Message, Type: field.Code})
	}
	if len(items) == 0 {
		items = append(items, referencewire.ValidationErrorItem{Loc: []string{location}, Msg: refusal.Message,
			Type: "value_error"})
	}
	body, err := json.Marshal(referencewire.HTTPValidationError{Detail: items})
	if err != nil {
		a.writeEnvelope(wire.InternalError())
		return
	}
	a.replace(http.StatusUnprocessableEntity, "application/json", body)
	a.slug = refusal.Code
}

// validateResponse reports a response that differs from the description.
func (g *Gate) validateResponse(a *response, r *http.Request, route *route, parameters map[string]string) {
	if g.violation == nil {
		return
	}
	a.finish()
	if err := g.checkResponse(r.Context(), a, r, route, parameters); err != nil {
		g.violation(route.operation, fmt.Errorf("%s returned %d: %w", route.operation, a.status, err))
	}
}

func (g *Gate) checkResponse(
	ctx context.Context, a *response, r *http.Request, route *route, parameters map[string]string,
) error {
	if a.status < http.StatusBadRequest && route.described.Operation.Responses.Status(a.status) == nil {
		return errors.New("the description has no such success")
	}
	options := *g.validation
	if response := route.described.Operation.Responses.Status(a.status); response != nil {
		media := a.header.Get("Content-Type")
		if len(response.Value.Content) > 0 && response.Value.Content.Get(media) == nil {
			return fmt.Errorf("the description has no %s", media)
		}
		options.ExcludeResponseBody = media != "application/json" // a schema says nothing about bytes
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: g.input(r, route, parameters),
		Status:                 a.status, Header: a.header, Options: &options,
	}
	return openapi3filter.ValidateResponse(ctx, input.SetBodyBytes(a.body))
}
