package report

import (
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// Verdict is what responses show about an assumption.
type Verdict string

// The verdicts. If any response contradicts an assumption, it is contradicted, whatever others show.
const (
	Confirmed    Verdict = "confirmed"
	Contradicted Verdict = "contradicted"
	Open         Verdict = "open"
	// contradictedUnlessConfirmed is for another value in place of an assumed one: it contradicts, unless another
	// response confirms the assumed one.
	contradictedUnlessConfirmed Verdict = "contradicted unless confirmed"
	// ambiguous stays open: the service may lack the operation, or only the resource.
	ambiguous Verdict = "ambiguous"
	// openWithHint stays open: an undescribed field was seen, and an assumed field beside it was missing.
	openWithHint Verdict = "hinted"
	// undescribed contradicts nothing: the description shows most resources in part.
	undescribed Verdict = "undescribed"
)

// Finding is one piece of evidence. Its quotes are redacted.
type Finding struct {
	// Assumption is nil for a stated fact: then the finding is a deviation.
	Assumption *wire.Assumption `json:"-"`
	Verdict    Verdict          `json:"-"`
	Operation  string           `json:"operation"`        // such as "dapi BookPayout"
	Status     int              `json:"status,omitempty"` // of the response
	Field      string           `json:"field"`            // such as "answer quote.fee"
	Seen       string           `json:"seen"`             // what the response had
	Response   string           `json:"answer,omitempty"` // the whole response, if it contradicts
	// the edit that makes the description true, if the response contradicts it
	Edit string `json:"-"`
}

// observation is what was seen, and the edit that makes the description true.
type observation struct{ seen, edit string }

// side is request or response.
type side string

const (
	ofResponse side = "answer"
	ofRequest  side = "request"
)

// level is the place of a description for a value, within the places around it.
type level struct {
	layers []wire.Node
	parent *level
}

// walk compares one side of one exchange with its description.
type walk struct {
	exchange *Exchange
	side     side
	findings *[]Finding
	failures int // so far
}

func (w *walk) note(a *wire.Assumption, v Verdict, field string, seen observation) {
	name := string(w.side)
	if field != "" {
		name += " " + field
	}
	f := Finding{Assumption: a, Verdict: v, Operation: w.exchange.Name(), Status: w.exchange.Status, Field: name,
		Seen: seen.seen}
	if v != Confirmed {
		f.Response, f.Edit = Redacted(w.exchange.Response), seen.edit
	}
	*w.findings = append(*w.findings, f)
}

// confirm notes every mark of a node that covers one of the aspects.
func (w *walk) confirm(node wire.Node, field, seen string, aspects ...string) {
	for _, mark := range node.Marks() {
		for _, aspect := range aspects {
			if mark.Aspect == aspect {
				w.note(mark, Confirmed, field, observation{seen: seen})
			}
		}
	}
}

// confirmDemand notes the marks that cover a demand, at its own layer and at the layers that lead there.
func (w *walk) confirmDemand(layers []wire.Node, a aspect, field, seen string) {
	for _, layer := range layers[:a.layer+1] {
		w.confirm(layer, field, seen, a.name)
	}
}

// contradict notes every mark of a node that covers one of the aspects, and reports whether there is such a mark.
func (w *walk) contradict(node wire.Node, field string, seen observation, aspects ...string) (noted bool) {
	for _, mark := range node.Marks() {
		for _, aspect := range aspects {
			if mark.Aspect == aspect {
				w.note(mark, Contradicted, field, seen)
				noted = true
			}
		}
	}
	return noted
}

// unassumed contradicts the operation's assumed response or body. If these are stated, it notes a deviation from a
// stated fact. The mark "answer" of an operation assumes the shape of its response. The mark "resource" assumes which
// resource it returns.
func (w *walk) unassumed(field string, seen observation) {
	aspects := []string{"answer", "resource"}
	if w.side == ofRequest {
		aspects = []string{"body"}
	}
	if w.exchange.Operation == nil || !w.contradict(w.exchange.Operation.Node, field, seen, aspects...) {
		w.note(nil, Contradicted, field, seen)
	}
}

// value compares a value with its schemas. A value that fits confirms the assumptions about it. A value that does not
// fit contradicts the nearest assumption.
func (w *walk) value(at *level, field string, value any) {
	w.matchVariant(at, field, value)
	if value == nil {
		w.null(at, field)
		return
	}
	before := w.failures
	aspects := aspectsOf(at.layers, value)
	for _, a := range aspects {
		if !a.ok {
			w.fail(at, a, field, value)
		}
	}
	switch v := value.(type) {
	case map[string]any:
		w.object(at, field, v)
	case []any:
		w.list(at, field, v)
	}
	if w.failures == before {
		w.fits(at, aspects, field, value)
	}
}

const notNull = "not null"

func (w *walk) null(at *level, field string) {
	for _, layer := range at.layers {
		if layer.At("nullable").True() {
			for _, layer := range at.layers {
				w.confirm(layer, field, "null", "nullable")
			}
			return
		}
	}
	w.fail(at, aspect{name: "type", layer: len(at.layers) - 1, want: notNull}, field, nil)
}

// fits confirms the assumptions about a value as a whole, about its type, and about each demand that it meets. An
// accepted request shows that its values may be sent. It does not show where the bounds are.
func (w *walk) fits(at *level, aspects []aspect, field string, value any) {
	seen := sample(at.layers, value)
	for _, layer := range at.layers {
		w.confirm(layer, field, seen, "", "type", "format", "items", "values")
		if v, is := value.(string); is {
			w.confirm(layer, field, seen, "value "+v)
		}
	}
	for _, a := range aspects {
		if a.name != "type" && a.name != "format" && w.side == ofResponse {
			w.confirmDemand(at.layers, a, field, seen)
		}
	}
}

// covering returns the aspects under which a mark covers a failed demand. A mark of the whole covers every demand.
var covering = map[string][]string{
	"type": {"", "type"}, "format": {"", "format", "type"}, "pattern": {"", "pattern", "type"},
	"enum": {"", "values", "type"},
}

func coversOf(name string) []string {
	if aspects, known := covering[name]; known {
		return aspects
	}
	return []string{"", name}
}

// fail contradicts the nearest assumption about a value that does not fit. It looks at the schema with the demand, at
// the schemas that lead there, and at the places around.
func (w *walk) fail(at *level, a aspect, field string, value any) {
	w.failures++
	seen := kind(value) + ", not " + a.want
	if v, is := value.(string); is && a.name == "enum" && isWord(v) {
		seen = fmt.Sprintf("%q, not %s", v, a.want)
	}
	w.blame(at, a, field, observation{seen, editFor(a, at.layers[a.layer], value)})
}

func (w *walk) blame(at *level, a aspect, field string, seen observation) {
	for i := a.layer; i >= 0; i-- {
		if i == a.layer-1 && a.want != notNull {
			seen.edit += ", in the place of the reference" // other references use the same schema
		}
		if w.contradict(at.layers[i], field, seen, coversOf(a.name)...) || a.name == "enum" &&
			w.contradictValues(at.layers[i], field, seen) {
			return
		}
	}
	w.blameAround(at, field, seen, "fieldTypes", "type", "")
}

// blameAround contradicts the nearest assumption at the places around. If there is none, it contradicts the operation's
// response, or notes a deviation from a stated fact.
func (w *walk) blameAround(at *level, field string, seen observation, aspects ...string) {
	for around := at.parent; around != nil; around = around.parent {
		for _, layer := range slices.Backward(around.layers) {
			if w.contradict(layer, field, seen, aspects...) {
				return
			}
		}
	}
	w.unassumed(field, seen)
}

// contradictValues contradicts the assumed values of an enumeration in which another value was seen: any of them may
// have that other spelling.
func (w *walk) contradictValues(layer wire.Node, field string, seen observation) (noted bool) {
	for _, mark := range layer.Marks() {
		if _, is := mark.Value(); is {
			w.note(mark, contradictedUnlessConfirmed, field, seen)
			noted = true
		}
	}
	return noted
}

func (w *walk) object(at *level, field string, object map[string]any) {
	before := w.failures
	known := false
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property, described := wire.Property(at.layers, name)
		if !described {
			if !isOpen(at.layers) {
				w.unknown(at, join(field, name), object[name], object)
			}
			continue
		}
		known = true
		w.value(&level{property.Layers(), at}, join(field, name), object[name])
	}
	missing := false
	for _, layer := range at.layers {
		for _, name := range layer.At("required").Texts() {
			if _, there := object[name]; !there {
				missing = true
				w.missing(at, join(field, name), name)
			} else if w.side == ofResponse {
				property, _ := wire.Property(at.layers, name)
				w.confirm(property, join(field, name), "there", "required")
			}
		}
	}
	if w.failures > before {
		return
	}
	for _, layer := range at.layers {
		if known {
			w.confirm(layer, field, kind(object), "fieldNames", "fieldTypes")
		}
		if !missing && w.side == ofResponse {
			w.confirm(layer, field, "all of them", "required")
		}
	}
}

