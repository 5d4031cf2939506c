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
		`c.Text("maybe", text, transport.Rule{Given: true, Min: 2, Max: 4})`,
		`c.In("part", v.Part.validate)`,
		`c.Missing("lines", len(v.Lines) == 0)`,
		`c.ExactlyOne(map[string]bool{"token": v.Token != "", "note": v.Note != nil})`,
		`c.Missing("amount", v.Token != "" && v.Amount.IsZero())`,
		`c.Missing("note", v.Token != "" && v.Note == nil)`,
		`c.Items("tags", len(v.Tags), 2, func(i int, name string) {`,
		`c.Text(name, string(v.Tags[i]), transport.Rule{Required: true, Max: 3})`,
		`c.Further(v.AdditionalProperties, "name")`,
		`c.Text("name", string(v.Name), transport.Rule{Required: true, Max: 5})`,
		`func (v *ListThingsParams) validate(c *transport.Check) {`,
		`c.AtLeast("limit", int64(v.Limit), 1)`,
		`c.AtMost("limit", int64(v.Limit), 100)`,
		"var pathGetThing = [...]transport.Rule{\n\t{Pattern: \"^th_[a-z]+$\", " +
			"Prefix: \"th_\", Taken: []string{\"all\", \"none\"}},\n}",
		"var pathGetPart = [...]transport.Rule{\n\t{Pattern: \"^th_[a-z]+$\", " +
			"Prefix: \"th_\", Taken: []string{\"all\", \"none\"}},\n\t{Pattern: transport.UUID},\n}",
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
