package report_test

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/report"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/openapi"
)

// made is a made-up observation.
type made struct {
	request string // method and path, with query; a whole address if it is at another host
	body    string
	status  int
	answer  string // JSON, unless media says otherwise
	media   string
}

// loaded are the readers of the description, which are only read.
var loaded = sync.OnceValues(func() (readers, error) {
	d, err := wire.Read(openapi.Files)
	if err != nil {
		return readers{}, err
	}
	v, err := report.NewValidator()
	return readers{d, v}, err
})

type readers struct {
	description *wire.Description
	validator   *report.Validator
}

func load(t *testing.T) readers {
	t.Helper()
	r, err := loaded()
	require.NoError(t, err)
	return r
}

// observe sends each request through an observer to a host that answers as made up.
func observe(t *testing.T, d *wire.Description, all ...made) []*report.Exchange {
	t.Helper()
	log := report.NewLog(d, "")
	for _, m := range all {
		observer := &report.Observer{Log: log, Next: roundTrip(func(r *http.Request) *http.Response {
			media := m.media
			if media == "" {
				media = "application/json"
			}
			return &http.Response{
				StatusCode: m.status, Body: io.NopCloser(strings.NewReader(m.answer)), Request: r,
				Header: http.Header{"Content-Type": {media}, "X-Request-Id": {"req_1"}},
			}
		})}
		method, path, _ := strings.Cut(m.request, " ")
		if strings.HasPrefix(path, "/") {
			path = "https://host.example" + path
		}
		request, err := http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(m.body))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/json")
		answer, err := observer.RoundTrip(request)
		require.NoError(t, err)
		received, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, m.answer, string(received), "the SDK reads what came")
	}
	return log.Exchanges()
}

type roundTrip func(*http.Request) *http.Response

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func judge(t *testing.T, all ...made) *report.Report {
	t.Helper()
	r := load(t)
	return report.Judge(r.description, r.validator, observe(t, r.description, all...))
}

// about finds an assumption as "dapi.yaml Challenge.payload" or "dapi.yaml Asset pattern".
func about(t *testing.T, r *report.Report, name string) report.AssumptionSeen {
	t.Helper()
	for _, a := range r.Assumptions {
		if strings.TrimSpace(a.File+" "+a.Where+" "+a.Aspect) == name {
			return a
		}
	}
	t.Fatalf("nothing is assumed about %s", name)
	return report.AssumptionSeen{}
}

const (
	treasury  = `{"maxCredit":"100","balances":[{"currency":"USDC","available":"5"}],"gas":"1"}`
	contact   = `{"id":"ct_1","name":"Bob","isExternal":true,"createdAt":"2026-01-01T00:00:00Z"}`
	payin     = `{"id":"pi_1","status":"quoted","createdAt":"2026-01-01T00:00:00Z"}`
	challenge = `{"challengeId":"ch_1","payload":"bG9naW4=","expiresAt":"2026-01-01T00:00:00Z"}`
	client    = `{"id":"cl_1","email":"a@example.com","status":"ready","type":"business",` +
		`"createdAt":"2026-01-01T00:00:00Z"}`
	refused = `{"error":{"code":"validation_failed","message":"No.","details":{"fields":[{"field":"FIELD",` +
		`"code":"CODE","message":"No."}]}}}`
)

func refusal(field, code string) string {
	return strings.NewReplacer("FIELD", field, "CODE", code).Replace(refused)
}

func scoped(required string) string {
	return `{"error":{"code":"forbidden","message":"No.","details":{"requiredScope":"` + required + `","scope":[]}}}`
}

