package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/openapi"
)

func TestTheCommittedPageIsUpToDate(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "openapi", "README.md"))
	require.NoError(t, err)
	page, err := report(openapi.Files)
	require.NoError(t, err)
	assert.Equal(t, string(page), string(committed), `run "make generate"`)
}

func TestRunWritesThePage(t *testing.T) {
	output := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, run(openapi.Files, output))
	written, err := os.ReadFile(output)
	require.NoError(t, err)
	page, err := report(openapi.Files)
	require.NoError(t, err)
	assert.Equal(t, page, written)
}

// surveyOf is that of one file.
func surveyOf(t *testing.T, name, source string) survey {
	t.Helper()
	described, err := wire.Read(fstest.MapFS{name: {Data: []byte(source)}})
	require.NoError(t, err)
	return surveys(described)[0]
}

func inWords(s survey) (assumptions [][3]string) {
	for _, a := range s.Assumptions {
		assumptions = append(assumptions, [3]string{a.Where, a.What(), a.Reason})
	}
	return assumptions
}

func TestThePlaceOfAnAssumptionReadsWell(t *testing.T) {
	found := surveyOf(t, "dapi.yaml", `
openapi: 3.0.3
info: {title: Platform API}
x-assumed: {x-slugs: r0}
paths:
  /payouts:
    post:
      operationId: CreatePayout
      x-assumed: r1
      parameters:
        - {name: limit, in: query, schema: {type: integer, maximum: 100}, x-assumed: {maximum: r2}}
        - {name: payoutId, in: path, x-assumed: r3}
        - {name: X-Device, in: header, x-assumed: r4}
      responses:
        '204': {x-assumed: r5}
components:
  responses:
    Refusal: {x-assumed: r6}
  schemas:
    Payout:
      x-assumed: {fieldTypes: r7}
      properties:
        status: {type: string, x-assumed-values: {funding: r8}}
        parts: {type: array, items: {type: string, x-assumed: r9}}
    Note:
      x-assumed: r10
`)
	assert.Equal(t, [][3]string{
		{"the file", "`x-slugs`", "r0"},
		{"CreatePayout", "all of it", "r1"},
		{"CreatePayout ?limit", "maximum", "r2"},
		{"CreatePayout {payoutId}", "all of it", "r3"},
		{"CreatePayout header X-Device", "all of it", "r4"},
		{"CreatePayout answer 204", "all of it", "r5"},
		{"response Refusal", "all of it", "r6"},
		{"Payout", "types of its fields", "r7"},
		{"Payout.status", "value `funding`", "r8"},
		{"Payout.parts[]", "all of it", "r9"},
		{"Note", "all of it", "r10"},
	}, inWords(found))
	assert.Equal(t, count{Total: 1, Assumed: 1}, found.Operations)
	assert.Equal(t, count{Total: 2, Assumed: 1}, found.Schemas)
	assert.Equal(t, count{Total: 2}, found.Fields)
}

func TestEntriesOfACatalogueAreNamed(t *testing.T) {
	found := surveyOf(t, "errors.yaml", `
slugs:
  - {slug: gone, moved: {value: no, x-assumed: r1}}
  - {moved: {value: no, x-assumed: r2}}
`)
	assert.Equal(t, [][3]string{{"slugs.gone.moved", "all of it", "r1"}, {"slugs[1].moved", "all of it", "r2"}},
		inWords(found))
}

func TestAMarkWithoutAReasonFails(t *testing.T) {
	for name, source := range map[string]string{
		"empty":             "a: {x-assumed: ''}",
		"blank":             "a: {x-assumed: ' '}",
		"null":              "a: {x-assumed: }",
		"list":              "a: {x-assumed: [r]}",
		"no aspects":        "a: {x-assumed: {}}",
		"empty aspect":      "a: {x-assumed: {type: ''}}",
		"values as text":    "a: {x-assumed-values: r}",
		"value unexplained": "a: {x-assumed-values: {v: ''}}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := report(fstest.MapFS{"f.yaml": {Data: []byte(source)}})
			require.Error(t, err)
			assert.ErrorContains(t, err, "f.yaml: line 1: a: ")
			assert.ErrorContains(t, err, "missing")
		})
	}
}

func TestUnreadableFilesFail(t *testing.T) {
	for name, source := range map[string]string{"no YAML": "a: [", "empty": ""} {
		t.Run(name, func(t *testing.T) {
			_, err := report(fstest.MapFS{"f.yaml": {Data: []byte(source)}})
			assert.ErrorContains(t, err, "f.yaml")
		})
	}
}

func TestATextStaysInsideItsCell(t *testing.T) {
	page, err := report(fstest.MapFS{
		"z.yaml":    {Data: []byte("a: {x-assumed: 'one | two'}")},
		"dapi.yaml": {Data: []byte("b: 1")},
	})
	require.NoError(t, err)
	assert.Contains(t, string(page), "| `a` | all of it | one \\| two |\n")
	assert.Regexp(t, `(?s)## dapi\.yaml\n\nNothing is assumed\..*## z\.yaml`, string(page))
}
