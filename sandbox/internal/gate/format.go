package gate

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// decimalPattern is the description's pattern of decimal strings. It has a look-ahead, which Go's regular expressions
// do not support. decimalEquivalent matches the same strings without it.
const (
	decimalPattern    = `^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$`
	decimalEquivalent = `^[+-]?(?:\d+\.?\d*|\.\d+)$`
)

func compile(pattern string) (openapi3.RegexMatcher, error) {
	if pattern == decimalPattern {
		pattern = decimalEquivalent
	}
	return regexp.Compile(pattern)
}

// schemaOptions set the description's pattern and formats for the validation.
func schemaOptions() []openapi3.SchemaValidationOption {
	format := func(wrong string, ok func(string) bool) openapi3.StringFormatValidator {
		return openapi3.NewCallbackValidator(func(text string) error {
			if ok(text) {
				return nil
			}
			return errors.New(wrong)
		})
	}
	return []openapi3.SchemaValidationOption{
		openapi3.SetSchemaRegexCompiler(compile),
		openapi3.WithStringFormatValidators(map[string]openapi3.StringFormatValidator{
			"decimal":   format("too long", func(text string) bool { return len(text) <= wire.MaxNumberLength }),
			"byte":      format("not standard base64 with padding", isBase64),
			"date-time": format("not an RFC 3339 time", isTime),
			"date":      format("not an ISO 8601 date", isDate),
			"email":     format("not an email address", isEmail),
			"uuid":      format("not a UUID", isUUID),
		}),
	}
}

func isBase64(text string) bool {
	_, err := base64.StdEncoding.Strict().DecodeString(text)
	return err == nil && !strings.ContainsAny(text, "\r\n")
}

func isTime(text string) bool {
	_, err := time.Parse(time.RFC3339, text)
	return err == nil
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

func isUUID(text string) bool {
	return len(text) == len(uuid.Nil.String()) && uuid.Validate(text) == nil
}

// isEmail checks only what every address has. The host does not send mail.
func isEmail(text string) bool {
	local, domain, ok := strings.Cut(text, "@")
	return ok && local != "" && domain != "" && !strings.ContainsAny(domain, "@") &&
		!strings.ContainsAny(text, " \t\r\n<>\",")
}
