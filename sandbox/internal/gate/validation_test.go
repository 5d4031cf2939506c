package gate

import (
	"maps"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The pattern without a look-ahead accepts the same strings as the description's.
func TestDecimalPatternEquivalent(t *testing.T) {
	described, err := platformOperations()["GET /sandbox/treasury"]()
	require.NoError(t, err)
	require.Equal(t, decimalPattern,
		described.Components.Schemas["Balance"].Value.Properties["available"].Value.AllOf[0].Value.Pattern)

	stated := regexp2.MustCompile(decimalPattern, regexp2.ECMAScript)
	matcher, err := compile(decimalPattern)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+.0-9a ]{0,8}`).Draw(t, "text")
		want, err := stated.MatchString(text)
		require.NoError(t, err)
		assert.Equal(t, want, matcher.MatchString(text), "%q", text)
	})
}

func TestFormats(t *testing.T) {
	for text, want := range map[string]bool{"": true, "QQ==": true, "QQ": false, "QR==": false, "_-==": false,
		"QQ==\n": false, "QUJD": true} {
		assert.Equal(t, want, isBase64(text), "base64 %q", text)
	}
	for text, want := range map[string]bool{
		"2026-01-02T03:04:05Z": true, "2026-01-02T03:04:05.678+05:30": true, "2026-01-02": false,
		"2026-13-02T03:04:05Z": false, "": false,
	} {
		assert.Equal(t, want, isTime(text), "time %q", text)
	}
	for text, want := range map[string]bool{"a@b": true, "a@b@c": false, "@b": false, "a@": false, "a b@c": false,
		"<a@b>": false, "a@b, c@d": false} {
		assert.Equal(t, want, isEmail(text), "email %q", text)
	}
}

func FuzzReadable(f *testing.F) {
	f.Add(`{"email":"a@example.com"}`)
	f.Add(`{"account":{"walletAddress":"0x1","chainId":"base","currency":"USDC"}}`)
	f.Add(`{"contactId":"po_1","amount":"1","currency":"USDC"}`)
	f.Add(`{"account":{"email":null}}`)
	f.Add(`[{"contractId":"1","items":[{"name":"a","quantity":1,"price":"1"}]}]`)
	g := &Gate{validation: validation()}
	surfaces := mounted(f)
	f.Fuzz(func(t *testing.T, body string) {
		for _, surface := range surfaces {
			for _, route := range surface.all(t) {
				if route.described.Operation.RequestBody != nil {
					g.judge(route, body)
				}
			}
		}
	})
}

// The description states the type of a transfer's amount and of a batch's price, and of no other amount in a request.
// An amount that is added without x-assumed would count as stated.
func TestNumberSchemaOfStatedTypes(t *testing.T) {
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

// amountsIn returns the paths of amounts, and whether both types are accepted.
func amountsIn(n *numberSchema, path string) map[string]bool {
	found := map[string]bool{}
	if n == nil {
		return found
	}
	if n.amount || n.text {
		found[path] = n.anyType
	}
	for name, inner := range n.members {
		maps.Copy(found, amountsIn(inner, path+"."+name))
	}
	maps.Copy(found, amountsIn(n.entries, path+"[]"))
	return found
}

func TestAmountsAreWrittenInTheAssumedType(t *testing.T) {
	t.Parallel()
	places := &numberSchema{members: map[string]*numberSchema{
		"text": {text: true, anyType: true}, "number": {amount: true, anyType: true}, "stated": {amount: true},
		"lines": {entries: &numberSchema{members: map[string]*numberSchema{"price": {text: true, anyType: true}}}},
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
