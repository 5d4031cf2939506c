package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const spec = `
openapi: 3.0.3
info: {title: t, version: "1"}
paths:
  /things:
    get:
      operationId: ListThings
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/ThingPage'}}}}}
    post:
      operationId: MakeThing
      x-proof: [key]
      responses: {"201": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}}
    delete: {operationId: DeleteThings, responses: {"204": {description: ok}}}
components:
  schemas:
    ThingPage:
      type: object
      required: [items]
      properties: {items: {x-proof: true, type: array, items: {$ref: '#/components/schemas/Thing'}, x-assumed: r}}
    Thing:
      type: object
      required: [id, key, size, part, cost, at, open]
      properties:
        id: {x-proof: true, type: string}
        key: {type: string}
        size: {type: integer, format: int64, x-assumed: {required: r}}
        part: {allOf: [{$ref: '#/components/schemas/Part'}], nullable: true}
        cost: {type: string, format: decimal, x-assumed: {type: r}}
        at: {allOf: [{$ref: '#/components/schemas/When'}]}
        open: {type: boolean}
        choice: {allOf: [{$ref: '#/components/schemas/Choice'}]}
        names: {type: array, items: {type: string}}
        note: {type: string, x-assumed: r}
    Part: {type: object, x-assumed: r, required: [name], properties: {name: {type: string}}}
    When: {type: string, format: date-time, x-assumed: {type: r}}
    Choice:
      x-assumed: {discriminator: r}
      oneOf: [{$ref: '#/components/schemas/Part'}]
      discriminator: {propertyName: kind, mapping: {part: '#/components/schemas/Part'}}
`

const goModels = `package things

type ThingPage struct {
	Items []Thing ` + "`json:\"items\"`" + `
}

type Thing struct {
	ID     string    ` + "`json:\"id\"`" + `
	Key    Key       ` + "`json:\"key\"`" + `
	Size   int64     ` + "`json:\"size\"`" + `
	Part   *Part     ` + "`json:\"part\"`" + `
	Cost   Decimal   ` + "`json:\"cost\"`" + `
	At     time.Time ` + "`json:\"at\"`" + `
	Open   bool      ` + "`json:\"open\"`" + `
	Choice Choice    ` + "`json:\"choice\"`" + `
	Names  []string  ` + "`json:\"names\"`" + `
	Note   string    ` + "`json:\"note\"`" + `
}

type Key string

type Decimal = decimal.Decimal

type Part struct {
	Name string ` + "`json:\"name\"`" + `
}

type Choice struct {
	variant any
	raw     []byte
}
`

func generate(t *testing.T, spec string) (string, error) {
	t.Helper()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	out := filepath.Join(folder, "answers.gen.go")
	if err := run(write("spec.yaml", spec), "things", false, write("models.go", goModels), "", out); err != nil {
		return "", err
	}
	source, err := os.ReadFile(out)
	require.NoError(t, err)
	return string(source), nil
}

func TestWhatIsKnownOfEachMemberIsWritten(t *testing.T) {
	source, err := generate(t, spec)
	require.NoError(t, err)
	for _, want := range []string{
		`{Name: "id", Shape: &wire.Text, Type: wire.Stated, Required: wire.Stated, Proof: true},`,
		`{Name: "key", Shape: &wire.Text, Type: wire.Stated, Required: wire.Stated},`,
		`{Name: "size", Shape: &wire.Integer64, Type: wire.Stated, Required: wire.Assumed},`,
		`{Name: "part", Shape: &shapePart, Type: wire.Assumed, Required: wire.Stated, Nullable: true},`,
		`{Name: "cost", Shape: &wire.Amount, Type: wire.Assumed, Required: wire.Stated},`,
		`{Name: "at", Shape: &wire.Time, Type: wire.Assumed, Required: wire.Stated},`,
		`{Name: "note", Shape: &wire.Text, Type: wire.Assumed},`,
		`{Name: "name", Shape: &wire.Text, Type: wire.Assumed, Required: wire.Assumed},`,
		`{Name: "items", Shape: &wire.Shape{Kind: wire.KindList, Item: &shapeThing},` +
			` Type: wire.Assumed, Required: wire.Assumed, Proof: true},`,
		"\tBy:      \"kind\",\n\tSelects: wire.Assumed,\n\tVariants: map[string]*wire.Shape{\n",
		"var answerMakeThing = wire.Answer{\n\tShape: shapeThing.ProvenBy(\"key\"),\n",
		"var answerListThings = wire.Answer{\n\tShape: &shapeThingPage,\n",
	} {
		assert.Contains(t, source, want)
	}
	assert.NotContains(t, source, "DeleteThings")
}

// What has to be there is asked for, where it is zero, and nothing else is.
func TestWhatHasToBeThereIsChecked(t *testing.T) {
	source, err := generate(t, spec)
	require.NoError(t, err)
	_, after, found := strings.Cut(source, "func wholeThing(v *Thing, body *wire.Body) bool {")
	require.True(t, found)
	body, _, _ := strings.Cut(after, "\n}\n")
	for _, want := range []string{
		`if v.ID == "" {`, `if v.Key == "" && !body.SaysZero("key") {`, `if v.Size == 0 && !body.SaysZero("size") {`,
		`if v.Part == nil && !body.SaysZero("part") {`, `if v.Part != nil && !wholePart(v.Part, nil) {`,
		`if v.Cost == (Decimal{}) && !body.SaysZero("cost") {`, `if v.At.IsZero() && !body.SaysZero("at") {`,
		`if !v.Open && !body.SaysZero("open") {`,
		`if v.Choice.variant == nil && v.Choice.raw != nil && shapeChoice.Unread(v.Choice.raw) {`,
		`if v.Names[i] == "" {`,
	} {
		assert.Contains(t, body, want)
	}
	assert.NotContains(t, body, "v.Note")
	assert.Contains(t, source, `return wholeThing(v, body) && !(v.Key == "")`, "the proof of this operation alone")
	assert.Contains(t, source, "entries := body.Entries(len(v.Items))")
	assert.Contains(t, source, "if !wholeThing(&v.Items[i], &entries) {")
}

func TestWhatHasNoFormIsRefused(t *testing.T) {
	for line, problem := range map[string]string{
		"note: {type: object, properties: {a: {type: string}}}": "has to be a schema of its own",
		"note: {oneOf: [{type: string}], discriminator: {propertyName: kind, mapping: " +
			"{a: '#/components/schemas/Part'}}}": "",
	} {
		_, err := generate(t, strings.Replace(spec, "note: {type: string, x-assumed: r}", line, 1))
		require.ErrorContains(t, err, problem, line)
	}
}
