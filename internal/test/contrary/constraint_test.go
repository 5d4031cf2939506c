package contrary_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// The service's bound on what we send is another than ours. Where it is looser, what we would not have is sent all the
// same; where it is tighter, its refusal names the field.
func TestABoundOfARequestIsOther(t *testing.T) {
	eachChange(t, []contrary.Class{contrary.ClassConstraint}, bounds, "in",
		func(t *testing.T, d *wire.Description, change contrary.Change) {
			if change.Kind == contrary.Tighter {
				refuseTighter(t, d, change)
			} else {
				sendBeyond(t, d, change)
			}
		})
}

// bounds are the mark's cases in requests, once for each place that a value can have: body, query, path and header.
func bounds(mark *contrary.Mark) []contrary.Change {
	type kind struct {
		contrary.Case
		in string
	}
	return firsts(mark,
		func(c contrary.Change) bool {
			return c.Class == contrary.ClassConstraint && c.Site.Side == contrary.Request
		},
		func(c contrary.Change) kind { return kind{c.Case, c.Site.In} })
}

func refuseTighter(t *testing.T, d *wire.Description, c contrary.Change) {
	host := &contraryHost{next: sampleService{description: d}, description: d, refuses: refuser(bounded(c))}
	made := newCall(t, c.Site.Operation, host)
	made.ask(c.Site.Variants)
	if c.Mark.Aspect == "nullable" {
		made.body = put(made.body, pointer(c.Site.Path), nil, true)
	}
	_, err := callOf(c.Site.Operation)(made)
	if met, _ := host.occurred(); met == 0 && c.Mark.Aspect == "nullable" {
		return // a null was not sent
	}
	requireNamed(t, bounded(c), err)
}

// sendBeyond sends a value beyond our bound, or leaves out what only we demand.
func sendBeyond(t *testing.T, d *wire.Description, c contrary.Change) {
	arrived := 0
	host := &contraryHost{next: sampleService{description: d}, description: d,
		seen: func(o *wire.Operation, _ []byte, _ *answered) {
			if o.Name() == c.Site.Operation.Name() {
				arrived++
			}
		}}
	made := newCall(t, c.Site.Operation, host)
	made.ask(c.Site.Variants)
	require.True(t, goBeyond(made, c), "no value is beyond the bound")
	_, err := callOf(c.Site.Operation)(made)
	_, is := errors.AsType[*errors.InvalidInput](err)
	if is && (statedToo(c) || signed(c)) {
		return
	}
	require.False(t, is, "refused here, though nothing stated forbids it: %v", err)
	assert.Positive(t, arrived, "%v", err)
}

// bounded is the change at the value that the bound is of: decimals are an amount's, and written beside its token.
func bounded(c contrary.Change) contrary.Change {
	if c.Mark.Aspect == "x-decimals" {
		c.Site.Path = append(slices.Clone(c.Site.Path[:len(c.Site.Path)-1]), "amount")
	}
	return c
}

// goBeyond is false if there is no such value.
func goBeyond(made *call, c contrary.Change) bool {
	switch {
	case c.Mark.Aspect == "x-decimals":
		made.body = put(made.body, pointer(bounded(c).Site.Path), "1.1234567", true)
		return true
	case c.Mark.Aspect == "required":
		leaveOut(made, c)
		return true
	case c.Mark.Aspect == "positive":
		value, _ := at(made.body, pointer(c.Site.Path))
		var zero any = "0"
		if _, isNumber := value.(json.Number); isNumber {
			zero = json.Number("0")
		}
		made.body = put(made.body, pointer(c.Site.Path), zero, true)
		return true
	}
	switch c.Site.In {
	case "path":
		other, _, differs := outside(c, made.path[c.Site.Name()])
		made.path[c.Site.Name()] = fmt.Sprint(other)
		return differs
	case "query":
		return replace(&made.query, pointer(c.Site.Path), c)
	case "header":
		return replace(&made.header, pointer(c.Site.Path), c)
	}
	differs := false
	for _, p := range resolve(made.body, c.Site) {
		differs = replace(&made.body, p, c) || differs
	}
	return differs
}

func replace(tree *any, p pointer, c contrary.Change) bool {
	value, _ := at(*tree, p)
	other, keep, differs := outside(c, value)
	*tree = put(*tree, p, other, keep)
	return differs
}

// statedToo reports a refusal for what is stated of the same value: an amount that has to be given, or to be more than
// zero, and a text that has to be given.
func statedToo(c contrary.Change) bool {
	switch c.Mark.Aspect {
	case "required":
		return slices.ContainsFunc(c.Site.Layers, func(layer wire.Node) bool {
			return layer.At("x-positive").True() && !marked(layer, "positive")
		})
	case "minLength", "positive":
		needed := slices.ContainsFunc(c.Site.Operation.Body().Layers(), func(layer wire.Node) bool {
			return layer.At("x-required-with").Exists()
		})
		return needed || c.Site.Required && !slices.ContainsFunc(c.Site.Layers, func(layer wire.Node) bool {
			return marked(layer, "required") || marked(layer, "")
		})
	}
	return false
}

// signed reports what an approval is compared with before it is signed: without it, anything could be signed.
func signed(c contrary.Change) bool {
	return slices.Contains([]string{"dapi BookPayout", "dapi CreateEscrow"}, c.Site.Operation.Name()) &&
		slices.Contains([]string{"contactId", "amount", "currency", "payee"}, c.Site.Name()) &&
		slices.Contains([]string{"required", "positive", "minLength"}, c.Mark.Aspect)
}

func marked(node wire.Node, aspect string) bool {
	return slices.ContainsFunc(node.Marks(), func(mark *wire.Assumption) bool { return mark.Aspect == aspect })
}
