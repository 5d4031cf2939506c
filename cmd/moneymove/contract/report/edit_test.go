package report_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
)

// Each contradicted assumption comes with its line in the OpenAPI file, and with the edit that would make it true.
func TestAContradictionComesWithTheEdit(t *testing.T) {
	read, login := "GET /dapi/v1/clients/cl_1", `{"email":"a@example.com","requestExpiry":"2026-01-01T00:00:00Z"}`
	for name, c := range map[string]struct {
		made  made
		about string
		edit  string
	}{
		"a member that is missing": {made{request: "GET /dapi/v1/sandbox/treasury", status: 200,
			answer: strings.Replace(treasury, `,"gas":"1"`, "", 1)}, "dapi.yaml Treasury.gas",
			"take `gas` out of `required`"},
		"a member that is null": {made{request: "GET /dapi/v1/sandbox/treasury", status: 200,
			answer: strings.Replace(treasury, `"1"`, "null", 1)}, "dapi.yaml Treasury.gas", "make it `nullable: true`"},
		"a number for a text": {made{request: "GET /dapi/v1/sandbox/treasury", status: 200,
			answer: strings.Replace(treasury, `"1"`, "1.5", 1)}, "dapi.yaml Treasury.gas",
			"`type: number`, in the place of the reference"},
		"a list for a text": {made{request: read, status: 200,
			answer: strings.Replace(client, `"type":"business"`, `"lastName":["Roe"]`, 1)}, "dapi.yaml Client.lastName",
			"`type: array`"},
		"another word": {made{request: read, status: 200,
			answer: strings.Replace(client, "business", "company", 1)}, "dapi.yaml ClientType",
			"add `company` to `enum`"},
		"a time of another form": {made{"POST /dapi/v1/auth/challenge", login, 201,
			strings.Replace(challenge, "2026-01-01T00:00:00Z", "soon", 1), ""}, "dapi.yaml Challenge.expiresAt",
			"take out `format: date-time`"},
		"a longer text than is taken": {made{"POST /dapi/v1/auth/challenge",
			strings.Replace(login, "a@", strings.Repeat("a", 254)+"@", 1), 201, challenge, ""},
			"dapi.yaml ChallengeRequest.email maxLength", "raise `maxLength: 254`"},
		"an id of another prefix": {made{request: "GET /dapi/v1/payins/pi_1", status: 200,
			answer: strings.Replace(payin, "pi_1", "7c9e6679", 1)}, "dapi.yaml PayinID x-id-prefix",
			"take out `x-id-prefix: pi_`"},
		"another status": {made{request: "POST /apps/transfer", body: `{"quoteId":"q_1"}`, status: 202,
			answer: `{"txHash":"0x"}`}, "appapi.yaml CreateTransfer status",
			"describe the answer under '202' in `responses`"},
		"an operation that is not": {made{request: read, status: 404, answer: `<html>`, media: "text/html"},
			"dapi.yaml GetClient", "correct the path or the method of GetClient, or take it out"},
		"an unknown member": {made{request: "GET /cards", status: 200, answer: `{"cards":[],"colour":"red"}`},
			"appapi.yaml ListCards answer", "add `colour` to `properties`, `type: string`"},
		"a field that is unknown": {made{"POST /dapi/v1/clients", `{"email":"a@example.com","type":"business"}`,
			422, refusal("type", "extra_forbidden"), ""}, "dapi.yaml ClientCreate.type", "take `type` out"},
		"a field that is demanded": {made{"POST /dapi/v1/clients", `{"email":"a@example.com"}`, 422,
			refusal("country", "missing"), ""}, "dapi.yaml ClientCreate.country", "add `country` to `required`"},
		"another scope": {made{request: read, status: 403, answer: scoped("clients:read")},
			"dapi.yaml the file x-scope", "`x-scope: clients:read` of GetClient"},
		"a slug that is not listed": {made{request: "GET /user", status: 409,
			answer: `{"error":{"code":"already_funded","message":"No."}}`}, "appapi.yaml the file x-slugs",
			"add already_funded to `x-slugs` of GetProfile"},
	} {
		t.Run(name, func(t *testing.T) {
			a := about(t, judge(t, c.made), c.about)
			require.Equal(t, report.Contradicted, a.Verdict, "%+v", a.Evidence)
			assert.Equal(t, c.edit, a.Edit())
			source, err := os.ReadFile("../../../../openapi/" + a.File)
			require.NoError(t, err)
			line := strings.Split(string(source), "\n")[a.Line-1]
			assert.Contains(t, strings.ReplaceAll(line, "''", "'"), a.Reason, a.Position())
		})
	}
}

// What is not contradicted needs no edit, and one that a test has seen contradicted by itself says so much.
func TestWhatNeedsNoEdit(t *testing.T) {
	r := judge(t, made{request: "GET /dapi/v1/sandbox/treasury", status: 200, answer: treasury})
	assert.Empty(t, about(t, r, "dapi.yaml Treasury.gas").Edit())
	assert.Empty(t, about(t, r, "dapi.yaml GetClient").Edit())
	loaded := load(t)
	r = report.Judge(loaded.description, loaded.validator, nil,
		report.Claim{File: "dapi.yaml", Where: "ListTransactions", Aspect: "order", Operation: "dapi ListTransactions",
			Seen: "oldest first"})
	assert.Equal(t, "write it as the service has it", about(t, r, "dapi.yaml ListTransactions order").Edit())
}

// Each form of the report has both.
func TestReportsNameTheLineAndTheEdit(t *testing.T) {
	r := told(t)
	a := about(t, r, "dapi.yaml Treasury.gas")
	require.NotEmpty(t, a.Edit())
	for name, write := range map[string]func(*bytes.Buffer) error{
		"text": func(b *bytes.Buffer) error { return r.WriteText(b) },
		"JSON": func(b *bytes.Buffer) error { return r.WriteJSON(b) },
	} {
		var written bytes.Buffer
		require.NoError(t, write(&written), name)
		assert.Contains(t, written.String(), a.Position(), name)
		assert.Contains(t, written.String(), a.Edit(), name)
	}
}
