// Package refuse has the refusals of the sandbox host: one constructor for each slug that the host sends. It
// also knows what to do about each slug, in the words of docs/errors.md.
//
// A [Refusal] is an error with its HTTP status, its slug and its details. The host writes it as the platform envelope.
// Nothing else in the host writes an error body.
package refuse

import (
	"strconv"
	"strings"
	"time"
)

// Refusal is one refusal of the host, with the parts of the platform envelope. A Refusal is immutable.
type Refusal struct {
	// Status is the HTTP status.
	Status int
	// Code is the slug.
	Code string
	// Message is one sentence that is safe to log.
	Message string
	// Details has camelCase keys. It is nil without details.
	Details map[string]any
	// RetryAfter is the wait in the Retry-After header, in whole seconds, or zero.
	RetryAfter time.Duration
}

// Error returns status, slug and message, and what is wrong with each field.
func (r *Refusal) Error() string {
	var text strings.Builder
	text.WriteString(strconv.Itoa(r.Status) + " " + r.Code + ": " + r.Message)
	fields, _ := r.Details["fields"].([]Field)
	for _, field := range fields {
		text.WriteString(" " + field.Field + ": " + field.Message)
	}
	return text.String()
}

// Is reports whether target is a refusal with the same slug, so that errors.Is compares slugs.
func (r *Refusal) Is(target error) bool {
	other, ok := target.(*Refusal)
	return ok && other != nil && other.Code == r.Code
}

// Field is one entry of validation_failed's details.fields.
type Field struct {
	// Field is the name on the wire. Nested names are joined by dots.
	Field string `json:"field"`
	// Code is the validator's code, such as missing, amount_precision or extra_forbidden.
	Code string `json:"code"`
	// Message is one sentence.
	Message string `json:"message"`
}

// Blocker is one entry of details.blockers and of a contact's capabilities. Its codes are not slugs.
type Blocker struct {
	// Code is a word from the codes of blockers.
	Code string `json:"code"`
	// Message is one sentence.
	Message string `json:"message"`
	// Field is the field that the blocker is about, if there is one.
	Field string `json:"field,omitempty"`
}
