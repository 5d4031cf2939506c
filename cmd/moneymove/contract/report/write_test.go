package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
)

// told is a report with something of everything.
func told(t *testing.T) *report.Report {
	t.Helper()
	r := judge(t,
		made{request: "GET /dapi/v1/sandbox/treasury", status: 200, answer: strings.Replace(treasury, `"1"`, `1`, 1)},
		made{request: "POST /dapi/v1/contacts", body: `{}`, status: 201,
			answer: strings.Replace(contact, `"Bob"`, `7`, 1)},
		made{request: "GET /dapi/v1/clients/cl_1", status: 200,
			answer: strings.Replace(client, "type", "legalForm", 1)},
		made{request: "GET /dapi/v1/payouts/po_1", status: 404,
			answer: `{"error":{"code":"not_found","message":"No."}}`},
	)
	r.Host, r.Started, r.Took = "https://host.example", time.Date(2026, 1, 2, 3, 4, 5, 0,
		time.UTC), 1500*time.Millisecond
	r.Cases = []report.Case{
		{Flow: "payouts", Name: "to a wallet", Outcome: report.Passed, Took: time.Second},
		{Flow: "payouts", Name: "to a bank", Outcome: report.Failed},
		{Flow: "payouts", Name: "that expires", Outcome: report.Skipped, Reason: report.NeedsEmbedded},
		{Flow: "cards", Name: "all", Outcome: report.Skipped, Reason: "needs MONEYMOVEMENT_API_KEY"},
	}
	return r
}

func TestTextReport(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, told(t).WriteText(&out))
	text := out.String()
	for _, part := range []string{
		"against https://host.example, 1.5s",
		"payouts           1       1        0  1",
		"cards             0       0        1  0",
		"Operations        3  of 91 called",
		"Slugs             1  of 46 seen",
		"CONTRADICTED  dapi.yaml Treasury.gas, all of it",
		"dapi GetTreasury 200, answer gas: number, not string",
		`"gas": number`,
		"DEVIATES", "answer name: number, not string",
		"UNDESCRIBED  dapi GetClient 200, answer legalForm",
		"Not called: dapi CreateChallenge, ",
		"Not seen: already_funded, ",
	} {
		assert.Contains(t, text, part, text[:min(len(text), 1200)])
	}
}

func TestJSONReport(t *testing.T) {
	r := told(t)
	var out bytes.Buffer
	require.NoError(t, r.WriteJSON(&out))
	var read struct {
		Host    string
		Summary struct {
			Operations                                                struct{ Seen, Of int }
			Assumptions, Confirmed, Contradicted, Open, NeedsEmbedded int
			NeedsEmbeddedHost                                         int
		}
		Cases, Operations, Slugs, Deviations, Undescribed []any
		Assumptions                                       []struct {
			File, Where, What, Reason, Verdict, Why string
			Evidence                                *struct{ Operation, Field, Seen, Answer string }
		}
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &read))
	assert.Equal(t, "https://host.example", read.Host)
	assert.Equal(t, 3, read.Summary.Operations.Seen)
	assert.Equal(t, 1, read.Summary.NeedsEmbeddedHost)
	assert.Equal(t, len(read.Assumptions), read.Summary.Confirmed+read.Summary.Contradicted+read.Summary.Open)
	assert.Len(t, read.Operations, read.Summary.Operations.Of)
	assert.Len(t, read.Cases, 4)
	assert.Len(t, read.Undescribed, 1)
	for _, a := range read.Assumptions {
		assert.NotEmpty(t, a.Reason)
		switch a.Verdict {
		case "open":
			assert.NotEmpty(t, a.Why, a.Where)
		default:
			require.NotNil(t, a.Evidence, a.Where)
			assert.NotEmpty(t, a.Evidence.Operation)
			assert.NotEmpty(t, a.Evidence.Seen)
		}
	}
}

// Nothing of what a host or the suite sent is written: tokens, numbers, names and addresses stay in the process.
func TestReportsAreRedacted(t *testing.T) {
	secrets := []string{"tok-5f2c", "4242424242424242", "DE89370400440532013000", "Roe", "4711", "hunter2", "cl_secret",
		"vault@example.com"}
	r := judge(t,
		made{"POST /dapi/v1/auth/token", `{"challengeId":"hunter2","publicKey":"hunter2","signature":"hunter2"}`, 201,
			`{"accessToken":"tok-5f2c","refreshToken":4711,"tokenType":"Bearer","expiresIn":"tok-5f2c",` +
				`"refreshExpiresIn":1,"token":"tok-5f2c"}`, ""},
		made{request: "POST /cards/card_1/details", body: `{"messageSignature":"hunter2","nonce":4711}`, status: 200,
			answer: `{"number":"4242424242424242","cvv":4711,"expiryDate":"Roe"}`},
		made{request: "GET /dapi/v1/clients/cl_secret", status: 200,
			answer: `{"id":"cl_secret","email":"vault@example.com","status":"DE89370400440532013000",` +
				`"lastName":["Roe"],"createdAt":"Roe"}`},
		made{request: "GET /user", status: 403,
			answer: `{"error":{"code":"DE89370400440532013000","message":"Roe","details":{"code":"4242424242424242"}}}`},
		made{request: "GET /public/invoices/hunter2/pdf", status: 200, answer: "Roe 4711", media: "text/plain"},
	)
	require.Positive(t, r.Count(report.Contradicted))
	require.NotEmpty(t, r.Deviations)
	r.Started = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var out bytes.Buffer
	require.NoError(t, r.WriteText(&out))
	require.NoError(t, r.WriteJSON(&out))
	for _, secret := range secrets {
		assert.NotContains(t, out.String(), secret)
	}
}

func FuzzRedacted(f *testing.F) {
	f.Add(`{"a":["text",1,null,true,{"code":"not_found"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		const secret = "5ecret-"
		var value any
		if json.Unmarshal([]byte(body), &value) != nil {
			value = body
		}
		written := report.Redacted(map[string]any{"code": secret, "field": []any{secret, value},
			"details": map[string]any{"field": secret}})
		spelled, err := json.Marshal(value) // without escapes of letters, in which a body can hide the secret as a name
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(spelled), secret) && strings.Contains(written, secret) {
			t.Errorf("%s", written)
		}
	})
}