// isOpen reports whether members without a description are expected: the schema names no members, or says so.
func isOpen(layers []wire.Node) bool {
	named := false
	for _, layer := range layers {
		for range layer.At("properties").Members() {
			named = true
		}
		if additional := layer.At("additionalProperties"); additional.Exists() && additional.Text() != "false" {
			return true
		}
	}
	return !named
}

// unknown judges a member without a description. It contradicts an object whose fields are all assumed. In an object
// that is described in part, it is reported, and hints at the missing assumed fields: it may be one of them under its
// right name.
func (w *walk) unknown(at *level, field string, value any, object map[string]any) {
	edit := fmt.Sprintf("add `%s` to `properties`, %s", lastStep(field), typeFor(value))
	seen := observation{kind(value) + ", of a name that is not described", edit}
	for _, layer := range slices.Backward(at.layers) {
		if w.contradict(layer, field, seen, "fieldNames", "") {
			w.failures++
			return
		}
	}
	if w.exchange.Operation != nil && w.contradict(w.exchange.Operation.Node, field, seen, "answer") {
		w.failures++
		return
	}
	w.note(nil, undescribed, field, seen)
	for _, layer := range at.layers {
		for name, property := range layer.At("properties").Members() {
			if _, there := object[name]; there {
				continue
			}
			for _, mark := range property.Marks() {
				w.note(mark, openWithHint, field, seen)
			}
		}
	}
}

