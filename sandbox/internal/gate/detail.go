package gate

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// The types of problems in a failed validation. The description of the reference endpoints shows no slugs, and one
// status for both.
var (
	validationFailed = wire.ValidationFailed("").Code
	invalidRequest   = wire.InvalidRequest("").Code
)

func isValidation(refusal *wire.Refusal) bool {
	return refusal.Code == validationFailed || refusal.Code == invalidRequest
}

// detail writes a failed validation in the form of the reference endpoints: an array with place, problem and type.
func (a *answer) detail(refusal *wire.Refusal) {
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
		a.envelope(wire.InternalError())
		return
	}
	a.replace(http.StatusUnprocessableEntity, "application/json", body)
	a.slug = refusal.Code
}
