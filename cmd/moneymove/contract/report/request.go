package report

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// judgeRequest learns from the response to a request. If the request succeeded, its values may be sent. If it failed
// the service's validation, the refusal shows which demands the service really has.
func judgeRequest(x *Exchange, findings *[]Finding) {
	w := &walk{exchange: x, side: ofRequest, findings: findings}
	switch {
	case x.Accepted():
		w.confirmSent()
	case x.Status == http.StatusUnprocessableEntity || x.Status == http.StatusBadRequest:
		for _, f := range fieldErrors(x.Response) {
			w.complaint(f)
		}
	}
}

func (w *walk) confirmSent() {
	o := w.exchange.Operation
	for _, parameter := range o.Parameters() {
		value, given := w.parameter(parameter)
		if !given {
			w.byDefault(parameter)
			continue
		}
		layers := append(parameter.Layers(), parameter.At("schema").Layers()...)
		w.value(&level{layers: layers}, parameter.At("in").Text()+" "+parameter.At("name").Text(),
			ofText(layers, value))
	}
	if len(w.exchange.Query) > 0 {
		w.confirm(o.Node, "query", "taken", "query")
	}
	if body := o.Body(); body.Exists() && w.exchange.Sent != nil {
		w.value(&level{layers: body.Layers()}, "", w.exchange.Sent)
	}
	w.confirm(o.Node, "body", "taken", "body")
}

// parameter returns the value of one parameter in the request.
func (w *walk) parameter(described wire.Node) (value string, present bool) {
	name := described.At("name").Text()
	switch described.At("in").Text() {
	case "path":
		value, present = w.exchange.Operation.PathValues(w.exchange.Path)[name]
	case "query":
		value, present = w.exchange.Query.Get(name), w.exchange.Query.Has(name)
	case "header":
		value = w.exchange.request.Header.Get(name)
		present = value != ""
	}
	return value, present
}

// byDefault looks at a page of a request without a limit. If there are further pages, the length of this page is the
// default limit.
func (w *walk) byDefault(parameter wire.Node) {
	length, described := parameter.At("schema", "default").Int()
	items, isList := member(w.exchange.Response, "items").([]any)
	total, err := strconv.Atoi(fmt.Sprint(member(w.exchange.Response, "total")))
	if parameter.At("name").Text() != "limit" || !described || !isList || err != nil || total <= length ||
		w.exchange.Query.Has("offset") {
		return
	}
	seen := fmt.Sprintf("%d of %d entries without a limit", len(items), total)
	if len(items) == length {
		w.confirm(parameter, "query limit", seen, "default")
	} else {
		w.contradict(parameter, "query limit", observation{seen, fmt.Sprintf("`default: %d`", len(items))}, "default")
	}
}

// fieldError is one problem in a validator's refusal.
type fieldError struct{ location, field, code string }

// fieldErrors reads the problems of a failed validation, in both shapes.
func fieldErrors(response any) []fieldError {
	var all []fieldError
	details := member(member(response, "error"), "details")
	listed, _ := member(details, "fields").([]any)
	for _, entry := range listed {
		all = append(all, fieldError{text(details, "location"), text(entry, "field"), text(entry, "code")})
	}
	items, _ := member(response, "detail").([]any)
	for _, item := range items {
		loc, _ := member(item, "loc").([]any)
		if len(loc) == 0 {
			continue
		}
		f := fieldError{code: text(item, "type")}
		if first := fmt.Sprint(loc[0]); first != "body" {
			f.location = first
		}
		for _, step := range loc[1:] {
			if _, err := strconv.Atoi(fmt.Sprint(step)); err == nil {
				f.field += fmt.Sprintf("[%s]", step)
			} else {
				f.field = join(f.field, fmt.Sprint(step))
			}
		}
		all = append(all, f)
	}
	return all
}