// Each row is one answer, one assumption, and what the answer shows of it.
func TestVerdictOfOneResponse(t *testing.T) {
	login := `{"email":"a@example.com","requestExpiry":"2026-01-01T00:00:00Z"}`
	for name, c := range map[string]struct {
		made    made
		about   string
		verdict report.Verdict
		field   string
		seen    string // part of it
	}{
		"a field as assumed": {made{request: "GET /dapi/v1/sandbox/treasury", status: 200, answer: treasury},
			"dapi.yaml Treasury.gas", report.Confirmed, "answer gas", "decimal of 1 characters"},
		"a field of another name": {made{request: "GET /dapi/v1/sandbox/treasury", status: 200,
			answer: strings.Replace(treasury, "gas", "fuel", 1)}, "dapi.yaml Treasury.gas", report.Contradicted,
			"answer gas", "missing"},
		"a field of another type": {made{request: "GET /dapi/v1/sandbox/treasury", status: 200,
			answer: strings.Replace(treasury, `"1"`, `1`, 1)}, "dapi.yaml Treasury.gas", report.Contradicted,
			"answer gas", "number, not string"},
		"a field of another form": {made{request: "GET /dapi/v1/sandbox/treasury", status: 200,
			answer: strings.Replace(treasury, `"1"`, `"one"`, 1)}, "dapi.yaml Treasury.gas", report.Contradicted,
			"answer gas", "text of 3 characters, not"},
		"bytes that are not base64": {made{"POST /dapi/v1/auth/challenge", login, 201,
			strings.Replace(challenge, "bG9naW4=", "?", 1), ""}, "dapi.yaml Base64", report.Contradicted,
			"answer payload", "byte"},
		"a value as assumed": {made{request: "GET /dapi/v1/clients/cl_1", status: 200, answer: client},
			"dapi.yaml ClientType value business", report.Confirmed, "answer type", `"business"`},
		"another value": {made{request: "GET /dapi/v1/clients/cl_1", status: 200,
			answer: strings.Replace(client, "business", "company", 1)}, "dapi.yaml ClientType", report.Contradicted,
			"answer type", `"company", not one of`},
		"another value of some": {made{request: "GET /dapi/v1/clients/cl_1", status: 200,
			answer: strings.Replace(client, "ready", "making", 1)}, "dapi.yaml ClientStatus value pending",
			report.Contradicted, "answer status", `"making"`},
		"an operation that is there": {made{request: "GET /dapi/v1/clients/cl_1", status: 200, answer: client},
			"dapi.yaml GetClient", report.Confirmed, "answer", "OK"},
		"an operation that is not": {made{request: "GET /dapi/v1/clients/cl_1", status: 404, answer: `<html>`,
			media: "text/html"}, "dapi.yaml GetClient", report.Contradicted, "answer status", "Not Found"},
		"a thing that is not": {made{request: "GET /dapi/v1/clients/cl_1", status: 404,
			answer: `{"error":{"code":"not_found","message":"No."}}`}, "dapi.yaml GetClient", report.Open, "", ""},
		"an id of another prefix": {made{request: "GET /dapi/v1/clients/cl_1", status: 200,
			answer: strings.Replace(client, "cl_1", "client_1", 1)}, "dapi.yaml ClientID pattern", report.Contradicted,
			"answer id", "cl_"},
		"no content, as assumed": {made{request: "DELETE /dapi/v1/contacts/ct_1", status: 204},
			"dapi.yaml DeleteContact answer 204", report.Confirmed, "answer", "null"},
		"an id with the prefix": {made{request: "GET /dapi/v1/payins/pi_1", status: 200, answer: payin},
			"dapi.yaml PayinID x-id-prefix", report.Confirmed, "answer id", "pi_"},
		"an id of its own style": {made{request: "GET /dapi/v1/payins/pi_1", status: 200,
			answer: strings.Replace(payin, "pi_1", "7c9e6679", 1)}, "dapi.yaml PayinID x-id-prefix",
			report.Contradicted, "answer id", "pi_ before it"},
		"another status": {made{request: "DELETE /dapi/v1/contacts/ct_1", status: 200, answer: `{}`},
			"dapi.yaml DeleteContact answer 204", report.Contradicted, "answer status", "OK"},
		"a status of an operation": {made{request: "POST /apps/transfer", body: `{"quoteId":"q_1"}`, status: 202,
			answer: `{"txHash":"0x"}`}, "appapi.yaml CreateTransfer status", report.Contradicted, "answer status",
			"Accepted"},
		"an answer of another shape": {made{request: "GET /cards", status: 200, answer: `[]`},
			"appapi.yaml ListCards answer", report.Contradicted, "answer", "list of 0, not object"},
		"an answer that is HTML": {made{request: "GET /cards", status: 200, answer: `<html>`, media: "text/html"},
			"appapi.yaml ListCards answer", report.Contradicted, "answer content type", "text of 9 characters"},
		"an unknown field of quotes": {made{request: "POST /dapi/v1/payins", body: `{"amount":"1","currency":"USDC"}`,
			status: 201,
			answer: `{"id":"pi_1","status":"quoted","createdAt":"2026-01-01T00:00:00Z","quote":{"sourceAmount":"1",` +
				`"sourceCurrency":"USDC","destinationAmount":"1","destinationCurrency":"USDC","rate":"1","fee":"0",` +
				`"expiresAt":"2026-01-01T00:00:00Z","spread":"0"}}`}, "dapi.yaml Quote", report.Contradicted, "answer quote.spread", "not described"},
		"a refusal of another shape": {made{request: "GET /user", status: 403, answer: `{"message":"No."}`},
			"appapi.yaml response Refusal", report.Contradicted, "answer error", "missing"},
		"a refusal as assumed": {made{request: "GET /user", status: 403,
			answer: `{"error":{"code":"forbidden","message":"No."}}`}, "appapi.yaml response Refusal", report.Confirmed,
			"answer", "object"},
		"the scope that is taken": {made{request: "GET /dapi/v1/clients/cl_1", status: 403, answer: scoped("read")},
			"dapi.yaml the file x-scope", report.Confirmed, "answer error.details.requiredScope", "read"},
		"a scope of another name": {made{request: "GET /dapi/v1/clients/cl_1", status: 403,
			answer: scoped("clients:read")}, "dapi.yaml the file x-scope", report.Contradicted,
			"answer error.details.requiredScope", "clients:read"},
		"a slug that fits not there": {made{request: "GET /dapi/v1/clients/cl_1", status: 409,
			answer: `{"error":{"code":"already_funded","message":"No."}}`}, "dapi.yaml the file x-slugs",
			report.Contradicted, "answer error.code", "already_funded"},
		"another resource": {made{request: "PATCH /dapi/v1/contacts/ct_1", body: `{}`, status: 200,
			answer: `{"updated":true}`}, "dapi.yaml UpdateContact resource", report.Contradicted, "answer id",
			"missing"},
		"a slug that is not listed": {made{request: "GET /user", status: 409,
			answer: `{"error":{"code":"already_funded","message":"No."}}`}, "appapi.yaml the file x-slugs",
			report.Contradicted, "answer error.code", "already_funded"},

		"a field that was taken": {made{"POST /dapi/v1/clients", `{"email":"a@example.com","type":"business"}`,
			201, client, ""}, "dapi.yaml ClientCreate.type", report.Confirmed, "request type", `"business"`},
		"a field that is unknown there": {made{"POST /dapi/v1/clients", `{"email":"a@example.com","type":"business"}`,
			422, refusal("type", "extra_forbidden"), ""}, "dapi.yaml ClientCreate.type", report.Contradicted,
			"request type", "unknown to the service"},
		"a field that is demanded": {made{"POST /dapi/v1/sandbox/deposits", `{"currency":"USDC"}`, 422,
			refusal("amount", "missing"), ""}, "dapi.yaml DepositCreate.amount required", report.Confirmed,
			"request amount", "demanded"},
		"a field that is not demanded": {made{"POST /dapi/v1/sandbox/deposits", `{"currency":"USDC"}`, 201, `{}`, ""},
			"dapi.yaml DepositCreate.amount required", report.Contradicted, "request amount", "missing"},
		"a field demanded after all": {made{"POST /dapi/v1/clients", `{"email":"a@example.com"}`, 422,
			refusal("country", "missing"), ""}, "dapi.yaml ClientCreate.country", report.Contradicted,
			"request country", "demanded"},
		"a bound that is the service's": {made{"POST /dapi/v1/auth/challenge", `{"email":"` + strings.Repeat("a", 250) +
			`@example.com","requestExpiry":"2026-01-01T00:00:00Z"}`, 422, refusal("email", "too_long"), ""},
			"dapi.yaml ChallengeRequest.email maxLength", report.Confirmed, "request email", "too_long"},
		"a bound that is not": {made{"POST /dapi/v1/auth/challenge", `{"email":"` + strings.Repeat("a", 250) +
			`@example.com","requestExpiry":"2026-01-01T00:00:00Z"}`, 201, challenge, ""},
			"dapi.yaml ChallengeRequest.email maxLength", report.Contradicted, "request email", "at most 254"},
		"a bound that nothing shows": {made{"POST /dapi/v1/auth/challenge", login, 201, challenge, ""},
			"dapi.yaml ChallengeRequest.email maxLength", report.Open, "", ""},
		"a bound of a query": {made{request: "GET /user/contacts?limit=101", status: 422,
			answer: strings.Replace(refusal("limit", "less_than_equal"), `"fields"`, `"location":"query","fields"`, 1)},
			"appapi.yaml parameter Limit maximum", report.Confirmed, "request limit", "less_than_equal"},
		"a filter that was taken": {made{request: "GET /dapi/v1/transactions?type=deposit", status: 200,
			answer: `{"items":[]}`}, "dapi.yaml ListTransactions ?type", report.Confirmed, "request query type",
			`"deposit"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := judge(t, c.made)
			a := about(t, r, c.about)
			require.Equal(t, c.verdict, a.Verdict, "%+v", a.Evidence)
			if c.verdict == report.Open {
				assert.NotEmpty(t, a.Why)
				return
			}
			assert.Equal(t, c.field, a.Evidence.Field)
			assert.Contains(t, a.Evidence.Seen, c.seen)
			assert.Equal(t, c.made.status, a.Evidence.Status)
			assert.Equal(t, c.verdict == report.Contradicted && strings.HasPrefix(c.made.answer, "{"),
				strings.HasPrefix(a.Evidence.Response, "{"), "the answer that shows it")
		})
	}
}

func TestOneContradictionOutweighsAll(t *testing.T) {
	good := made{request: "GET /dapi/v1/sandbox/treasury", status: 200, answer: treasury}
	bad := good
	bad.answer = strings.Replace(treasury, `"1"`, `1`, 1)
	assert.Equal(t, report.Contradicted, about(t, judge(t, good, bad, good), "dapi.yaml Treasury.gas").Verdict)
	there := made{request: "GET /dapi/v1/clients/cl_1", status: 200, answer: client}
	gone := made{request: "GET /dapi/v1/clients/cl_2", status: 404,
		answer: `{"error":{"code":"not_found","message":"No."}}`}
	assert.Equal(t, report.Confirmed, about(t, judge(t, gone, there), "dapi.yaml GetClient").Verdict,
		"only this client is not there")
}

// What is stated is not assumed: an answer that differs from it is told apart.
func TestDeviationsFromWhatIsStated(t *testing.T) {
	r := judge(t, made{request: "POST /dapi/v1/contacts", body: `{}`, status: 201,
		answer: strings.Replace(contact, `"Bob"`, `7`, 1)})
	require.Len(t, r.Deviations, 1)
	assert.Equal(t, "answer name", r.Deviations[0].Field)
	assert.Equal(t, "number, not string", r.Deviations[0].Seen)
	assert.Equal(t, []string{"dapi CreateContact: name: type"}, r.Violations, "the second reader sees it as well")
	assert.Zero(t, r.Count(report.Contradicted))

	r = judge(t,
		made{request: "GET /dapi/v1/chains", status: 418, answer: `{"error":{"code":"teapot","message":"No."}}`})
	require.Len(t, r.Deviations, 1)
	assert.Contains(t, r.Deviations[0].Seen, "catalogue")
}

// A field that nothing describes may be an assumed one under its right name.
func TestAFieldBesideAnAssumedOne(t *testing.T) {
	r := judge(t,
		made{request: "GET /dapi/v1/clients/cl_1", status: 200,
			answer: strings.Replace(client, "type", "legalForm", 1)})
	require.Len(t, r.Undescribed, 1)
	assert.Equal(t, "answer legalForm", r.Undescribed[0].Field)
	a := about(t, r, "dapi.yaml Client.type")
	assert.Equal(t, report.Open, a.Verdict)
	assert.Contains(t, a.Why, "legalForm")
	assert.Empty(t, r.Deviations)
}

func TestRepeats(t *testing.T) {
	contact := func(id string) string {
		return `{"id":"` + id + `","name":"A","createdAt":"2026-01-01T00:00:00Z"}`
	}
	body := `{"name":"A","account":{"accountType":"email","email":"a@example.com"}}`
	first := made{"POST /user/contact", body, 201, contact("11111111-1111-4111-8111-111111111111"), ""}
	other := made{"POST /user/contact", body, 201, contact("22222222-2222-4222-8222-222222222222"), ""}
	assert.Equal(t, report.Confirmed, about(t, judge(t, first, first), "appapi.yaml CreateContact idempotency").Verdict)
	assert.Equal(t, report.Contradicted, about(t, judge(t, first, other), "appapi.yaml CreateContact idempotency").
		Verdict)
	elsewhere := other
	elsewhere.request = "POST https://other.example/user/contact"
	assert.Equal(t, report.Open, about(t, judge(t, first, elsewhere), "appapi.yaml CreateContact idempotency").Verdict,
		"another host knows nothing of it")
	r := load(t)
	scripted := observe(t, r.description, first, other)
	scripted[1].Scripted = true
	assert.Equal(t, report.Open, about(t, report.Judge(r.description, r.validator, scripted),
		"appapi.yaml CreateContact idempotency").Verdict, "a host told what to answer shows nothing")
	other.body = strings.Replace(body, "a@", "b@", 1)
	assert.Equal(t, report.Open, about(t, judge(t, first, other), "appapi.yaml CreateContact idempotency").Verdict,
		"another contact is no repeat")

	invoice := func(id string) made {
		return made{"POST /documents/contracts/invoices", `{"currency":"USD","items":[]}`, 201,
			`{"id":"` + id + `","items":[{"name":"A","id":"same"}]}`, ""}
	}
	assert.Equal(t, report.Confirmed,
		about(t, judge(t, invoice("1"), invoice("2")), "appapi.yaml CreateInvoice idempotency").Verdict,
		"it may make another one, and did")
	a := about(t, judge(t, invoice("1"), invoice("1")), "appapi.yaml CreateInvoice idempotency")
	assert.Equal(t, report.Open, a.Verdict, "that it may is not contradicted")
	assert.NotEmpty(t, a.Why)

	gone := made{request: "DELETE /user/contacts/11111111-1111-4111-8111-111111111111", status: 404,
		answer: `{"error":{"code":"not_found","message":"No."}}`}
	deleted := made{request: gone.request, status: 204}
	assert.Equal(t, report.Confirmed, about(t, judge(t, deleted, gone), "appapi.yaml DeleteContact idempotency").
		Verdict)
}

func TestClaims(t *testing.T) {
	d, v := load(t).description, load(t).validator
	r := report.Judge(d, v, nil, report.Claim{File: "common.yaml", Where: "LineItem.price", Aspect: "unit",
		Confirmed: true, Seen: "30"})
	assert.Equal(t, report.Confirmed, about(t, r, "common.yaml LineItem.price unit").Verdict)
	r = report.Judge(d, v, nil, report.Claim{File: "common.yaml", Where: "LineItem.price", Aspect: "unit"})
	assert.Equal(t, report.Contradicted, about(t, r, "common.yaml LineItem.price unit").Verdict)
	r = report.Judge(d, v, nil, report.Claim{Where: "nowhere", Confirmed: true})
	require.Len(t, r.Deviations, 1)
}

func TestScriptedResponsesAreIgnored(t *testing.T) {
	d, v := load(t).description, load(t).validator
	exchanges := observe(t, d,
		made{request: "GET /dapi/v1/chains", status: 410, answer: `{"error":{"code":"gone","message":"No.","odd":1}}`})
	exchanges[0].Scripted = true
	r := report.Judge(d, v, exchanges)
	seen, _ := r.Refused()
	assert.Equal(t, 1, seen)
	assert.True(t, slug(r, "gone").Controls, "and the report says so")
	assert.Empty(t, r.Deviations)
	assert.Empty(t, r.Undescribed)
	assert.Zero(t, r.Count(report.Confirmed))
}

func TestSlugsOfControlCallsAreDistinguished(t *testing.T) {
	d, v := load(t).description, load(t).validator
	refusal := func(request, slug string) made {
		return made{request: request, status: 404, answer: `{"error":{"code":"` + slug + `","message":"No."}}`}
	}
	exchanges := observe(t, d, refusal("DELETE /_host/keys/dk_1", "developer_key_not_found"),
		refusal("DELETE /_host/keys/dk_1", "not_found"), refusal("GET /dapi/v1/payouts/po_1", "not_found"),
		refusal("DELETE /_host/keys/dk_1", "not_found"))
	r := report.Judge(d, v, exchanges)
	assert.True(t, slug(r, "developer_key_not_found").Controls)
	assert.False(t, slug(r, "not_found").Controls)
}

func slug(r *report.Report, name string) report.SlugSeen {
	return r.Slugs[slices.IndexFunc(r.Slugs, func(s report.SlugSeen) bool { return s.Slug == name })]
}

// Some assumptions are about several values together.
func TestClaimsFromSeveralValues(t *testing.T) {
	chains := func(code string) made {
		return made{request: "GET /dapi/v1/chains", status: 200,
			answer: `{"items":[{"chainId":1,"code":"ethereum"},{"chainId":8453,"code":"` + code + `"}]}`}
	}
	entries := func(first, second string) made {
		return made{request: "GET /dapi/v1/transactions", status: 200,
			answer: `{"items":[{"createdAt":"` + first + `"},{"createdAt":"` + second + `"}]}`}
	}
	const early, late = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01+00:00"
	const base, order = "coverage.yaml onChain chain", "dapi.yaml ListTransactions order"
	for name, c := range map[string]struct {
		made    made
		about   string
		verdict report.Verdict
	}{
		"Base has its code":         {chains("base"), base, report.Confirmed},
		"Base has another code":     {chains("base-mainnet"), base, report.Contradicted},
		"Base has no code":          {chains(""), base, report.Open},
		"the newest entry is first": {entries(late, early), order, report.Confirmed},
		"the oldest entry is first": {entries(early, late), order, report.Contradicted},
		"entries of one moment":     {entries(early, early), order, report.Open},
		"entries without a time":    {entries("today", late), order, report.Open},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.verdict, about(t, judge(t, c.made), c.about).Verdict)
		})
	}
}

// Each contradicted assumption comes with its line in the OpenAPI file, and with the edit that would make it true.
func TestContradictedAssumptionHasItsLineAndEdit(t *testing.T) {
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
func TestUncontradictedAssumptionNeedsNoEdit(t *testing.T) {
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
