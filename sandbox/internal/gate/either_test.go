package gate

import (
	"maps"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
)

// The service description types the amount of a transfer and the price in a batch, and no other amount of a request. An
// amount that is added here without a mark would be taken for typed.
func TestTheAmountsWhoseTypeIsStated(t *testing.T) {
	t.Parallel()
	var stated, open []string
	for _, surface := range mounted(t) {
		for _, route := range surface.all(t) {
			for place, either := range amountsIn(route.numbers, route.operation) {
				if either {
					open = append(open, place)
				} else {
					stated = append(stated, place)
				}
			}
		}
	}
	assert.ElementsMatch(t, []string{"CreateTransfer.amount", "CreateInvoiceBatch[].items[].price"}, stated)
	assert.NotEmpty(t, open)
}

// amountsIn are the places of amounts, and whether their type is open.
func amountsIn(n *numbers, path string) map[string]bool {
	found := map[string]bool{}
	if n == nil {
		return found
	}
	if n.amount || n.text {
		found[path] = n.either
	}
	for name, inner := range n.members {
		maps.Copy(found, amountsIn(inner, path+"."+name))
	}
	maps.Copy(found, amountsIn(n.entries, path+"[]"))
	return found
}

func TestAmountsAreWrittenInTheAssumedType(t *testing.T) {
	t.Parallel()
	places := &numbers{members: map[string]*numbers{
		"text": {text: true, either: true}, "number": {amount: true, either: true}, "stated": {amount: true},
		"lines": {entries: &numbers{members: map[string]*numbers{"price": {text: true, either: true}}}},
	}}
	for body, want := range map[string]string{
		`{"text":12.50}`:                      `{"text":"12.5"}`,
		`{"text":-1e2}`:                       `{"text":"-100"}`,
		`{"number":"+007.10"}`:                `{"number":7.1}`,
		`{"number":".5"}`:                     `{"number":0.5}`,
		`{"lines":[{"price":1},{"price":2}]}`: `{"lines":[{"price":"1"},{"price":"2"}]}`,
	} {
		assert.JSONEq(t, want, string(places.normalized(jsontext.Value(body), nil)), body)
	}
	for _, same := range []string{
		`{ "text": "1", "number": 2 }`, `{"text":1e99999}`, `{"number":"ten"}`, `{"number":""}`, `{"number":"1e2"}`,
		`{"stated":"1"}`,
		`{"text":null,"number":null}`, `{"lines":{"price":1}}`, `[1]`, `{"text":[1],"number":{}}`, `{"unknown":1}`,
	} {
		assert.Equal(t, same, string(places.normalized(jsontext.Value(same), nil)), "as it came")
	}
}
