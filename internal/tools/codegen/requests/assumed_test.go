package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const assumedSpec = `
openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /things:
    get:
      operationId: ListThings
      parameters: [{name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100}, x-assumed: {maximum: r}}]
      responses: {"200": {description: ok}}
  /things/{thingId}:
    get:
      operationId: GetThing
      parameters: [{name: thingId, in: path, required: true, schema: {type: string, format: uuid}, x-assumed: {format: r}}]
      responses: {"200": {description: ok}}
  /owners/{ownerId}:
    get:
      operationId: GetOwner
      parameters: [{name: ownerId, in: path, required: true, schema: {$ref: '#/components/schemas/OwnerID'}, x-assumed: r}]
      responses: {"200": {description: ok}}
components:
  schemas:
    OwnerID: {type: string, pattern: '^ow_', x-id-prefix: ow_}
    ThingID: {type: string, pattern: '^th_[a-z]+$', maxLength: 9, x-id-prefix: th_, x-assumed: {pattern: r, x-id-prefix: r}}
    Secret: {type: string, format: byte, maxLength: 8, x-assumed: r}
    Thing:
      type: object
      x-request: true
      required: [MEMBER]
      properties:
        MEMBER: PROPERTY
`

// thing is a model of one member.
func thing(typ string) string {
	return "package things\n\ntype Thing struct {\n\tM " + typ +
		" `json:\"m\"`\n}\n\ntype ListThingsParams struct {\n\tLimit int `json:\"limit\"`\n}\n"
}

// checks are what is written for a thing whose only member, m, is required.
func checks(t *testing.T, typ, property, mark string) string {
	t.Helper()
	spec := strings.NewReplacer("MEMBER", "m", "PROPERTY", property).Replace(assumedSpec)
	if mark != "" {
		spec = strings.Replace(spec, "      x-request: true\n", "      x-request: true\n      x-assumed: "+mark+"\n", 1)
	}
	source, err := generate(t, spec, thing(typ))
	require.NoError(t, err)
	_, after, found := strings.Cut(source, "func (v *Thing) validate(c *transport.Check) {")
	require.True(t, found)
	body, _, _ := strings.Cut(after, "\n}\n")
	return strings.TrimSpace(body)
}

