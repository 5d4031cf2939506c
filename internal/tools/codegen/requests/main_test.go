package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/wire"
)

const spec = `
openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /things:
    get:
      operationId: ListThings
      parameters: [{name: limit, in: query, schema: {type: integer, minimum: 1, maximum: 100}}]
      responses: {"200": {description: ok}}
    post:
      operationId: MakeThing
      x-idempotency: key
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
      responses: {"200": {description: ok}}
    put:
      operationId: SetThing
      x-idempotency: natural
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
      responses: {"200": {description: ok}}
  /things/{thingId}:
    get:
      operationId: GetThing
      parameters: [{name: thingId, in: path, required: true, schema: {$ref: '#/components/schemas/ThingID'}}]
      responses: {"200": {description: ok}}
  /things/{thingId}/parts/{partId}:
    get:
      operationId: GetPart
      parameters:
        - {name: partId, in: path, required: true, schema: {type: string, format: uuid}}
        - {name: thingId, in: path, required: true, schema: {$ref: '#/components/schemas/ThingID'}}
      responses: {"200": {description: ok}}
  /things/none: {get: {operationId: GetNone, responses: {"200": {description: ok}}}}
  /things/all/parts: {get: {operationId: GetAll, responses: {"200": {description: ok}}}}
components:
  schemas:
    Order:
      type: object
      x-request: true
      x-exactly-one-of: [thing, uuid]
      properties:
        thing: {allOf: [{$ref: '#/components/schemas/ThingID'}]}
        uuid: {type: string, format: uuid}
        amount: {allOf: [{$ref: '#/components/schemas/Amount'}]}
        number: {type: number}
        window: {type: string, x-term: duration}
        payee: {type: string, x-term: caseless}
        signature: {type: string, format: byte, x-term: none}
        note: {type: string}
        tags: {type: array, items: {type: string}}
    ThingID: {type: string, pattern: '^th_[a-z]+$', x-id-prefix: th_}
    Token: {type: string}
    Amount: {type: string, format: decimal}
    Part: {type: object, x-request: true, required: [name], additionalProperties: true, properties: {name: {type: string, maxLength: 5}}}
    Often:
      type: object
      x-request: true
      x-sent-often: true
      properties:
        id: {allOf: [{$ref: '#/components/schemas/ThingID'}]}
        amount: {allOf: [{$ref: '#/components/schemas/Amount'}]}
        count: {type: integer}
        sure: {type: boolean}
        blob: {type: string, format: byte}
        tags: {type: array, items: {type: string}}
        ids: {type: array, items: {$ref: '#/components/schemas/ThingID'}}
    Response: {type: object, required: [id], properties: {id: {type: string}}}
    Thing:
      type: object
      x-request: true
      required: [id, amount, at, lines]
      x-exactly-one-of: [token, note]
      x-required-with: {token: [amount, note]}
      properties:
        id: {allOf: [{$ref: '#/components/schemas/ThingID'}]}
        token: {allOf: [{$ref: '#/components/schemas/Token'}]}
        amount: {allOf: [{$ref: '#/components/schemas/Amount'}], x-positive: true}
        at: {type: string, format: date-time}
        blob: {type: string, format: byte, maxLength: 8}
        note: {type: string, maxLength: 9}
        maybe: {type: string, nullable: true, minLength: 2, maxLength: 4}
        part: {allOf: [{$ref: '#/components/schemas/Part'}]}
        content: {type: string, format: byte}
        most: {allOf: [{$ref: '#/components/schemas/Amount'}], minimum: 0}
        lines: {type: array, minItems: 1, items: {type: string}}
        tags: {type: array, maxItems: 2, items: {type: string, minLength: 1, maxLength: 3}}
`

