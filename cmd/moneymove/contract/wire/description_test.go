package wire_test

import (
	"strings"
	"testing"

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
	answer, exact := o.Answer(200)
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

	refusal, exact := o.Answer(404)
	assert.False(t, exact)
	assert.True(t, refusal.Exists())
	assert.Contains(t, o.Slugs(), "not_found")
	assert.False(t, wire.Node{}.At("a", "b").Target().Exists())
	assert.Empty(t, wire.Node{}.Layers())
}