func (w *walk) missing(at *level, field, name string) {
	w.failures++
	property, _ := wire.Property(at.layers, name)
	seen := observation{"missing", fmt.Sprintf("take `%s` out of `required`", name)}
	if w.contradict(property, field, seen, "", "required") {
		return
	}
	for _, layer := range slices.Backward(at.layers) {
		if w.contradict(layer, field, seen, "required", "fieldNames", "") {
			return
		}
	}
	w.blameAround(at, field, seen, "")
}

func (w *walk) list(at *level, field string, list []any) {
	var items []wire.Node
	for _, layer := range at.layers {
		items = append(items, layer.At("items").Layers()...)
	}
	if len(items) == 0 {
		return
	}
	for i, entry := range list {
		w.value(&level{slices.Clone(items), at}, fmt.Sprintf("%s[%d]", field, i), entry)
	}
}

// matchVariant adds the schema of a union's variant to the layers. A member selects it, or the member's default.
func (w *walk) matchVariant(at *level, field string, value any) {
	for i := 0; i < len(at.layers); i++ {
		layer := at.layers[i]
		selector := layer.At("discriminator", "propertyName").Text()
		if selector == "" {
			continue
		}
		object, is := value.(map[string]any)
		if !is {
			return
		}
		name, _ := object[selector].(string)
		reference := layer.At("discriminator", "mapping", name).Text()
		for _, variant := range layer.At("oneOf").Entries() {
			if isVariant(variant, reference, selector, object) {
				w.confirm(layer, join(field, selector), sample(variant.Layers(), name), "discriminator")
				at.layers = append(at.layers, variant.Layers()...)
				return
			}
		}
		w.fail(at, aspect{name: "discriminator", layer: i, want: "one of the variants"}, join(field, selector),
			object[selector])
		return
	}
}

// isVariant reports whether a mapping's reference, or the default of a missing selector, means this variant.
func isVariant(variant wire.Node, reference, selector string, object map[string]any) bool {
	if reference != "" {
		return path.Base(variant.At("$ref").Text()) == path.Base(reference)
	}
	if _, present := object[selector]; present {
		return false
	}
	property, _ := wire.Property(variant.Layers(), selector)
	byDefault := property.At("default").Text()
	for name := range object {
		if _, described := wire.Property(variant.Layers(), name); !described {
			return false
		}
	}
	return byDefault != ""
}

func join(field, name string) string {
	if field == "" {
		return name
	}
	return field + "." + name
}