const goModels = `package things

type Thing struct {
	ID     ThingID                   ` + "`json:\"id\"`" + `
	Token  Token                     ` + "`json:\"token,omitempty\"`" + `
	Amount decimal.Decimal           ` + "`json:\"amount\"`" + `
	Most   *decimal.Decimal          ` + "`json:\"most,omitempty\"`" + `
	At     time.Time                 ` + "`json:\"at\"`" + `
	Blob   []byte                    ` + "`json:\"blob,omitempty\"`" + `
	Note   *string                   ` + "`json:\"note,omitempty\"`" + `
	Maybe  nullable.Nullable[string] ` + "`json:\"maybe,omitempty\"`" + `
	Part   *Part                     ` + "`json:\"part,omitempty\"`" + `
	Tags   []string                  ` + "`json:\"tags,omitempty\"`" + `
	Lines  []string                  ` + "`json:\"lines\"`" + `
	Body   io.Reader                 ` + "`json:\"content\"`" + `
}

type Part struct {
	Name string ` + "`json:\"name\"`" + `
}

type Order struct {
	Thing     ThingID         ` + "`json:\"thing\"`" + `
	UUID      string          ` + "`json:\"uuid\"`" + `
	Amount    decimal.Decimal ` + "`json:\"amount\"`" + `
	Number    Number          ` + "`json:\"number\"`" + `
	Window    string          ` + "`json:\"window\"`" + `
	Payee     string          ` + "`json:\"payee\"`" + `
	Signature []byte          ` + "`json:\"signature\"`" + `
	Note      string          ` + "`json:\"note\"`" + `
	Tags      []string        ` + "`json:\"tags\"`" + `
}

type Often struct {
	ID     ThingID         ` + "`json:\"id\"`" + `
	Count  int             ` + "`json:\"count,omitempty\"`" + `
	Amount decimal.Decimal ` + "`json:\"amount,omitzero\"`" + `
	Sure   bool            ` + "`json:\"sure,omitzero\"`" + `
	Blob   []byte          ` + "`json:\"blob,omitzero\"`" + `
	Tags   []string        ` + "`json:\"tags,omitempty\"`" + `
	IDs    []ThingID       ` + "`json:\"ids\"`" + `
}

type ThingID string

type ListThingsParams struct {
	Limit int ` + "`json:\"limit,omitempty\"`" + `
}
`

func generate(t *testing.T, spec, models string) (string, error) {
	t.Helper()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	out := filepath.Join(folder, "requests.gen.go")
	if err := run(write("spec.yaml", spec), write("models.go", models), "", out); err != nil {
		return "", err
	}
	source, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(source), nil
}

func TestEveryStatedRuleIsWritten(t *testing.T) {
	source, err := generate(t, spec, goModels)
	require.NoError(t, err)
	for _, want := range []string{
		`c.Text("id", string(v.ID), transport.Rule{Required: true, Pattern: "^th_[a-z]+$", Prefix: "th_"})`,
		`c.Amount("amount", v.Amount)`,
		`c.Positive("amount", v.Amount)`,
		`c.Amount("most", *v.Most)`,
		`c.NotNegative("most", *v.Most)`,
		`c.Missing("at", v.At.IsZero())`,
		`c.Bytes("blob", v.Blob, transport.Rule{Max: 8})`,
		`c.Text("note", string(*v.Note), transport.Rule{Max: 9})`,
		`if text, err := v.Maybe.Get(); err == nil {`,
		`c.Text("maybe", text, transport.Rule{Set: true, Min: 2, Max: 4})`,
		`c.Nested("part", v.Part.validate)`,
		`c.Missing("lines", len(v.Lines) == 0)`,
		`c.ExactlyOne(map[string]bool{"token": v.Token != "", "note": v.Note != nil})`,
		`c.Missing("amount", v.Token != "" && v.Amount.IsZero())`,
		`c.Missing("note", v.Token != "" && v.Note == nil)`,
		`c.Items("tags", len(v.Tags), 2, func(i int, name string) {`,
		`c.Text(name, string(v.Tags[i]), transport.Rule{Required: true, Max: 3})`,
		`c.Additional(v.AdditionalProperties, "name")`,
		`c.Text("name", string(v.Name), transport.Rule{Required: true, Max: 5})`,
		`func (v *ListThingsParams) validate(c *transport.Check) {`,
		`c.AtLeast("limit", int64(v.Limit), 1)`,
		`c.AtMost("limit", int64(v.Limit), 100)`,
		"var pathGetThing = [...]transport.Rule{\n\t{Pattern: \"^th_[a-z]+$\", " +
			"Prefix: \"th_\", Reserved: []string{\"all\", \"none\"}},\n}",
		"var pathGetPart = [...]transport.Rule{\n\t{Pattern: \"^th_[a-z]+$\", " +
			"Prefix: \"th_\", Reserved: []string{\"all\", \"none\"}},\n\t{Pattern: transport.UUID},\n}",
	} {
		assert.Contains(t, source, want)
	}
	assert.NotContains(t, source, "*Response", "answers are not checked")
}

