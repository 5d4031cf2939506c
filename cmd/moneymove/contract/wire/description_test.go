package wire_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/openapi"
)

func read(t *testing.T) *wire.Description {
	t.Helper()
	d, err := wire.Read(openapi.Files)
	require.NoError(t, err)
	return d
}

// An editor finds the mark at its line.
func TestAssumptionsKnowTheirLine(t *testing.T) {
	files := map[string][]string{}
	for _, a := range read(t).Assumptions {
		if files[a.File] == nil {
			source, err := openapi.Files.ReadFile(a.File)
			require.NoError(t, err)
			files[a.File] = strings.Split(string(source), "\n")
		}
		require.Positive(t, a.Line, a.Where)
		first, _, _ := strings.Cut(a.Reason, "\n")
		assert.Contains(t, textAt(files[a.File][a.Line-1:]), first, "%s: %s", a.Position(), a.Where)
	}
}

// textAt is what the first line says, or the text that is folded below it.
func textAt(lines []string) string {
	if !strings.HasSuffix(lines[0], ">-") {
		return strings.ReplaceAll(lines[0], "''", "'")
	}
	indent := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	var text []string
	for _, line := range lines[1:] {
		if indent(line) <= indent(lines[0]) {
			break
		}
		text = append(text, strings.TrimSpace(line))
	}
	return strings.Join(text, " ")
}

func TestRequestsFindTheirOperation(t *testing.T) {
	d := read(t)
	for request, want := range map[string]string{
		"GET /dapi/v1/payouts/po_1":                      "dapi GetPayout",
		"POST /dapi/v1/escrow/esc_1/actions/key/confirm": "dapi ConfirmEscrowAction",
		"GET /transactions":                              "appapi ListTransactions",
		"GET /dapi/v1/transactions":                      "dapi ListTransactions",
		"GET /documents/contracts/invoices":              "appapi ListInvoices",
		"GET /documents/contracts/templates":             "appapi ListContractTemplates",
		"PUT /api/v1/documents/contracts/invoices/0b1f7d3e-58a4-4c8e-9d55-3f1f0f0c9a": "refapi UpdateInvoice",
		"GET /utils/rates/EUR":  "public GetRate",
		"GET /dapi/v1/payouts/": "",
		"PUT /dapi/v1/chains":   "",
		"GET /_host/requests":   "",
	} {
		method, path, _ := strings.Cut(request, " ")
		found := ""
		if o := d.Find(method, path); o != nil {
			found = o.Name()
		}
		assert.Equal(t, want, found, request)
	}
	assert.Len(t, d.Operations, 91)
	assert.Equal(t, map[string]string{"escrowId": "esc_1", "idempotencyKey": "k"},
		d.Find("POST", "/dapi/v1/escrow/esc_1/actions/k/confirm").PathValues("/dapi/v1/escrow/esc_1/actions/k/confirm"))
}

func TestLayersReachThroughReferences(t *testing.T) {
	o := read(t).Find("GET", "/documents/contracts/invoices/1")
	answer, exact := o.Response(200)
	require.True(t, exact)
	layers := answer.At("content", "application/json", "schema").Layers()
	assert.True(t, wire.Required(layers, "currency"))
	assert.False(t, wire.Required(layers, "comment"))
	currency, known := wire.Property(layers, "currency")
	require.True(t, known)
	var enumerated []string
	for _, layer := range currency.Layers() {
		enumerated = append(enumerated, layer.At("enum").Texts()...)
	}
	assert.Contains(t, enumerated, "USDC", "of common.yaml, two references away")
	_, known = wire.Property(layers, "downloadLink")
	assert.False(t, known)

	refusal, exact := o.Response(404)
	assert.False(t, exact)
	assert.True(t, refusal.Exists())
	assert.Contains(t, o.Slugs(), "not_found")
	assert.False(t, wire.Node{}.At("a", "b").Target().Exists())
	assert.Empty(t, wire.Node{}.Layers())
}

// assumed returns the place, the part and the reason of each assumption of one file.
func assumed(t *testing.T, name, source string) (assumptions [][3]string) {
	t.Helper()
	d, err := wire.Read(fstest.MapFS{name: {Data: []byte(source)}})
	require.NoError(t, err)
	for _, a := range d.Assumptions {
		assumptions = append(assumptions, [3]string{a.Where, a.What(), a.Reason})
	}
	return assumptions
}

func TestThePlaceOfAnAssumptionReadsWell(t *testing.T) {
	found := assumed(t, "dapi.yaml", `
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
	}, found)
	assert.Equal(t, [][3]string{{"slugs.gone.moved", "all of it", "r1"}, {"slugs[1].moved", "all of it", "r2"}},
		assumed(t, "errors.yaml", `
slugs:
  - {slug: gone, moved: {value: no, x-assumed: r1}}
  - {moved: {value: no, x-assumed: r2}}
`))
}

func TestAMarkWithoutAReasonAndAnUnreadableFileFail(t *testing.T) {
	for name, source := range map[string]string{
		"empty":             "a: {x-assumed: ''}",
		"blank":             "a: {x-assumed: ' '}",
		"null":              "a: {x-assumed: }",
		"list":              "a: {x-assumed: [r]}",
		"no aspects":        "a: {x-assumed: {}}",
		"empty aspect":      "a: {x-assumed: {type: ''}}",
		"values as text":    "a: {x-assumed-values: r}",
		"value unexplained": "a: {x-assumed-values: {v: ''}}",
		"no YAML":           "a: [",
		"an empty file":     "",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wire.Read(fstest.MapFS{"f.yaml": {Data: []byte(source)}})
			require.ErrorContains(t, err, "f.yaml")
			if strings.Contains(source, "x-assumed") {
				assert.ErrorContains(t, err, "f.yaml: line 1: a: ")
				assert.ErrorContains(t, err, "missing")
			}
		})
	}
}
