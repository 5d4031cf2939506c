package report

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/moneymovement/moneymovement-go/openapi"
)

// Validator is a second reader of the description, by openapi3filter. It ignores the marks of assumptions.
type Validator struct {
	surfaces map[string]*openapi3.T
	options  *openapi3filter.Options
}

// NewValidator loads the surfaces of package openapi.
func NewValidator() (*Validator, error) {
	loader := openapi3.NewLoader()
	loader.IsExternalRefsAllowed = true
	loader.ReadFromURIFunc = func(_ *openapi3.Loader, location *url.URL) ([]byte, error) {
		return openapi.Files.ReadFile(location.Path)
	}
	v := &Validator{surfaces: map[string]*openapi3.T{}, options: &openapi3filter.Options{
		MultiError: true, IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		SchemaValidationOptions: []openapi3.SchemaValidationOption{openapi3.SetSchemaRegexCompiler(compilePattern)},
	}}
	for _, name := range []string{"dapi.yaml", "appapi.yaml", "refapi.yaml", "public.yaml"} {
		document, err := loader.LoadFromURI(&url.URL{Path: name})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		v.surfaces[name] = document
	}
	return v, nil
}

func compilePattern(pattern string) (openapi3.RegexMatcher, error) { return compile(pattern) }

// Violations returns in what a response differs from the description, without values.
func (v *Validator) Violations(x *Exchange) []string {
	if x.Operation == nil || x.Status == 0 {
		return nil
	}
	document := v.surfaces[x.Operation.Surface]
	described := x.Operation.Template
	if base := strings.TrimPrefix(document.Servers[0].URL, "{base_url}"); base != "" {
		described = strings.TrimPrefix(described, base)
	}
	item := document.Paths.Value(described)
	if item == nil {
		return []string{"no path " + described}
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: x.request, PathParams: x.Operation.PathValues(x.Path), Options: v.options,
			Route: &routers.Route{Spec: document, Path: described, PathItem: item, Method: x.Method,
				Operation: item.GetOperation(x.Method)},
		},
		Status: x.Status, Header: x.header, Options: v.options,
	}
	err := openapi3filter.ValidateResponse(context.Background(), input.SetBodyBytes(x.raw))
	return reasons(err)
}

// reasons describes an error without its quotes: responses hold credentials and personal data.
func reasons(err error) []string {
	if err == nil {
		return nil
	}
	var several openapi3.MultiError
	if errors.As(err, &several) && len(several) > 0 {
		var all []string
		for _, one := range several {
			all = append(all, reasons(one)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	var schema *openapi3.SchemaError
	if errors.As(err, &schema) {
		return []string{fmt.Sprintf("%s: %s", strings.Join(schema.JSONPointer(), "."), schema.SchemaField)}
	}
	var answer *openapi3filter.ResponseError
	if errors.As(err, &answer) {
		return []string{answer.Reason}
	}
	return []string{"cannot be validated"}
}
