package contrary_test

import (
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
func TestOneThingOfARequestIsRefused(t *testing.T) {
	eachChange(t, []contrary.Class{contrary.ClassRequest}, requests, "in", refuseThing)
}

// requests are the mark's cases in requests, each at the first place where the thing stands.
func requests(mark *contrary.Mark) []contrary.Change {
	return firsts(mark, func(c contrary.Change) bool { return c.Class == contrary.ClassRequest }, caseOf)
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

// canBeLeftOut reports a thing that nothing demands, and whose holder is there without it.
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
func refuser(c contrary.Change) func(*wire.Operation, *http.Request, []byte) *answered {
	return func(o *wire.Operation, r *http.Request, body []byte) *answered {
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
func fieldRefused(o *wire.Operation, where, field, code string) *answered {
	if o.Surface == "refapi.yaml" {
		loc := append([]string{where},
			strings.FieldsFunc(field, func(r rune) bool { return strings.ContainsRune(".[]", r) })...)
		return answerJSON(http.StatusUnprocessableEntity,
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
