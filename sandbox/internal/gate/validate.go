package gate

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

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
	body, err := readable(r, route, read.Body)
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
	if wrong := route.numbers.wrong(body.text, body.members, ""); len(wrong) > 0 {
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
