package errors_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// The text of an error ends with a link to the entry that says what to do.
func TestAnErrorLinksToItsEntry(t *testing.T) {
	refused := &errors.InvalidCredentials{}
	for name, tc := range map[string]struct {
		err    error
		anchor string
	}{
		"a slug":                 {&errors.Refusal{Code: errors.CodeQuoteExpired}, "quote_expired"},
		"a type without a slug":  {&errors.RateLimited{}, "rate_limited"},
		"a slug that is unknown": {&errors.Unrecognized{Refusal: errors.Refusal{Code: "teapot"}}, "errorsunrecognized"},
		"a slug that is folded": {&errors.Refusal{Code: errors.CodeContactRequiresQuote},
			"errorsunrecognized"},
		"no slug":              {&errors.DetailErrors{}, "errorsdetailerrors"},
		"invalid input":        {&errors.InvalidInput{}, "errorsinvalidinput"},
		"not delivered":        {&errors.NotDelivered{Err: context.Canceled}, "errorsnotdelivered"},
		"a login was refused":  {&errors.NotDelivered{Err: fmt.Errorf("login: %w", refused)}, "invalid_credentials"},
		"an outcome unknown":   {&errors.InDoubt{Cause: refused}, "errorsoutcomeunknown"},
		"not the service's":    {&errors.UnexpectedResponse{Status: 502}, "errorsunexpectedresponse"},
		"a cause in no type":   {&errors.NotDelivered{Err: errors.New(refused.Error())}, "errorsnotdelivered"},
		"a cause that is long": {&errors.NotDelivered{Err: errors.New(linked(280))}, "errorsnotdelivered"},
	} {
		t.Run(name, func(t *testing.T) {
			text := tc.err.Error()
			assert.True(t, strings.HasSuffix(text, " - see "+errorbase.PageAddress+"#"+tc.anchor), text)
			assert.Equal(t, 1, strings.Count(text, errorbase.PageAddress), "one link, not half of another: %s", text)
			assert.NotContains(t, text, "…")
		})
	}
}

// linked returns a text of so many bytes with a link at its end.
func linked(length int) string { return errorbase.LinkTo("not_found", strings.Repeat("x", length)) }
