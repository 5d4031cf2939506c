package report

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/openapi"
)

// judgeResponse compares a response with the described response of the same status.
func judgeResponse(x *Exchange, findings *[]Finding) {
	w := &walk{exchange: x, side: ofResponse, findings: findings}
	o := x.Operation
	described, exact := o.Response(x.Status)
	if x.Accepted() {
		w.accepted(described, exact)
	} else {
		w.refused()
	}
	if !described.Exists() || x.Accepted() && !exact {
		return
	}
	at := &level{layers: described.Layers()}
	w.headers(described.Target())
	before := w.failures
	w.body(at, described.Target().At("content"))
	if w.failures > before {
		return
	}
	for _, layer := range at.layers {
		w.confirm(layer, "", kind(x.Response), "")
	}
	if x.Accepted() {
		w.confirm(o.Node, "", kind(x.Response), "answer", "resource")
	}
}

// accepted judges what a success shows about the operation itself.
func (w *walk) accepted(described wire.Node, exact bool) {
	o, status := w.exchange.Operation, http.StatusText(w.exchange.Status)
	w.confirm(o.Root, "", status, "servers")
	w.confirm(o.Node, "", status, "")
	if exact {
		w.confirm(o.Node, "status", status, "status")
		return
	}
	w.failures++
	seen := observation{status, fmt.Sprintf("describe the answer under '%d' in `responses`", w.exchange.Status)}
	if w.contradict(o.Node, "status", seen, "status") {
		return
	}
	for code, other := range o.Node.At("responses").Members() {
		if code != "default" && w.contradict(other, "status", seen, "") {
			return
		}
	}
	w.unassumed("status", seen)
}

// refused judges what a refusal shows about the operation: that it does not exist, or that it has other slugs.
func (w *walk) refused() {
	o := w.exchange.Operation
	switch w.exchange.Status {
	case http.StatusMethodNotAllowed, http.StatusNotFound:
		verdict := contradictedUnlessConfirmed
		names := len(o.PathValues(w.exchange.Path)) > 0 || w.exchange.ActsFor() != "" // something that may not be there
		if w.exchange.Slug == string(errors.CodeNotFound) && names {
			verdict = ambiguous
		}
		for _, mark := range o.Node.Marks() {
			if mark.Aspect == "" {
				w.note(mark, verdict, "status",
					observation{http.StatusText(w.exchange.Status), "correct the path or the method of " + o.ID +
						", or take it out"})
			}
		}
		for _, mark := range o.Root.Marks() {
			if mark.Aspect == "servers" {
				w.note(mark, verdict, "status",
					observation{http.StatusText(w.exchange.Status), "correct `url` of `servers`"})
			}
		}
	}
	if w.exchange.Slug == "" {
		return
	}
	switch {
	case !slices.Contains(errors.Codes(), errors.Code(w.exchange.Slug)):
		w.note(nil, Contradicted, "error.code",
			observation{"a slug that the catalogue does not have", "add the slug to errors.yaml"})
	case slices.Contains(o.Slugs(), w.exchange.Slug):
		w.confirm(o.Root, "error.code", w.exchange.Slug, "x-slugs")
	default: // on some surfaces the slugs of each operation are assumed and not stated
		edit := fmt.Sprintf("add %s to `x-slugs` of %s", w.exchange.Slug, o.ID)
		w.contradict(o.Root, "error.code", observation{w.exchange.Slug, edit}, "x-slugs")
	}
	w.scope()
}

// scope judges the scope that a refusal requires.
func (w *walk) scope() {
	required := text(member(member(w.exchange.Response, "error"), "details"), "requiredScope")
	if required == "" {
		return
	}
	if o := w.exchange.Operation; required == o.Node.At("x-scope").Text() {
		w.confirm(o.Root, "error.details.requiredScope", required, "x-scope")
	} else {
		w.contradict(o.Root, "error.details.requiredScope",
			observation{required, fmt.Sprintf("`x-scope: %s` of %s", required, o.ID)}, "x-scope")
	}
}

func (w *walk) headers(described wire.Node) {
	for name, header := range described.At("headers").Members() {
		if value := w.exchange.header.Get(name); value != "" {
			layers := append(header.Layers(), header.Target().At("schema").Layers()...)
			w.value(&level{layers: layers}, "header "+name, ofText(layers, value))
		}
	}
}

// body compares the body with the described content. If no content is described, there must be no body.
func (w *walk) body(at *level, content wire.Node) {
	media, _, err := mime.ParseMediaType(w.exchange.header.Get("Content-Type"))
	switch {
	case !content.Exists() && len(w.exchange.raw) == 0:
	case !content.Exists():
		w.fail(at, aspect{name: "mediaType", layer: len(at.layers) - 1, want: "no body"}, "body", w.exchange.Response)
	case err != nil || !content.At(media).Exists():
		w.fail(at, aspect{name: "mediaType", layer: len(at.layers) - 1, want: "of the described media type"},
			"content type", media)
	case media == "application/json" && w.exchange.Response == nil && string(w.exchange.raw) != "null":
		w.fail(at, aspect{name: "mediaType", layer: len(at.layers) - 1, want: "JSON"}, "body", string(w.exchange.raw))
	default:
		for _, layer := range at.layers {
			w.confirm(layer, "content type", media, "mediaType")
		}
		if media == "application/json" {
			w.value(&level{content.At(media, "schema").Layers(), at}, "", w.exchange.Response)
		}
	}
}

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
	var response *openapi3filter.ResponseError
	if errors.As(err, &response) {
		return []string{response.Reason}
	}
	return []string{"cannot be validated"}
}