func TestWhatIsAssumedIsNotChecked(t *testing.T) {
	for name, c := range map[string]struct{ typ, property, mark, want string }{
		"nothing assumed": {"string", `{type: string, minLength: 2, maxLength: 9, pattern: a}`, "",
			`c.Text("m", string(v.M), transport.Rule{Required: true, Min: 2, Max: 9, Pattern: "a"})`},
		"all by a text": {"string", `{type: string, minLength: 2, maxLength: 9, pattern: a, x-assumed: r}`, "",
			""},
		"aspects": {"string",
			`{type: string, minLength: 2, maxLength: 9, pattern: a, x-assumed: {minLength: r, pattern: r}}`, "",
			`c.Text("m", string(v.M), transport.Rule{Required: true, Max: 9})`},
		"required": {"string", `{type: string, maxLength: 9, x-assumed: {required: r}}`, "",
			`c.Text("m", string(v.M), transport.Rule{Max: 9})`},
		"required of all": {"string", `{type: string, maxLength: 9}`, "{required: r}",
			`c.Text("m", string(v.M), transport.Rule{Max: 9})`},
		"the whole object": {"string", `{type: string, maxLength: 9}`, "r", ""},
		"types of all": {"string", `{type: string, format: uuid, maxLength: 9}`, "{fieldTypes: r}",
			`c.Text("m", string(v.M), transport.Rule{Required: true, Max: 9})`},
		"the type": {"string", `{type: string, format: uuid, x-assumed: {type: r}}`, "",
			`c.Text("m", string(v.M), transport.Rule{Required: true})`},
		"the format": {"string", `{type: string, format: uuid, x-assumed: {format: r}}`, "",
			`c.Text("m", string(v.M), transport.Rule{Required: true})`},
		"what is referred to": {"OwnerID",
			`{allOf: [{$ref: '#/components/schemas/OwnerID'}], maxLength: 4, x-assumed: r}`, "",
			`c.Text("m", string(v.M), transport.Rule{Pattern: "^ow_", Prefix: "ow_"})`},
		"and in a whole object": {"OwnerID", `{$ref: '#/components/schemas/OwnerID'}`, "r",
			`c.Text("m", string(v.M), transport.Rule{Pattern: "^ow_", Prefix: "ow_"})`},
		"a reference's own": {"ThingID", `{allOf: [{$ref: '#/components/schemas/ThingID'}]}`, "",
			`c.Text("m", string(v.M), transport.Rule{Required: true, Max: 9})`},
		"a prefix": {"string",
			`{type: string, pattern: '^th_[a-z]+$', x-id-prefix: th_, x-assumed: {pattern: r}}`, "",
			`c.Text("m", string(v.M), transport.Rule{Required: true, Pattern: "^th_", Prefix: "th_"})`},
		"bytes": {"[]byte", `{allOf: [{$ref: '#/components/schemas/Secret'}]}`, "",
			`c.Bytes("m", v.M, transport.Rule{Required: true})`},
		"bytes, all of it": {"[]byte",
			`{allOf: [{$ref: '#/components/schemas/Secret'}], maxLength: 4, x-assumed: r}`, "", ""},
		"a positive amount": {"decimal.Decimal",
			`{type: string, format: decimal, x-positive: true, x-assumed: {positive: r}}`, "",
			"c.Amount(\"m\", v.M)\n\tc.Missing(\"m\", v.M.IsZero())"},
		"an amount": {"decimal.Decimal", `{type: string, format: decimal, x-positive: true, x-assumed: r}`,
			"", `c.Amount("m", v.M)`},
		"a bounded number": {"int",
			`{type: integer, minimum: 1, maximum: 9, x-assumed: {minimum: r, required: r}}`, "",
			"if v.M != 0 {\n\t\tc.AtMost(\"m\", int64(v.M), 9)\n\t}"},
		"a number": {"int", `{type: integer, minimum: 1, maximum: 9, x-assumed: r}`, "", ""},
		"the size of a list": {"[]string",
			`{type: array, minItems: 1, maxItems: 9, items: {type: string, maxLength: 3}, ` +
				`x-assumed: {minItems: r, maxItems: r}}`, "",
			"c.Missing(\"m\", v.M == nil)\n\tc.Items(\"m\", len(v.M), 0, func(i int, name string) {\n" +
				"\t\tc.Text(name, string(v.M[i]), transport.Rule{Max: 3})\n\t})"},
		"its entries": {"[]string",
			`{type: array, maxItems: 9, items: {type: string, minLength: 1}, x-assumed: {items: r}}`, "",
			"c.Missing(\"m\", v.M == nil)\n\tc.Items(\"m\", len(v.M), 9, nil)"},
		"a list": {"[]string",
			`{type: array, minItems: 1, maxItems: 9, items: {type: string, minLength: 1}, x-assumed: r}`, "", ""},
		"an object": {"map[string]any", `{type: object, x-assumed: {required: r}}`, "", ""},
		"a time":    {"time.Time", `{type: string, format: date-time, x-assumed: {required: r}}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, checks(t, c.typ, c.property, c.mark)) })
	}
}

func TestWhatIsAssumedOfParametersIsNotChecked(t *testing.T) {
	spec := strings.NewReplacer("MEMBER", "m", "PROPERTY", "{type: string}").Replace(assumedSpec)
	source, err := generate(t, spec, thing("string"))
	require.NoError(t, err)
	assert.Contains(t, source, `c.AtLeast("limit", int64(v.Limit), 1)`)
	assert.NotContains(t, source, "AtMost")
	assert.Contains(t, source, "var pathGetThing = [...]transport.Rule{\n\t{},\n}", "the format is assumed")
	assert.Contains(t, source, "var pathGetOwner = [...]transport.Rule{\n\t{Pattern: \"^ow_\", Prefix: \"ow_\"},\n}",
		"the schema is stated")
}

func TestExclusivesThatAreAssumedAreNotChecked(t *testing.T) {
	for _, mark := range []string{"r", "{x-exactly-one-of: r, x-required-with: r}"} {
		got := checks(t, "string", "{type: string}\n      x-exactly-one-of: [m]\n      x-required-with: {m: [m]}", mark)
		assert.NotContains(t, got, "ExactlyOne", mark)
		assert.NotContains(t, got, "Missing", mark)
	}
}
