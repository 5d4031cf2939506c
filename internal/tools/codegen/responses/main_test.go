package main

import (
	"fmt"
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
    put:
      operationId: ReplaceThings
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/ThingList'}}}}}
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
        kinds: {type: array, items: {$ref: '#/components/schemas/Kind'}}
        kind: {allOf: [{$ref: '#/components/schemas/Kind'}], default: big}
        note: {type: string, x-assumed: r}
    Part: {type: object, x-assumed: r, required: [name], properties: {name: {type: string}}}
    ThingList: {type: array, items: {$ref: '#/components/schemas/Thing'}}
    Kind: {type: string, enum: [big, small]}
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
	Kind   Kind      ` + "`json:\"kind\"`" + `
	Note   string    ` + "`json:\"note\"`" + `
	Kinds  []Kind    ` + "`json:\"kinds\"`" + `
}

type ThingList []Thing

type Key string

type Kind string

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
	return generateFor(t, spec, goModels)
}

func generateFor(t *testing.T, spec, goModels string) (string, error) {
	t.Helper()
	folder := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	out := filepath.Join(folder, "responses.gen.go")
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
		`{Name: "kind", Shape: &shapeKind, Type: wire.Stated, Default: "big"},`,
		"}, Fields: fieldOfThing, Must: 0xe1d, Defaults: true}\n",
		"}, Fields: fieldOfPart, Must: 0x1}\n",
		`var shapeKind = wire.Shape{Kind: wire.KindText, Words: []string{"big", "small"}}`,
		"\tBy:      \"kind\",\n\tSelects: wire.Assumed,\n\tVariants: map[string]*wire.Shape{\n",
		`var responseMakeThing = wire.Response{Shape: shapeThing.ProvenBy("key")}`,
		`var responseListThings = wire.Response{Shape: &shapeThingPage}`,
	} {
		assert.Contains(t, source, want)
	}
	assert.NotContains(t, source, "DeleteThings")
}

// An id of a response must have what is stated of it.
func TestTheFormOfAnIDIsWritten(t *testing.T) {
	for marks, form := range map[string]string{
		"":                        `Prefix: "no_", Pattern: "^no_[a-z]+$"`,
		"x-assumed: {pattern: r}": `Prefix: "no_", Pattern: "^no_"`,
		"x-assumed: {pattern: r, x-id-prefix: r}": `Prefix: "", Pattern: ""`,
	} {
		id := "note: {type: string, pattern: '^no_[a-z]+$', x-id-prefix: no_, " + marks + "}"
		source, err := generate(t, strings.Replace(spec, "note: {type: string, x-assumed: r}", id, 1))
		require.NoError(t, err)
		assert.Contains(t, source, "ID: &wire.IDForm{"+form+"}")
	}
}

// Each member of a shape has the field of its Go type that it is read into.
func TestTheFieldOfEachMemberIsWritten(t *testing.T) {
	source, err := generate(t, spec)
	require.NoError(t, err)
	_, after, found := strings.Cut(source, "func fieldOfThing(object any, name []byte) (int, any) {")
	require.True(t, found)
	body, _, _ := strings.Cut(after, "\n}\n")
	for _, want := range []string{
		"v := object.(*Thing)\n",
		"case \"at\":\n\t\treturn 0, &v.At\n",
		"case \"choice\":\n\t\treturn 1, &v.Choice\n",
		"case \"cost\":\n\t\treturn 2, &v.Cost\n",
		"case \"key\":\n\t\treturn 4, (*string)(&v.Key)\n",
		"case \"kinds\":\n\t\treturn 6, wire.Words(&v.Kinds)\n",
		"case \"names\":\n\t\treturn 7, wire.List(&v.Names)\n",
		"case \"part\":\n\t\treturn 10, wire.Optional(&v.Part)\n",
		"return -1, nil",
	} {
		assert.Contains(t, body, want)
	}
	assert.Contains(t, source, "func fieldOfThingPage(")
	assert.Contains(t, source, "v := union.(*Choice)\n\t\tif v.Variant() != nil {")
	assert.NotContains(t, source, "fieldOfWhen")
}

func TestAMemberWithoutAFieldIsRefused(t *testing.T) {
	_, err := generate(t, strings.Replace(spec, "        open: {type: boolean}", "        closed: {type: boolean}", 1))
	require.ErrorContains(t, err, "schema Thing: closed: the Go type Thing has no field for it")
}

// A pointer to a union would be a panic when a response is read.
func TestAFieldThatCannotBeReadIsRefused(t *testing.T) {
	_, err := generateFor(t, spec, strings.Replace(goModels, "Choice Choice ", "Choice *Choice", 1))
	require.ErrorContains(t, err, "schema Thing: choice: package wire cannot read a field of type *Choice")
}

func TestAnObjectWithTooManyMembersIsRefused(t *testing.T) {
	var more strings.Builder
	for i := range 64 {
		fmt.Fprintf(&more, "\n        m%d: {type: string}", i)
	}
	_, err := generate(t, strings.Replace(spec, "        open: {type: boolean}", more.String(), 1))
	require.ErrorContains(t, err, "schema Thing: it has 75 members, but may have at most 64")
}

// A field that is a list is read as one, however the description names the list.
func TestAResponseThatIsAListIsReadAsOne(t *testing.T) {
	source, err := generate(t, spec)
	require.NoError(t, err)
	assert.Contains(t, source, "return wire.List((*[]Thing)(value.(*ThingList)))")
}

func TestSchemaWithoutATypeIsRefused(t *testing.T) {
	for line, problem := range map[string]string{
		"note: {type: object, properties: {a: {type: string}}}": "has to be a schema of its own",
		"note: {oneOf: [{type: string}], discriminator: {propertyName: kind, mapping: " +
			"{a: '#/components/schemas/Part'}}}": "",
	} {
		_, err := generate(t, strings.Replace(spec, "note: {type: string, x-assumed: r}", line, 1))
		require.ErrorContains(t, err, problem, line)
	}
}
