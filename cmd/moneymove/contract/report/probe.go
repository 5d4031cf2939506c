package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// Probe is an accepted request, changed so that it does not meet one assumed demand.
type Probe struct {
	Of     *Exchange
	Field  string // such as "items", "query limit"
	Aspect string
	Change Change
}

// Name says which demand is not met, and where.
func (p Probe) Name() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Of.Name(), p.Field, p.Aspect))
}

// AssumesRepetition reports whether the description assumes something about repeating this request.
func AssumesRepetition(x *Exchange) bool { return hasMark(x, "idempotency") }

// Probes makes one probe for each assumed demand on a request, from the first accepted request that meets it. It makes
// none for the demands on ids and choices, and for demands of several schemas at once.
func Probes(description *wire.Description, exchanges []*Exchange) []Probe {
	var probes []Probe
	seen := map[string]bool{}
	for _, x := range exchanges {
		if x.Operation == nil || x.Scripted || !x.Accepted() {
			continue
		}
		for _, p := range slices.Concat(parameterProbes(x), bodyProbes(x)) {
			if !seen[p.Name()] {
				seen[p.Name()] = true
				probes = append(probes, p)
			}
		}
	}
	return probes
}

func parameterProbes(x *Exchange) (probes []Probe) {
	for _, parameter := range x.Operation.Parameters() {
		if parameter.At("in").Text() != "query" {
			continue
		}
		name := parameter.At("name").Text()
		layers := append(parameter.Layers(), parameter.At("schema").Layers()...)
		for _, aspect := range assumedDemands(layers) {
			if value, possible := spoiled(layers, aspect, json.Number("1")); possible {
				query := url.Values{}
				maps.Copy(query, x.Query)
				query.Set(name, fmt.Sprint(value))
				probes = append(probes, Probe{x, "query " + name, aspect, Change{Query: query}})
			}
		}
	}
	return probes
}

func bodyProbes(x *Exchange) (probes []Probe) {
	body := x.Operation.Body()
	if !body.Exists() || x.Sent == nil {
		return nil
	}
	visit(&level{layers: body.Layers()}, "", x.Sent,
		func(at *level, field string, value any, replace func(any, bool) any) {
			add := func(aspect string, value any, keep bool) {
				if changed, err := json.Marshal(replace(value, keep)); err == nil {
					probes = append(probes, Probe{x, field, aspect, Change{Body: changed}})
				}
			}
			for _, aspect := range assumedDemands(at.layers) {
				if value, possible := spoiled(at.layers, aspect, value); possible {
					add(aspect, value, true)
				}
			}
			name := field[strings.LastIndex(field, ".")+1:]
			if at.parent != nil && wire.Required(at.around(), name) &&
				(marked(at.layers[:1], "required") || marked(at.around(), "required")) {
				add("required", nil, false)
			}
		})
	return probes
}

// visit calls f for each value of a body, the body itself first. replace returns the body with that value replaced or
// removed.
func visit(
	at *level, field string, value any,
	f func(at *level, field string, value any, replace func(value any, keep bool) any),
) {
	visitBelow(at, field, value, func(value any, _ bool) any { return value }, f)
}

func visitBelow(
	at *level, field string, value any, replace func(any, bool) any, f func(*level, string, any, func(any, bool) any),
) {
	(&walk{exchange: &Exchange{}, side: ofRequest, findings: &[]Finding{}}).matchVariant(at, field, value)
	f(at, field, value, replace)
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if property, described := wire.Property(at.layers, name); described {
				visitBelow(&level{property.Layers(), at}, join(field, name), v[name], func(changed any, keep bool) any {
					object := maps.Clone(v)
					if object[name] = changed; !keep {
						delete(object, name)
					}
					return replace(object, true)
				}, f)
			}
		}
	case []any:
		if len(v) == 0 {
			return
		}
		var items []wire.Node
		for _, layer := range at.layers {
			items = append(items, layer.At("items").Layers()...)
		}
		if len(items) > 0 {
			visitBelow(&level{items, at}, field+"[0]", v[0], func(changed any, _ bool) any {
				list := slices.Clone(v)
				list[0] = changed
				return replace(list, true)
			}, f)
		}
	}
}

func marked(layers []wire.Node, aspect string) bool {
	return slices.ContainsFunc(layers, func(layer wire.Node) bool {
		return slices.ContainsFunc(layer.Marks(), func(mark *wire.Assumption) bool { return mark.Aspect == aspect })
	})
}