// A key's terms are compared by the formats that the description states; a member without x-term is not a term.
func TestTermsOfWhatAKeyAnchorsAreWritten(t *testing.T) {
	source, err := generate(t, spec, goModels)
	require.NoError(t, err)
	assert.Contains(t, source, `var termsMakeThing = []wire.Term{
	{Name: "amount", Format: wire.TermDecimal},
	{Name: "note", Format: wire.TermText},
	{Name: "number", Format: wire.TermDecimal},
	{Name: "payee", Format: wire.TermCaseless},
	{Name: "tags", Format: wire.TermSet},
	{Name: "thing", Format: wire.TermID("th_"), Choice: true},
	{Name: "uuid", Format: wire.TermCaseless, Choice: true},
	{Name: "window", Format: wire.TermDuration},
}
`)
	assert.NotContains(t, source, "termsSetThing", "the key anchors nothing")

	_, err = generate(t, strings.Replace(spec, "x-term: duration", "x-term: strange", 1), goModels)
	assert.ErrorContains(t, err, "MakeThing: window: x-term strange is not known")
	_, err = generate(t, strings.Replace(spec, "note: {type: string}", "note: {type: object}", 1), goModels)
	assert.ErrorContains(t, err, "MakeThing: note: how objects are compared is not known")
	assert.Equal(t, wire.MaxTerms, maxTerms)
	_, err = generate(t, strings.Replace(spec, ", x-term: none", "", 1), goModels)
	assert.ErrorContains(t, err, "MakeThing: it has more than 8 terms: raise wire.MaxTerms")
}

func TestAnEncoderIsWrittenForWhatIsSentOften(t *testing.T) {
	source, err := generate(t, spec, goModels)
	require.NoError(t, err)
	assert.Contains(t, source, `func (v *Often) encode(w *wire.Writer) {
	w.Text("id", string(v.ID))
	if v.Count != 0 {
		w.Integer("count", int64(v.Count))
	}
	if !v.Amount.IsZero() {
		w.Amount("amount", v.Amount)
	}
	if v.Sure {
		w.Boolean("sure", v.Sure)
	}
	if v.Blob != nil {
		w.Bytes("blob", v.Blob)
	}
	if len(v.Tags) > 0 {
		wire.Texts(w, "tags", v.Tags)
	}
	wire.Texts(w, "ids", v.IDs)
}
`)
	assert.Equal(t, 1, strings.Count(source, ") encode("))
	_, err = generate(t, spec, strings.Replace(goModels, "Count  int  ", "Count  *int ", 1))
	require.ErrorContains(t, err, "schema Often: count: a request that is sent often cannot have a field of type *int")
}

func TestAModelThatLacksAFieldIsRefused(t *testing.T) {
	_, err := generate(t, spec, "package things\n\ntype Often struct{}\n")
	assert.ErrorContains(t, err, "no Go field for")
}

func TestAFieldThatIsNotThereCannotBeExclusive(t *testing.T) {
	for _, line := range []string{"x-exactly-one-of: [token, gone]", "x-required-with: {gone: [note]}",
		"x-required-with: {token: [gone]}"} {
		_, err := generate(t,
			strings.Replace(spec, "x-exactly-one-of: [token, note]\n      x-required-with: {token: [amount, note]}",
				line, 1), goModels)
		assert.ErrorContains(t, err, "no field gone", line)
	}
}

func TestOutputIsDeterministic(t *testing.T) {
	first, err := generate(t, spec, goModels)
	require.NoError(t, err)
	for range 5 {
		again, err := generate(t, spec, goModels)
		require.NoError(t, err)
		assert.Equal(t, first, again)
	}
}

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
