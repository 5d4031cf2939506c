package contrary_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// The service does not know what we send, or wants it otherwise: its refusal names it, and what is optional can be left
// out.
func TestRefusedPartOfARequest(t *testing.T) {
	eachChange(t, []contrary.Class{contrary.ClassRequest}, requests, "in", refuseThing)
}

// requests are the mark's cases in requests, each at the first place where the thing stands.
func requests(mark *contrary.Mark) []contrary.Change {
	return firstCases(mark, func(c contrary.Change) bool { return c.Class == contrary.ClassRequest }, caseOf)
}

// refuseThing makes the call, whose refusal names the thing, and once more without it.
func refuseThing(t *testing.T, d *wire.Description, c contrary.Change) {
	o := c.Site.Operation
	host := &contraryHost{next: sampleService{description: d}, description: d, refuses: refuser(c)}
	made := newCall(t, o, host)
	ask(made, c)
	_, err := callOf(o)(made)
	met, _ := host.occurred()
	require.Positive(t, met, "it was not sent: %v", err)
	if o.ID == "RefreshToken" {
		require.NoError(t, err, "a new login does without a refresh")
		return
	}
	requireNamed(t, c, err)

	if !canBeLeftOut(c) || isLogin(o) {
		return
	}
	without := newCall(t, o, host)
	ask(without, c)
	leaveOut(without, c)
	_, err = callOf(o)(without)
	require.NoError(t, err, "it can be left out")
	again, _ := host.occurred()
	assert.Equal(t, met, again, "it was left out, and sent")
}

// ask fills the call so that it sends the thing.
func ask(c *call, change contrary.Change) {
	c.ask(change.Site.Variants)
	if word, is := change.Mark.Value(); is {
		for _, p := range resolve(c.body, change.Site) {
			c.body = put(c.body, p, word, true)
		}
		if change.Site.In == "query" {
			c.query = put(c.query, pointer(change.Site.Path), word, true)
		}
	}
}

// canBeLeftOut reports an optional member of an object that has other members.
func canBeLeftOut(c contrary.Change) bool {
	return len(c.Site.Path) > 0 && !c.Site.Required && c.Site.In != "path" && c.Site.Name() != contrary.Each
}

func leaveOut(c *call, change contrary.Change) {
	switch change.Site.In {
	case "body":
		for _, p := range resolve(c.body, change.Site) {
			c.body = put(c.body, p, nil, false)
		}
	case "query":
		c.query = put(c.query, pointer(change.Site.Path), nil, false)
	case "header":
		c.header = put(c.header, pointer(change.Site.Path), nil, false)
	}
}

// refuser refuses requests that have the thing, as each surface does.
func refuser(c contrary.Change) func(*wire.Operation, *http.Request, []byte) *response {
	return func(o *wire.Operation, r *http.Request, body []byte) *response {
		if o.Name() != c.Site.Operation.Name() {
			return nil
		}
		where, field, sent := whereSent(c, o, r, body)
		if !sent {
			return nil
		}
		return fieldRefused(o, where, field, codeOf(c.Kind))
	}
}

// codeOf is the validator's code of a complaint.
func codeOf(kind contrary.Kind) string {
	switch kind {
	case contrary.OtherType:
		return "type_error"
	case contrary.Tighter:
		return "value_error"
	}
	return "extra_forbidden"
}

// whereSent finds the thing in a request: where it stands, how a validator names it, and whether it was sent.
func whereSent(c contrary.Change, o *wire.Operation, r *http.Request, body []byte) (where, field string, sent bool) {
	switch c.Site.In {
	case "path":
		return "path", c.Site.Name(), true
	case "query":
		return "query", c.Site.Name(), r.URL.Query().Has(c.Site.Name())
	case "header":
		return "header", c.Site.Name(), r.Header.Get(c.Site.Name()) != ""
	case "":
		if c.Mark.Aspect == "query" {
			for name := range r.URL.Query() {
				return "query", name, true
			}
			return "", "", false
		}
		return "body", firstMember(body), true // a body of another shape, or one at all
	}
	tree, err := decode(body)
	if err != nil {
		return "", "", false
	}
	word, isWord := c.Mark.Value()
	for _, p := range resolve(tree, c.Site) {
		if value, there := at(tree, p); there && (!isWord || value == any(word)) {
			return "body", fieldName(p), true
		}
	}
	return "", "", false
}

func firstMember(body []byte) string {
	tree, _ := decode(body)
	switch v := tree.(type) {
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		if len(names) > 0 {
			return names[0]
		}
	}
	return "body"
}

// fieldName is how a validator spells a place: items[0].price. The body as a whole is "body".
func fieldName(p pointer) string {
	var name strings.Builder
	for i, step := range p {
		switch {
		case isEntry(p[:i+1]):
			name.WriteString("[" + step + "]")
		case i > 0:
			name.WriteString("." + step)
		default:
			name.WriteString(step)
		}
	}
	if len(p) == 0 {
		return "body"
	}
	return name.String()
}