var demands = []string{"minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "positive", "pattern"}

func assumedDemands(layers []wire.Node) (assumed []string) {
	for _, aspect := range demands {
		if marked(layers, aspect) {
			assumed = append(assumed, aspect)
		}
	}
	return assumed
}

// spoiled returns a value that breaks one demand and meets all others, if there is such a value.
func spoiled(layers []wire.Node, demand string, value any) (any, bool) {
	for _, candidate := range candidates(layers, demand, value) {
		var broken []string
		for _, a := range aspectsOf(layers, candidate) {
			if !a.ok {
				broken = append(broken, a.name)
			}
		}
		if len(broken) == 1 && broken[0] == demand {
			return candidate, true
		}
	}
	return nil, false
}

// candidates returns values that may break one demand alone.
func candidates(layers []wire.Node, demand string, value any) []any {
	bound := 0
	for _, layer := range layers {
		if n, is := layer.At(demand).Int(); is {
			bound = n
		}
	}
	v, isText := value.(string)
	switch demand {
	case "minLength":
		return []any{strings.Repeat("a", max(bound-1, 0)), strings.Repeat("A", max(bound-1, 0))}
	case "maxLength":
		filler := strings.Repeat("a", bound)
		return []any{filler + v, v + filler, strings.Repeat("A", bound+4-bound%4), strings.ToUpper(filler) + "A"}
	case "minimum":
		return []any{json.Number(fmt.Sprint(bound - 1))}
	case "maximum":
		return []any{json.Number(fmt.Sprint(bound + 1))}
	case "minItems":
		return []any{[]any{}}
	case "positive":
		if isText {
			return []any{"-1"}
		}
		return []any{json.Number("-1")}
	case "pattern":
		return []any{v + "!", strings.ToLower(v), "!!!"}
	}
	return nil
}

// judgeRepeats compares requests that were sent twice, for operations whose repetition is assumed to be harmless or
// harmful.
func judgeRepeats(exchanges []*Exchange, findings *[]Finding) {
	for i, second := range exchanges {
		if !hasMark(second, "idempotency") || second.Scripted || !second.showsHandling() {
			continue
		}
		for _, first := range exchanges[:i] {
			if first.Operation == second.Operation && !first.Scripted && first.Accepted() && first.equals(second) {
				judgeRepeat(first, second, findings)
				break
			}
		}
	}
}

func hasMark(x *Exchange, aspect string) bool {
	if x.Operation == nil {
		return false
	}
	for _, mark := range x.Operation.Node.Marks() {
		if mark.Aspect == aspect {
			return true
		}
	}
	return false
}

// showsHandling reports a response that shows how the repeat was handled: a success, or that there is nothing left to
// do.
func (x *Exchange) showsHandling() bool {
	return x.Accepted() || x.Status == http.StatusNotFound || x.Status == http.StatusConflict ||
		x.Status == http.StatusGone
}

func (x *Exchange) equals(other *Exchange) bool {
	return x.request.URL.Host == other.request.URL.Host && x.Path == other.Path &&
		x.request.URL.RawQuery == other.request.URL.RawQuery && bytes.Equal(x.body, other.body) &&
		x.ActsFor() == other.ActsFor()
}

// judgeRepeat contradicts only if a repeat did harm. A harmless repeat does not show that all repeats are harmless.
func judgeRepeat(first, second *Exchange, findings *[]Finding) {
	w := &walk{exchange: second, side: ofResponse, findings: findings}
	operation := second.Operation.Node
	another := second.Accepted() && createdIDs(first.Response) != createdIDs(second.Response)
	harmless := operation.At("x-idempotency").Text() != "none"
	switch {
	case harmless && another && makesPrice(second):
		w.confirm(operation, "quoteId", "a repeat priced anew", "idempotency")
	case harmless && another:
		w.contradict(operation, "id", observation{"a repeat made another one", "`x-idempotency: none`"}, "idempotency")
	case harmless:
		w.confirm(operation, "id", "a repeat made nothing new", "idempotency")
	case another:
		w.confirm(operation, "id", "a repeat made another one", "idempotency")
	}
}

// makesPrice reports that a repeat creates only a quote. A price moves no money.
func makesPrice(x *Exchange) bool { return text(x.Response, "quoteId") != "" }

// createdIDs returns the ids in a response: its own, or else those of its entries.
func createdIDs(response any) (ids string) {
	if own := text(response, "id") + text(response, "quoteId"); own != "" {
		return own
	}
	entries, isList := response.([]any)
	if !isList {
		entries, _ = member(response, "items").([]any)
	}
	for _, entry := range entries {
		ids += text(entry, "id") + " "
	}
	return ids
}
