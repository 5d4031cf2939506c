package contrary_test

import (
	"slices"
	"strings"

	"github.com/moneymovement/moneymovement-go/internal/contract/wire"
	"github.com/moneymovement/moneymovement-go/internal/contrary"
)

// expectation is what the SDK promises for a change of an answer.
type expectation struct {
	fails failing
	// unread says whether the answer has to name the place, unless the value was read all the same.
	unread bool
	// stated says how it has to name it; nil if either will do.
	stated *bool
}

// failing says whether a call may fail for a change.
type failing int

const (
	passes  failing = iota
	mayFail         // with a typed error that names the operation
	mustFail
)

// expect is the promise of the SDK for a change, for a call of the operation alone.
func expect(c contrary.Change) expectation {
	e := expectation{}
	if !c.Site.Stated && c.Site.In == "body" && c.Mark.Aspect == "" {
		e.stated = new(bool)
	}
	if c.Site.In == "header" {
		return e
	}
	effect := contrary.EffectOf(c.Kind)
	switch effect {
	case contrary.Missing:
		e.unread = c.Site.Required && (c.Kind != contrary.Null || !mayBeNull(c.Site.Layers)) && !(c.Kind == contrary.Null && isList(c.Site.Layers))
	case contrary.Unread:
		e.unread = true
	}
	inList := slices.Contains(c.Site.Path, contrary.Each)
	switch {
	case effect == contrary.Whole:
		e.fails = ofWhole(c)
	case effect != contrary.Missing && effect != contrary.Unread:
	case contrary.IsPageList(c.Site) && c.Kind != contrary.Null:
		e.fails = mustFail // a list that is not there must not read as an empty one
	case c.Site.Proof && !inList && !resourceAssumed(c.Site.Operation):
		e.fails = mustFail
		if len(c.Site.Path) > 1 || answerAssumed(c.Site.Operation) {
			e.fails = mayFail
		}
	}
	return e
}

// ofWhole is for an answer without the resource, or with another status.
func ofWhole(c contrary.Change) failing {
	o := c.Site.Operation
	layers := contrary.AnswerLayers(o)
	switch {
	case c.Kind == contrary.Status200, c.Kind == contrary.Status201, c.Kind == contrary.Status202:
		return passes
	case c.Kind == contrary.OtherMedia: // an answer of another content type is no answer of the service
		return mayFail
	case resourceAssumed(o), len(layers) == 0:
		return passes
	case o.Method == "GET" && contrary.IsPage(layers):
		return mustFail
	case o.Method == "GET" && c.Kind != contrary.OnlyOK, hasProof(layers), contrary.IsPage(layers):
		return mayFail
	}
	return passes
}

func resourceAssumed(o *wire.Operation) bool { return assumes(o, "resource") }

func answerAssumed(o *wire.Operation) bool { return assumes(o, "answer") }

func assumes(o *wire.Operation, aspect string) bool {
	return slices.ContainsFunc(o.Node.Marks(), func(mark *wire.Assumption) bool { return mark.Aspect == aspect })
}

func mayBeNull(layers []wire.Node) bool {
	return slices.ContainsFunc(layers, func(layer wire.Node) bool { return layer.At("nullable").True() })
}

func isList(layers []wire.Node) bool {
	return slices.ContainsFunc(layers, func(layer wire.Node) bool { return layer.At("items").Exists() })
}

func hasProof(layers []wire.Node) bool {
	for _, layer := range layers {
		for _, property := range layer.At("properties").Members() {
			if slices.ContainsFunc(property.Layers(), func(layer wire.Node) bool { return layer.At("x-proof").True() }) {
				return true
			}
		}
	}
	return false
}

// isEntry reports a pointer that ends at an entry of a list.
func isEntry(p pointer) bool {
	return len(p) > 0 && strings.Trim(p[len(p)-1], "0123456789") == ""
}