// fieldRefused is a failed validation as the operation's surface tells it.
func fieldRefused(o *wire.Operation, where, field, code string) *response {
	if o.Surface == "refapi.yaml" {
		loc := append([]string{where},
			strings.FieldsFunc(field, func(r rune) bool { return strings.ContainsRune(".[]", r) })...)
		return jsonResponse(http.StatusUnprocessableEntity,
			map[string]any{"detail": []any{map[string]any{"loc": loc, "msg": "The contrary service refuses it.",
				"type": code}}})
	}
	details := map[string]any{"fields": []any{map[string]any{"field": field, "code": code,
		"message": "The contrary service refuses it."}}}
	if where != "body" {
		details["location"] = where
	}
	return refusal(http.StatusUnprocessableEntity, "validation_failed", "The request failed validation.", details)
}

// requireNamed: the refusal is typed, says which operation and which field, and that nothing moved.
func requireNamed(t *testing.T, c contrary.Change, err error) {
	t.Helper()
	require.Error(t, err)
	assert.ErrorContains(t, err, c.Site.Operation.ID)
	var fields []string
	if refused, is := errors.AsType[*errors.ValidationFailed](err); is {
		for _, f := range refused.Fields {
			fields = append(fields, f.Field)
		}
	} else if refused, is := errors.AsType[*errors.DetailErrors](err); is {
		for _, item := range refused.Items {
			fields = append(fields, strings.Join(item.Loc, "."))
		}
	} else {
		require.Fail(t, "not a failed validation", "%T: %v", err, err)
	}
	require.Len(t, fields, 1)
	name := fields[0][strings.LastIndexAny(fields[0], ".")+1:]
	assert.ErrorContains(t, err, name, "the error names the field")
	if last := c.Site.Name(); last != "" && last != contrary.Each {
		assert.Contains(t, fields[0], last)
	}
}

// The service does not have an operation that we assume: its error says which, and that nothing was done.
func TestMissingOperation(t *testing.T) {
	d := describe(t)
	for _, mark := range derive(t) {
		if !mark.Is(contrary.ClassOperation) {
			continue
		}
		for _, change := range mark.Changes() {
			t.Run(fmt.Sprintf("%s/%s of %s", mark.Name(), change.Name(), change.Site.Operation.Name()),
				func(t *testing.T) {
					t.Parallel()
					host := &contraryHost{next: sampleService{description: d}, description: d,
						refuses: withoutOperation(change)}
					made := newCall(t, change.Site.Operation, host)
					made.ask(nil)
					_, err := callOf(change.Site.Operation)(made)
					met, _ := host.occurred()
					require.Positive(t, met)
					requireLacking(t, change, err)
				})
		}
	}
}

// withoutOperation responds as a service without the operation.
func withoutOperation(c contrary.Change) func(*wire.Operation, *http.Request, []byte) *response {
	return func(o *wire.Operation, _ *http.Request, _ []byte) *response {
		switch {
		case o.Name() != c.Site.Operation.Name():
			return nil
		case c.Kind == contrary.WrongMethod:
			return refusal(http.StatusMethodNotAllowed, "method_not_allowed", "Wrong verb.", nil)
		}
		return refusal(http.StatusNotFound, "not_found", "No such resource.", nil)
	}
}

func requireLacking(t *testing.T, c contrary.Change, err error) {
	t.Helper()
	refused, is := errors.AsType[*errors.Refusal](err)
	require.True(t, is, "%T: %v", err, err)
	assert.Equal(t, c.Site.Operation.ID, refused.Operation)
	assert.ErrorContains(t, err, c.Site.Operation.ID)
	want := http.StatusNotFound
	if c.Kind == contrary.WrongMethod {
		want = http.StatusMethodNotAllowed
	}
	assert.Equal(t, want, refused.Status)
}

// A service whose short paths are under a prefix is reached by naming the prefix in the base address.
func TestShortPathsUnderAPrefix(t *testing.T) {
	d := describe(t)
	service := http.StripPrefix("/api/v1", sampleService{description: d})
	for _, o := range d.Operations {
		if o.Surface != "appapi.yaml" {
			continue
		}
		made := newCallAt(t, baseURL+"/api/v1", o, service)
		made.ask(nil)
		_, err := callOf(o)(made)
		assert.NoError(t, err, o.Name())
	}
}

// The service's bound on what we send is another than ours. Where it is looser, what we would not have is sent all the
// same; where it is tighter, its refusal names the field.
func TestServiceWithOtherRequestLimits(t *testing.T) {
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
	return firstCases(mark,
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
		seen: func(o *wire.Operation, _ []byte, _ *response) {
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
