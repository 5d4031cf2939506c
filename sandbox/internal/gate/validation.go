package gate

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// validation has the options of every request. Operations set the defaults themselves. Sessions were checked before.
func validation() *openapi3filter.Options {
	return &openapi3filter.Options{
		MultiError:              true,
		SkipSettingDefaults:     true,
		AuthenticationFunc:      openapi3filter.NoopAuthenticationFunc,
		SchemaValidationOptions: schemaOptions(),
	}
}

// validate checks a request by the description. A request that cannot be read is a 400. A wrong value is
// validation_failed, which names every field. validate sets the values for the operation in read.
func (g *Gate) validate(ctx context.Context, r *http.Request, route *route, read *wire.Request) (err error) {
	for name, expected := range route.ids.path {
		if err := checkID(read.Path[name], expected); err != nil {
			return err
		}
	}
	if read.Query, err = url.ParseQuery(r.URL.RawQuery); err != nil { // URL.Query drops malformed parts
		return wire.InvalidRequest("The query string is malformed.")
	}
	body, err := parseBody(r, route, read.Body)
	if err != nil {
		return err
	}
	if route.takesBody() {
		body.text = route.numbers.normalized(body.text, body.members)
		read.Body = body.text
		replaceBody(r, read.Body)
	}
	input := g.input(r, route, read.Path)
	input.QueryParams = read.Query
	err = openapi3filter.ValidateRequest(ctx, input)
	if unknown := route.unknownQuery(read.Query); err != nil || len(unknown) > 0 {
		return refusalOf(err, unknown, route)
	}
	if wrong := route.numbers.validate(body.text, body.members, ""); len(wrong) > 0 {
		return wire.ValidationFailed("", wrong...)
	}
	return nil
}

func (g *Gate) input(
	r *http.Request, route *route, parameters map[string]string,
) *openapi3filter.RequestValidationInput {
	return &openapi3filter.RequestValidationInput{
		Request: r, PathParams: parameters, Route: route.described, Options: g.validation,
	}
}

// unknownQuery returns the query parameters that the operation does not have. They are refused and not ignored.
func (r *route) unknownQuery(query url.Values) []wire.Field {
	var unknown []wire.Field
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if r.described.Operation.Parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil {
			unknown = append(unknown,
				wire.Field{Field: name, Code: "extra_forbidden", Message: "The parameter is unknown."})
		}
	}
	return unknown
}

// refusalOf turns the problems of a validation, and unknown parameters, into one refusal. A response has one location,
// so problems of the path come before those of the query, the header and the body.
func refusalOf(err error, unknown []wire.Field, route *route) error {
	var found openapi3.MultiError
	if err != nil && !errors.As(err, &found) {
		found = openapi3.MultiError{err}
	}
	byLocation := map[string][]wire.Field{openapi3.ParameterInQuery: unknown}
	for _, err := range found {
		var wrong *openapi3filter.RequestError
		if !errors.As(err, &wrong) {
			return wire.Unreadable()
		}
		if wrong.Parameter == nil {
			byLocation[""] = append(byLocation[""], fieldsOfBody(wrong)...)
			continue
		}
		if refusal := malformedParameter(wrong.Parameter, route); refusal != nil {
			return refusal
		}
		byLocation[wrong.Parameter.In] = append(byLocation[wrong.Parameter.In], fieldOfParameter(wrong))
	}
	for _, location := range []string{openapi3.ParameterInPath, openapi3.ParameterInQuery, openapi3.ParameterInHeader,
		""} {
		if fields := byLocation[location]; len(fields) > 0 {
			return wire.ValidationFailed(location, slices.Compact(fields)...) // a union's variants repeat problems
		}
	}
	return wire.Unreadable()
}

// malformedParameter is a 400 with its own slug: a malformed id or cursor.
func malformedParameter(parameter *openapi3.Parameter, route *route) error {
	if prefix := route.ids.path[parameter.Name]; prefix != "" && parameter.In == openapi3.ParameterInPath {
		return wire.InvalidID(prefix)
	}
	if parameter.Name == "cursor" {
		return wire.InvalidCursor()
	}
	return nil
}

func fieldOfParameter(wrong *openapi3filter.RequestError) wire.Field {
	field := wire.Field{Field: wrong.Parameter.Name, Code: "value_error", Message: "The value has the wrong format."}
	var several openapi3.MultiError
	if errors.Is(wrong.Err, openapi3filter.ErrInvalidRequired) {
		field.Code, field.Message = "missing", "The parameter is missing."
	} else if errors.As(wrong.Err, &several) {
		if found := fieldsOfAll(several); len(found) > 0 {
			field.Code, field.Message = found[0].Code, found[0].Message
		}
	} else if found := fieldsOf(wrong.Err); len(found) > 0 {
		field.Code, field.Message = found[0].Code, found[0].Message
	} else if wrong.Parameter.Schema != nil {
		field.Code = typeOf(wrong.Parameter.Schema.Value) + "_parsing"
	}
	return field
}

func fieldsOfBody(wrong *openapi3filter.RequestError) []wire.Field {
	fields := fieldsOf(wrong.Err)
	for i := range fields {
		fields[i].Field = cmp.Or(fields[i].Field, "body") // a list as a whole has no field name
	}
	return fields
}

