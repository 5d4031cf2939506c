package refuse

import (
	"net/http"
	"strconv"
	"time"
)

// InvalidRequest is 400 invalid_request: a mistake that no single field covers.
func InvalidRequest(message string) *Refusal {
	return &Refusal{Status: http.StatusBadRequest, Code: "invalid_request", Message: message}
}

// Unreadable is 400 invalid_request for a request that cannot be read.
func Unreadable() *Refusal { return InvalidRequest("The request cannot be read.") }

// ValidationFailed is 422 validation_failed with details.fields. The location is "query", "path" or "header" if the
// mistake is outside the body, else "".
func ValidationFailed(location string, fields ...Field) *Refusal {
	details := map[string]any{"fields": fields}
	if location != "" {
		details["location"] = location
	}
	return &Refusal{
		Status:  http.StatusUnprocessableEntity,
		Code:    "validation_failed",
		Message: "One or more fields are wrong.",
		Details: details,
	}
}

// InvalidField is validation_failed for one field of the body.
func InvalidField(field, code, message string) *Refusal {
	return ValidationFailed("", Field{Field: field, Code: code, Message: message})
}

// InvalidCursor is 400 invalid_cursor: the cursor belongs to another query or sort order.
func InvalidCursor() *Refusal {
	return &Refusal{
		Status:  http.StatusBadRequest,
		Code:    "invalid_cursor",
		Message: "The cursor belongs to another query; list again without a cursor.",
	}
}

// InvalidID is 400 invalid_id: the id is that of another type.
func InvalidID(expectedPrefix string) *Refusal {
	return &Refusal{
		Status:  http.StatusBadRequest,
		Code:    "invalid_id",
		Message: "The id comes from another namespace.",
		Details: map[string]any{"expectedPrefix": expectedPrefix},
	}
}

// IdempotencyKeyInvalid is 400 idempotency_key_invalid: the header does not match the pattern.
func IdempotencyKeyInvalid() *Refusal {
	return &Refusal{
		Status:  http.StatusBadRequest,
		Code:    "idempotency_key_invalid",
		Message: "The Idempotency-Key must match ^[A-Za-z0-9._:-]{1,128}$.",
	}
}

// IdempotencyKeyReused is 409 idempotency_key_reused: the same key with other terms. owner is the member of details
// with the id of the key's resource, "payoutId" or "escrowId", or "" if the key belongs to neither.
func IdempotencyKeyReused(owner, id string) *Refusal {
	refusal := &Refusal{
		Status:  http.StatusConflict,
		Code:    "idempotency_key_reused",
		Message: "The idempotency key was used before with different terms.",
	}
	if owner != "" {
		refusal.Details = map[string]any{owner: id}
	}
	return refusal
}

// NotFound is 404 not_found: there is no such resource, or it belongs to someone else.
func NotFound() *Refusal {
	return &Refusal{Status: http.StatusNotFound, Code: "not_found", Message: "There is no such resource."}
}

// MethodNotAllowed is 405 method_not_allowed.
func MethodNotAllowed() *Refusal {
	return &Refusal{Status: http.StatusMethodNotAllowed, Code: "method_not_allowed",
		Message: "The path does not accept this method."}
}

// Conflict is 409 conflict: the state does not allow the request, and no other slug fits.
func Conflict(message string) *Refusal {
	return &Refusal{Status: http.StatusConflict, Code: "conflict", Message: message}
}

// Gone is 410 gone: the resource is no longer available.
func Gone(message string) *Refusal {
	return &Refusal{Status: http.StatusGone, Code: "gone", Message: message}
}

// PayloadTooLarge is 413 payload_too_large.
func PayloadTooLarge() *Refusal {
	return &Refusal{Status: http.StatusRequestEntityTooLarge, Code: "payload_too_large",
		Message: "The body is too large."}
}

// RateLimited is 429 rate_limited; the wait becomes Retry-After.
func RateLimited(wait time.Duration) *Refusal {
	return &Refusal{
		Status:     http.StatusTooManyRequests,
		Code:       "rate_limited",
		Message:    "There were too many calls in the rate window.",
		RetryAfter: wait,
	}
}

// Full is 409 conflict: the host keeps as many records as its settings allow. The service has no such rule.
func Full(limit int) *Refusal {
	return Conflict("The host keeps as many records as its setting maxRecords allows, " + strconv.Itoa(limit) +
		": raise it, let the setting forgetFinishedAfter forget finished payouts, or reset the host.")
}

// InternalError is 500 internal_error. The host adds details.requestId, as on every 5xx.
func InternalError() *Refusal {
	return &Refusal{Status: http.StatusInternalServerError, Code: "internal_error", Message: "The service failed."}
}

// ProviderUnavailable is 503 provider_unavailable: a partner is down, or the faucet cannot pay.
func ProviderUnavailable(message string) *Refusal {
	return &Refusal{Status: http.StatusServiceUnavailable, Code: "provider_unavailable", Message: message}
}

// DatabaseUnavailable is 503 database_unavailable.
func DatabaseUnavailable() *Refusal {
	return &Refusal{
		Status: http.StatusServiceUnavailable, Code: "database_unavailable",
		Message: "The service's database is unavailable; retry with backoff.",
	}
}