// complaint judges one problem. It confirms a described demand, and contradicts a name that the service does not know.
func (w *walk) complaint(f fieldError) {
	at, value, present := w.place(f)
	if at == nil {
		if f.code == "missing" {
			w.unassumed(f.field,
				observation{"demanded, and not described",
					fmt.Sprintf("add `%s` to `properties` and to `required`", lastStep(f.field))})
		}
		return
	}
	property := at.layers[0]
	switch {
	case f.code == "missing" && !present:
		w.demanded(at, f)
	case f.code == "extra_forbidden" && present:
		w.failures++
		seen := observation{"unknown to the service", fmt.Sprintf("take `%s` out", lastStep(f.field))}
		for _, layer := range slices.Concat(at.layers, at.around()) {
			if w.contradict(layer, f.field, seen, "", "fieldNames") {
				return
			}
		}
		w.contradict(w.exchange.Operation.Node, f.field, seen, "query", "body")
	case present:
		w.violated(at, f, value)
	default:
		w.confirm(property, f.field, f.code, "required")
	}
}

// demanded judges a member that the service reports as missing.
func (w *walk) demanded(at *level, f fieldError) {
	name := lastStep(f.field)
	if at.layers[0].At("required").True() || wire.Required(at.around(), name) {
		w.confirm(at.layers[0], f.field, "demanded", "required")
		for _, layer := range at.around() {
			w.confirm(layer, f.field, "demanded", "required")
		}
		return
	}
	edit := fmt.Sprintf("add `%s` to `required`", name)
	for _, layer := range slices.Concat(at.layers[:1], at.around()) {
		if w.contradict(layer, f.field, observation{"demanded by the service", edit}, "", "required") {
			return
		}
	}
	w.unassumed(f.field, observation{"demanded by the service, and not described so", edit})
}

// violated confirms a demand that the value does not meet, if it is the only such demand.
func (w *walk) violated(at *level, f fieldError, value any) {
	var broken []aspect
	for _, a := range aspectsOf(at.layers, value) {
		if !a.ok {
			broken = append(broken, a)
		}
	}
	if len(broken) == 1 {
		w.confirmDemand(at.layers, broken[0], f.field, "refused as "+f.code)
	}
}

// lastStep returns the member at the end of a field's name.
func lastStep(field string) string { return field[strings.LastIndexAny(field, ".")+1:] }

// around returns the layers of the place that holds this one.
func (l *level) around() []wire.Node {
	if l.parent == nil {
		return nil
	}
	return l.parent.layers
}

var step = regexp.MustCompile(`[^.\[\]]+`)

// place returns the described place of a problem, or nil.
func (w *walk) place(f fieldError) (at *level, value any, present bool) {
	if f.location != "" {
		for _, parameter := range w.exchange.Operation.Parameters() {
			if parameter.At("name").Text() == f.field && parameter.At("in").Text() == f.location {
				layers := append(parameter.Layers(), parameter.At("schema").Layers()...)
				text, present := w.parameter(parameter)
				return &level{layers: layers}, ofText(layers, text), present
			}
		}
		return nil, nil, false
	}
	body := w.exchange.Operation.Body()
	if !body.Exists() {
		return nil, nil, false
	}
	at, value, present = &level{layers: body.Layers()}, w.exchange.Sent, w.exchange.Sent != nil
	silent := &walk{exchange: w.exchange, side: ofRequest, findings: &[]Finding{}}
	for _, name := range step.FindAllString(f.field, -1) {
		silent.matchVariant(at, "", value)
		at, value, present = below(at, value, name)
		if at == nil {
			return nil, nil, false
		}
	}
	return at, value, present
}

// below goes one step down, into an object or a list.
func below(at *level, value any, name string) (*level, any, bool) {
	if list, is := value.([]any); is {
		index, err := strconv.Atoi(name)
		var items []wire.Node
		for _, layer := range at.layers {
			items = append(items, layer.At("items").Layers()...)
		}
		if err != nil || index < 0 || index >= len(list) || len(items) == 0 {
			return nil, nil, false
		}
		return &level{items, at}, list[index], true
	}
	property, described := wire.Property(at.layers, name)
	if !described {
		return nil, nil, false
	}
	object, _ := value.(map[string]any)
	member, present := object[name]
	return &level{property.Layers(), at}, member, present
}