// codes are the validator's codes for the description's keywords. The description names missing and extra_forbidden.
// The others come from the same vocabulary.
var codes = map[string]string{
	"required":   "missing",
	"properties": "extra_forbidden",
	"minLength":  "string_too_short",
	"maxLength":  "string_too_long",
	"pattern":    "string_pattern_mismatch",
	"enum":       "enum",
	"minimum":    "greater_than_equal",
	"maximum":    "less_than_equal",
	"minItems":   "too_short",
	"maxItems":   "too_long",
}

// formatCodes are the codes for values with a wrong format.
var formatCodes = map[string]string{
	"byte":      "bytes_invalid_encoding",
	"date":      "date_parsing",
	"date-time": "datetime_parsing",
	"decimal":   "decimal_max_digits",
	"uuid":      "uuid_parsing",
}

// fieldsOf lists the problems that a validation found, field by field.
func fieldsOf(err error) []wire.Field {
	switch err := err.(type) { //nolint:errorlint // errors.As would find only the first of several errors
	case openapi3.MultiError:
		return fieldsOfAll(err)
	case *openapi3.SchemaError:
		return fieldsOfSchema(err)
	default:
		return nil
	}
}

func fieldsOfAll(several openapi3.MultiError) []wire.Field {
	var fields []wire.Field
	for _, err := range several {
		fields = append(fields, fieldsOf(err)...)
	}
	return fields
}

// fieldsOfSchema looks into allOf, oneOf and anyOf, because their parts have the fields.
func fieldsOfSchema(err *openapi3.SchemaError) []wire.Field {
	var parts openapi3.MultiError
	if err.SchemaField != "format" && err.Origin != nil && errors.As(err.Origin, &parts) {
		return fieldsOfAll(parts)
	}
	path, reason := err.JSONPointer(), err.Reason
	switch err.SchemaField {
	case "properties":
		path = append(path, quotedName(reason))
		reason = "The field is unknown."
	case "discriminator":
		path = append(path, err.Schema.Discriminator.PropertyName)
	}
	return []wire.Field{{Field: strings.Join(path, "."), Code: codeOf(err), Message: reason}}
}

func codeOf(err *openapi3.SchemaError) string {
	switch err.SchemaField {
	case "type", "nullable":
		return typeOf(err.Schema) + "_type"
	case "format":
		if code, ok := formatCodes[err.Schema.Format]; ok {
			return code
		}
		return "value_error"
	case "discriminator":
		if err.Value == nil {
			return "union_tag_not_found"
		}
		return "union_tag_invalid"
	}
	if code, ok := codes[err.SchemaField]; ok {
		return code
	}
	return "value_error"
}

// typeOf returns the name of the expected type.
func typeOf(schema *openapi3.Schema) string {
	for _, known := range []struct{ description, word string }{
		{openapi3.TypeString, "string"}, {openapi3.TypeInteger, "int"}, {openapi3.TypeNumber, "float"},
		{openapi3.TypeBoolean, "bool"}, {openapi3.TypeArray, "list"},
	} {
		if schema.Type.Is(known.description) {
			return known.word
		}
	}
	for _, part := range schema.AllOf {
		return typeOf(part.Value)
	}
	return "dict"
}

// quotedName returns the name in a message such as: property "x" is unsupported.
func quotedName(reason string) string {
	_, rest, _ := strings.Cut(reason, " ")
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return ""
	}
	name, _ := strconv.Unquote(quoted)
	return name
}

// prefixes are the prefixes of typed ids. A contact's id may have none, so only the prefix of another type shows that
// an id is wrong.
var prefixes = [...]string{"cl_", "bnk_", "ct_", "po_", "pi_", "esc_", "tx_", "dk_"}

// idFields are an operation's typed ids: the expected prefix by field name.
type idFields struct {
	path, body map[string]string
}

// idFieldsOf reads x-id-prefix of the path parameters and of the body's members.
func idFieldsOf(operation *openapi3.Operation) idFields {
	ids := idFields{path: map[string]string{}, body: map[string]string{}}
	for _, parameter := range operation.Parameters {
		if parameter.Value.In == openapi3.ParameterInPath {
			if prefix := prefixOf(parameter.Value.Schema); prefix != "" {
				ids.path[parameter.Value.Name] = prefix
			}
		}
	}
	if operation.RequestBody == nil {
		return ids
	}
	media := operation.RequestBody.Value.Content.Get("application/json")
	if media == nil || media.Schema == nil {
		return ids
	}
	for name, property := range media.Schema.Value.Properties {
		if prefix := prefixOf(property); prefix != "" {
			ids.body[name] = prefix
		}
	}
	return ids
}

// prefixOf looks through the wrapper that adds a description to a $ref.
func prefixOf(schema *openapi3.SchemaRef) string {
	if schema == nil || schema.Value == nil {
		return ""
	}
	if prefix := extension(schema.Value.Extensions, "x-id-prefix"); prefix != "" {
		return prefix
	}
	for _, part := range schema.Value.AllOf {
		if prefix := prefixOf(part); prefix != "" {
			return prefix
		}
	}
	return ""
}

// checkID refuses an id of another type.
func checkID(id, expected string) error {
	for _, prefix := range prefixes {
		if prefix != expected && strings.HasPrefix(id, prefix) {
			return wire.InvalidID(expected)
		}
	}
	return nil
}

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
