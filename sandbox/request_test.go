package sandbox_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Rule: endpoint.base, status.404
func TestUnknownPathsAreNotFound(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	for _, path := range []string{"/", "/dapi", "/dapi/v1", "/dapi/v1/", "/dapi/v2/chains", "/dapi/v1/chains/",
		"/dapi/v1//chains", "/dapi/v1/payouts//confirm", "/dapi/v1/bank", "/dapi/v1/escrow/esc_1", "/_host/clock",
		"/users"} {
		refused(t, http.StatusNotFound, "not_found", w.call("GET", path, nil, "Authorization", "Bearer "+me.access))
	}
}

// Rule: status.405
func TestWrongMethodHasAllowHeader(t *testing.T) {
	me := newWorld(t).login()
	for _, c := range []struct{ method, path, allow string }{
		{"GET", "/payouts", "POST"},
		{"DELETE", "/chains", "GET"},
		{"PUT", "/contacts/ct_1", "DELETE, PATCH"},
	} {
		got := me.call(c.method, c.path, nil)
		refused(t, http.StatusMethodNotAllowed, "method_not_allowed", got)
		assert.Equal(t, c.allow, got.header.Get("Allow"))
	}
}

// Rule: endpoint.request-id
func TestEveryResponseHasARequestID(t *testing.T) {
	me := newWorld(t).login()
	first, second := me.call("GET", "/chains", nil), me.call("GET", "/nowhere", nil)
	assert.NotEmpty(t, first.header.Get("X-Request-ID"))
	assert.NotEmpty(t, second.header.Get("X-Request-ID"))
	assert.NotEqual(t, first.header.Get("X-Request-ID"), second.header.Get("X-Request-ID"))
	assert.NotContains(t, first.header, "Idempotency-Replayed")
}

// Rule: endpoint.json, status.400, status.413
func TestUnreadableBodiesAreRefused(t *testing.T) {
	me := newWorld(t).login()
	for name, body := range map[string]string{
		"empty":            "",
		"no JSON":          "{",
		"null":             "null",
		"two values":       `{"email":"a@example.com"} {}`,
		"trailing text":    `{"email":"a@example.com"}x`,
		"an array":         `[]`,
		"a name twice":     `{"email":"a@example.com","email":"b@example.com"}`,
		"a part's, twice":  `{"email":"a@example.com","more":{"a":1,"a":2}}`,
		"not UTF-8":        "{\"email\":\"\xff@example.com\"}",
		"half a character": `{"email":"\ud800@example.com"}`,
		"a byte order":     "\ufeff" + `{"email":"a@example.com"}`,
		"no number":        `{"email":01}`,
		"half a number":    `{"email":1.}`,
		"too deep":         strings.Repeat(`{"a":`, 10_001) + "1" + strings.Repeat("}", 10_001),
	} {
		t.Run(name, func(t *testing.T) {
			refused(t, http.StatusBadRequest, "invalid_request", me.call("POST", "/clients", body))
		})
	}
	t.Run("another type", func(t *testing.T) {
		refused(t, http.StatusBadRequest, "invalid_request",
			me.call("POST", "/clients", `{"email":"a@example.com"}`, "Content-Type", "text/plain"))
	})
	t.Run("too large", func(t *testing.T) {
		refused(t, http.StatusRequestEntityTooLarge, "payload_too_large",
			me.call("POST", "/clients", `{"email":"`+strings.Repeat("a", 1<<20)+`@example.com"}`))
	})
	t.Run("parameters of the media type are fine", func(t *testing.T) {
		me.must(http.StatusCreated, "POST", "/clients", `{"email":"a@example.com"}`, "Content-Type",
			"application/json; charset=utf-8")
	})
}

// Rule: status.400
func TestMalformedQueriesAreRefused(t *testing.T) {
	me := newWorld(t).login()
	for _, query := range []string{"limit=%zz", "limit=1;cursor=x", "%zz=1", "limit=1&limit=2"} {
		refused(t, http.StatusBadRequest, "invalid_request", me.call("GET", "/transactions?"+query, nil))
	}
}

// Rule: error.unknown-key, endpoint.json
func TestBodyMembersAreRefusedWithoutRequestBody(t *testing.T) {
	p := newPayer(t)
	payin := p.payin(nil).body.text("id")
	instructions := "/payins/" + payin + "/instructions"
	for _, path := range []string{
		"/client/kyb/complete", instructions, "/sandbox/payins/" + payin + "/complete",
		"/escrow/" + p.mustCreateEscrow("escrow-1", nil).body.text("id") + "/sync",
	} {
		got := p.call("POST", path, object{"amount": "1", "key": "x"})
		refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
		assert.Equal(t, map[string]string{"amount": "extra_forbidden", "key": "extra_forbidden"}, got.fields(), path)
		refused(t, http.StatusBadRequest, "invalid_request", p.call("POST", path, "{{"))
	}
	refused(t, http.StatusUnprocessableEntity, "validation_failed",
		p.call("DELETE", "/contacts/"+p.contact, object{"name": "Bob"}))
	p.must(http.StatusCreated, "POST", instructions, object{})
}

// Rule: error.fields, error.missing, error.unknown-key, contact.variants, status.422
func TestAllInvalidFieldsAreNamed(t *testing.T) {
	me := newWorld(t).login()
	cases := []struct {
		name, method, path string
		body               any
		want               map[string]string
	}{
		{"missing", "POST", "/clients", object{}, map[string]string{"email": "missing"}},
		{"unknown", "POST", "/clients", object{"email": "a@example.com", "emial": "x"},
			map[string]string{"emial": "extra_forbidden"}},
		{"another case", "POST", "/clients", object{"Email": "a@example.com"},
			map[string]string{"Email": "extra_forbidden", "email": "missing"}},
		{"several", "POST", "/payouts", object{"amount": "ten", "currency": "GBP", "purpose": strings.Repeat("x", 65)},
			map[string]string{"contactId": "missing", "amount": "string_pattern_mismatch", "currency": "enum",
				"purpose": "string_too_long"}},
		{"types", "POST", "/payouts", object{"contactId": "ct_1", "amount": true, "currency": nil, "documentIds": "x",
			"toChainId": "base"},
			map[string]string{"amount": "string_type", "currency": "enum", "documentIds": "list_type",
				"toChainId": "int_type"}},
		{"integers out of bounds", "POST", "/payins",
			`{"amount":"50","currency":"USDC","originChainId":9223372036854775808}`,
			map[string]string{"originChainId": "int_type"}},
		{"inside arrays", "POST", "/payouts", object{"contactId": "ct_1", "amount": "1", "currency": "USDC",
			"documentIds": []any{"a", ""}},
			map[string]string{"documentIds.1": "string_too_short"}},
		{"formats", "POST", "/auth/challenge", object{"email": "nobody", "requestExpiry": "tomorrow"},
			map[string]string{"email": "value_error", "requestExpiry": "datetime_parsing"}},
		{"base64", "POST", "/auth/token", object{"challengeId": "ch_1", "publicKey": "AAA_", "signature": "AAA"},
			map[string]string{"publicKey": "bytes_invalid_encoding", "signature": "bytes_invalid_encoding"}},
		{"inside a variant", "POST", "/contacts",
			object{"account": object{"accountType": "sepa", "iban": 1, "ibn": "x"}},
			map[string]string{"account.iban": "string_type", "account.ibn": "extra_forbidden"}},
		{"no such variant", "POST", "/contacts", object{"account": object{"accountType": "cash"}},
			map[string]string{"account.accountType": "union_tag_invalid"}},
		{"no variant", "POST", "/contacts", object{"account": object{"iban": "x"}},
			map[string]string{"account.accountType": "union_tag_not_found"}},
		{"a variant by what only it has", "POST", "/contacts",
			object{"account": object{"walletAddress": payee, "email": "bob@example.com"}},
			map[string]string{"account.chainId": "missing", "account.currency": "missing"}},
		{"no object", "POST", "/contacts", object{"account": "x"}, map[string]string{"account": "dict_type"}},
		{"too long", "POST", "/contacts", object{"name": strings.Repeat("é", 201), "email": "bob@example.com"},
			map[string]string{"name": "string_too_long"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := me.call(c.method, c.path, c.body)
			refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
			assert.Equal(t, c.want, got.fields())
			assert.Len(t, got.body.at("error", "details", "fields"), len(c.want), "each is named once")
			assert.Nil(t, got.body.at("error", "details", "location"))
		})
	}
}

// Rule: error.location, page.limit, page.cursor-size
func TestParameterErrorsNameLocation(t *testing.T) {
	me := newWorld(t).login()
	for query, want := range map[string]map[string]string{
		"limit=0":              {"limit": "greater_than_equal"},
		"limit=101":            {"limit": "less_than_equal"},
		"limit=many":           {"limit": "int_parsing"},
		"limit=0&type=gift":    {"limit": "greater_than_equal", "type": "enum"},
		"since=the%20big-bang": {"since": "datetime_parsing"},
	} {
		t.Run(query, func(t *testing.T) {
			got := me.call("GET", "/transactions?"+query, nil)
			refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
			assert.Equal(t, want, got.fields())
			assert.Equal(t, "query", got.body.text("error", "details", "location"))
		})
	}
	refused(t, http.StatusBadRequest, "invalid_cursor", me.call("GET", "/transactions?cursor="+strings.Repeat("c", 513),
		nil))
	refused(t, http.StatusBadRequest, "invalid_cursor", me.call("GET", "/transactions?cursor=made-up", nil))
}

// Rule: size.id-prefix, status.400
func TestIDWithWrongPrefixIsRefused(t *testing.T) {
	me := newWorld(t).login()
	for _, c := range []struct {
		method, path string
		body         any
		prefix       string
	}{
		{"GET", "/clients/po_1", nil, "cl_"},
		{"GET", "/clients/1", nil, "cl_"},
		{"GET", "/payouts/cl_1", nil, "po_"},
		{"GET", "/payouts/..", nil, "po_"},
		{"GET", "/payouts/po_%2Fconfirm", nil, "po_"},
		{"GET", "/contacts/po_1/capabilities", nil, "ct_"},
		{"DELETE", "/contacts/cl_1", nil, "ct_"},
		{"POST", "/payouts", object{"contactId": "po_1", "amount": "1", "currency": "USDC"}, "ct_"},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			got := me.call(c.method, c.path, c.body)
			refused(t, http.StatusBadRequest, "invalid_id", got)
			assert.Equal(t, c.prefix, got.body.text("error", "details", "expectedPrefix"))
		})
	}
	refused(t, http.StatusNotFound, "not_found", me.call("GET", "/clients/cl_unknown", nil))
	refused(t, http.StatusNotFound, "not_found", me.call("GET", "/contacts/unknown/capabilities", nil))
}

// Rule: idempotency.pattern, status.400
func TestIdempotencyKeyPattern(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	body := object{"email": "acme@example.com"}
	for _, key := range []string{"with space", "ümlaut", strings.Repeat("k", 129), "slash/"} {
		refused(t, http.StatusBadRequest, "idempotency_key_invalid",
			me.call("POST", "/clients", body, "Idempotency-Key", key))
	}
	me.must(http.StatusCreated, "POST", "/clients", body, "Idempotency-Key", strings.Repeat("k", 128))
	me.must(http.StatusOK, "GET", "/chains", nil, "Idempotency-Key", "not a write")
}

// Rule: session.service-account, status.404
func TestServiceAccountHeaderMustBeOwnClient(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	acme := me.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"}).body.text("id")
	me.as(acme).must(http.StatusOK, "GET", "/transactions", nil)

	other := newSigner(t)
	_, err := w.host.RegisterKey(sandbox.KeyRegistration{Email: "other@example.com", PublicKey: other.public(t)})
	require.NoError(t, err)
	refused(t, http.StatusNotFound, "not_found", w.loginAs("other@example.com", other).as(acme).
		call("GET", "/transactions", nil))
	// whether its response is an account's own or not
	for _, path := range []string{"/transactions", "/chains", "/sandbox/treasury", "/clients/" + acme} {
		refused(t, http.StatusNotFound, "not_found", me.as("cl_unknown").call("GET", path, nil))
	}

	foreign := me.as("po_1").call("GET", "/transactions", nil)
	refused(t, http.StatusBadRequest, "invalid_id", foreign)
	assert.Equal(t, "cl_", foreign.body.text("error", "details", "expectedPrefix"))
}

// Rule: contact.default-variant
func TestAccountTypeMayBeOmittedIfDefault(t *testing.T) {
	acme := newWorld(t).login().readyClient("acme@example.com")
	onchain := acme.must(http.StatusCreated, "POST", "/contacts", object{"account": object{
		"walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7", "chainId": "base", "currency": "USDC",
	}})
	assert.Equal(t, "base", onchain.body.text("crypto", "chain"))
}

// Rule: error.request-id, status.503
func TestDatabaseUnavailable(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.DatabaseAvailable = false }))
	got := me.call("GET", "/chains", nil)
	refused(t, http.StatusServiceUnavailable, "database_unavailable", got)
	assert.Equal(t, got.header.Get("X-Request-ID"), got.body.text("error", "details", "requestId"))
}

func TestRequestLogHasNoSecrets(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	me.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"}, "Idempotency-Key", "client-1")
	refused(t, http.StatusNotFound, "not_found", me.call("GET", "/clients/cl_unknown", nil))

	requests := w.host.Requests()
	require.Len(t, requests, 4, "two of the login, two of the session")
	created, read := requests[2], requests[3]
	assert.Equal(t, "CreateClient", created.Operation)
	assert.Equal(t, "client-1", created.IdempotencyKey)
	assert.Equal(t, "self", created.Account)
	assert.Equal(t, 201, created.Status)
	assert.Equal(t, "/dapi/v1/clients/cl_unknown", read.Path)
	assert.Equal(t, "not_found", read.Slug)
	for _, request := range requests {
		assert.NotContains(t, fmt.Sprintf("%+v", request), me.access)
		assert.NotEmpty(t, request.RequestID)
	}
}

// Anybody can send a megabyte as a path, and the log remembers thousands of requests.
func TestLogMemoryOfLongRequests(t *testing.T) {
	host := sandbox.New()
	long := strings.Repeat("a", 1<<20)
	for _, sent := range []struct{ method, path string }{{http.MethodGet, "/dapi/v1/" + long},
		{long, "/dapi/v1/chains"}} {
		host.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(sent.method, sent.path, nil))
	}
	requests := host.Requests()
	require.Len(t, requests, 2)
	for _, request := range requests {
		assert.LessOrEqual(t, len(request.Method)+len(request.Path), 2<<10)
	}
	assert.True(t, strings.HasPrefix(requests[0].Path, "/dapi/v1/aaa"))
}

// platformRoute is an operation of the platform API with the scope that it asks for.
type platformRoute struct{ pattern, scope string }

// platformRoutes are the table of endpoints, and the operations that it implies. The names of the scopes are assumed.
var platformRoutes = []platformRoute{
	{"POST /auth/challenge", ""},
	{"POST /auth/token", ""},
	{"POST /auth/refresh", ""},
	{"POST /clients", "accounts:write"},
	{"PUT /client/kyb", "accounts:write"},
	{"POST /client/kyb/complete", "accounts:write"},
	{"GET /banks", "read"},
	{"POST /banks", "accounts:write"},
	{"POST /payins", "accounts:write"},
	{"POST /payins/pi_1/instructions", "accounts:write"},
	{"POST /contacts", "contacts:write"},
	{"PATCH /contacts/ct_1", "contacts:write"},
	{"DELETE /contacts/ct_1", "contacts:write"},
	{"GET /contacts/ct_1/capabilities", "read"},
	{"POST /payouts", "payouts:write"},
	{"POST /payouts/po_1/confirm", "payouts:write"},
	{"GET /transactions", "read"},
	{"GET /chains", "read"},
	{"POST /escrow", "payouts:write"},
	{"POST /escrow/esc_1/actions", "payouts:write"},
	{"POST /escrow/esc_1/sync", "payouts:write"},
	{"GET /sandbox/treasury", ""},
	{"POST /sandbox/deposits", ""},
	{"POST /sandbox/payins/pi_1/complete", ""},
	{"POST /sandbox/payouts/po_1/status", ""},

	{"GET /clients/cl_1", "read"},
	{"GET /client/kyb", "read"},
	{"GET /payins/pi_1", "read"},
	{"GET /payouts/po_1", "read"},
	{"POST /escrow/esc_1/actions/key-1/confirm", "payouts:write"},
}

// Every route is served, and needs a session unless it is a login route.
// Rule: endpoint.rows, session.bearer
func TestEveryRouteOfTheTableIsServed(t *testing.T) {
	w := newWorld(t)
	require.Len(t, platformRoutes, 25+5)
	for _, route := range platformRoutes {
		method, path, _ := strings.Cut(route.pattern, " ")
		got := w.call(method, "/dapi/v1"+path, nil)
		if strings.HasPrefix(path, "/auth/") {
			refused(t, http.StatusBadRequest, "invalid_request", got) // a body is missing, and no session is
			continue
		}
		refused(t, http.StatusUnauthorized, "unauthenticated", got)
	}
}

// Every write of the platform API, in an order in which each can succeed, with a key and without one. Both responses
// have the same status.
// Rule: idempotency.optional
func TestIdempotencyKeyIsOptionalForEveryWrite(t *testing.T) {
	for _, keyed := range []bool{true, false} {
		p := newPayer(t)
		p.verify()
		created := map[string]bool{}
		write := func(status int, pattern, path string, body any) reply {
			method, _, _ := strings.Cut(pattern, " ")
			created[pattern] = true
			var headers []string
			if keyed {
				headers = []string{"Idempotency-Key", "key-" + strings.NewReplacer(" ", "-", "/", "-").Replace(pattern)}
			}
			return p.must(status, method, path, body, headers...)
		}
		challenge := write(201, "POST /auth/challenge", "/auth/challenge",
			object{"email": p.email, "requestExpiry": p.host.Now().Add(time.Minute)})
		write(201, "POST /auth/token", "/auth/token", object{
			"challengeId": challenge.body.text("challengeId"), "publicKey": p.key.public(t),
			"signature": p.key.sign(t, bytesOf(t, challenge.body.text("payload"))),
		})
		write(201, "POST /auth/refresh", "/auth/refresh", object{"refreshToken": p.refresh})
		write(201, "POST /clients", "/clients", object{"email": "bolt@example.com"})
		write(201, "POST /banks", "/banks", object{"method": "sepa", "currency": "EUR"})
		write(200, "PUT /client/kyb", "/client/kyb", object{"applicant": object{"legalName": "Acme International Ltd"}})
		write(200, "POST /client/kyb/complete", "/client/kyb/complete", nil)

		payin := write(201, "POST /payins", "/payins", object{"amount": "50", "currency": "USDC", "originChainId": 1}).
			body.text("id")
		write(201, "POST /payins/pi_1/instructions", "/payins/"+payin+"/instructions", nil)
		write(200, "POST /sandbox/payins/pi_1/complete", "/sandbox/payins/"+payin+"/complete", nil)
		write(201, "POST /sandbox/deposits", "/sandbox/deposits", object{"amount": "50", "currency": "USDC"})

		contact := write(201, "POST /contacts", "/contacts",
			object{"account": object{"accountType": "pix", "pixKey": "bob", "accountHolderName": "Bob"}}).
			body.text("id")
		payout := write(201, "POST /payouts", "/payouts",
			object{"contactId": contact, "amount": "10", "currency": "USDC"})
		id := payout.body.text("id")
		write(200, "POST /payouts/po_1/confirm", "/payouts/"+id+"/confirm", p.signed(payout.body))
		write(200, "POST /sandbox/payouts/po_1/status", "/sandbox/payouts/"+id+"/status", object{"status": "completed"})
		write(200, "PATCH /contacts/ct_1", "/contacts/"+contact, object{"name": "Robert"})
		write(204, "DELETE /contacts/ct_1", "/contacts/"+contact, nil)

		escrow := write(201, "POST /escrow", "/escrow", object{"amount": "10", "currency": "USDC", "payee": payee})
		path := "/escrow/" + escrow.body.text("id")
		write(200, "POST /escrow/esc_1/actions/key-1/confirm", path+"/actions/"+escrow.action().
			text("idempotencyKey")+"/confirm", p.signed(escrow.action()))
		write(201, "POST /escrow/esc_1/actions", path+"/actions", object{"type": "release"})
		write(200, "POST /escrow/esc_1/sync", path+"/sync", nil)

		for _, route := range platformRoutes {
			if !strings.HasPrefix(route.pattern, "GET ") {
				assert.True(t, created[route.pattern], "%s was not made", route.pattern)
			}
		}
	}
}

// base64Of is base64 text of so many characters.
func base64Of(characters int) string {
	return base64.StdEncoding.EncodeToString(make([]byte, characters/4*3))
}

func TestSizesAtTheirBoundsAndBeyond(t *testing.T) {
	p := newPayer(t)
	payout := func(name string, value any) reply {
		return p.call("POST", "/payouts", object{"contactId": p.contact, "amount": "5", "currency": "USDC",
			name: value})
	}
	contact := func(name string, value any) reply {
		return p.call("POST", "/contacts", object{"crypto": object{"chain": "base", "token": "USDC", "address": "0x1"},
			name: value})
	}
	documents := func(count int) []string {
		list := make([]string, count)
		for i := range list {
			list[i] = fmt.Sprint("doc_", i)
		}
		return list
	}
	for _, c := range []struct {
		name, field, code string
		within, beyond    reply
	}{
		{"reference", "paymentReference", "string_too_long", // Rule: size.payment-reference
			payout("paymentReference", strings.Repeat("é", 140)), payout("paymentReference", strings.Repeat("é", 141))},
		{"purpose", "purpose", "string_too_long", // Rule: size.purpose
			payout("purpose", strings.Repeat("é", 64)), payout("purpose", strings.Repeat("é", 65))},
		{"documents", "documentIds", "too_long", // Rule: size.document-ids
			payout("documentIds", documents(10)), payout("documentIds", documents(11))},
		{"public key", "publicKey", "string_too_long", // Rule: size.payout-public-key
			payout("publicKey", base64Of(512)), payout("publicKey", base64Of(516))},
		{"signature", "signature", "string_too_long", // Rule: size.signature
			payout("signature", base64Of(2048)), payout("signature", base64Of(2052))},
		{"name", "name", "string_too_long", // Rule: size.contact-name
			contact("name", strings.Repeat("é", 200)), contact("name", strings.Repeat("é", 201))},
		{"short currency", "currency", "string_too_short", // Rule: size.contact-currency
			contact("currency", "EUR"), contact("currency", "EU")},
		{"long currency", "currency", "string_too_long", // Rule: size.contact-currency
			contact("currency", "USDC"), contact("currency", "USDCE")},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Less(t, c.within.status, 300, "%s", c.within.raw)
			refused(t, http.StatusUnprocessableEntity, "validation_failed", c.beyond)
			assert.Equal(t, map[string]string{c.field: c.code}, c.beyond.fields())
		})
	}
}

// Rule: size.signature
func TestSignaturesThatAreTooLong(t *testing.T) {
	p := newPayer(t)
	booked, escrow := p.book("invoice-42", "20"), p.mustCreateEscrow("escrow-1", nil)
	for path, approval := range map[string]string{
		"/payouts/" + booked.body.text("id") + "/confirm":                 booked.body.text("approval", "id"),
		"/escrow/" + escrow.body.text("id") + "/actions/escrow-1/confirm": escrow.body.text("action", "approval", "id"),
	} {
		body := object{"approvalId": approval, "publicKey": p.key.public(t), "signature": base64Of(2048)}
		refused(t, http.StatusBadRequest, "signature_invalid", p.call("POST", path, body))
		body["signature"] = base64Of(2052)
		assert.Equal(t, map[string]string{"signature": "string_too_long"}, p.call("POST", path, body).fields())
	}
}

// Rule: size.contact-id
func TestContactIDsAtTheirBounds(t *testing.T) {
	me := newWorld(t).login()
	for id, status := range map[string]int{
		"ct_" + strings.Repeat("a", 216): http.StatusNotFound, strings.Repeat("a", 216): http.StatusNotFound,
		"ct_a.B:c-1_":                    http.StatusNotFound,
		"ct_" + strings.Repeat("a", 217): http.StatusBadRequest, strings.Repeat("a", 217): http.StatusBadRequest,
		"ct_a~b": http.StatusBadRequest,
	} {
		assert.Equal(t, status, me.call("GET", "/contacts/"+id+"/capabilities", nil).status, id)
	}
}

// Rule: size.escrow-duration
func TestEscrowDurations(t *testing.T) {
	p := newPayer(t)
	for i, duration := range []string{"90s", "60m", "1h", "14d", "0001h", "9999d", "0s", "0000d"} {
		for _, field := range []string{"approveWithin", "holdFor", "refundableFor"} {
			got := p.escrow(fmt.Sprint(field, "-", i), object{field: duration})
			assert.Equal(t, http.StatusCreated, got.status, "%s %s: %s", field, duration, got.raw)
		}
	}
	for _, duration := range []string{"10000s", "1w", "1.5h", "-1h", "h", "12", " 1h", "1H", "1h30m", ""} {
		for _, field := range []string{"approveWithin", "holdFor", "refundableFor"} {
			got := p.escrow("escrow", object{field: duration})
			refused(t, http.StatusUnprocessableEntity, "validation_failed", got)
			assert.Equal(t, map[string]string{field: "string_pattern_mismatch"}, got.fields(), "%q", duration)
		}
	}
}

// Rule: page.limit, page.next-cursor, page.cursor-size
func TestPageSizeDefaultAndMaximum(t *testing.T) {
	p := newPayer(t)
	for i := range 109 { // besides the first deposit
		p.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"},
			"Idempotency-Key", fmt.Sprint("d-", i))
	}
	for query, want := range map[string][]int{"": {50, 50, 10}, "limit=100": {100, 10}, "limit=1": nil,
		"limit=55": {55, 55}} {
		var sizes []int
		for cursor := ""; ; {
			page := p.must(http.StatusOK, "GET", "/transactions?"+query+cursor, nil)
			sizes = append(sizes, len(page.body.at("items").([]any)))
			next := page.body.text("nextCursor")
			if next == "" {
				break
			}
			require.LessOrEqual(t, len(next), 512)
			cursor = "&cursor=" + next
		}
		if query == "limit=1" {
			assert.Len(t, sizes, 110)
			continue
		}
		assert.Equal(t, want, sizes, query)
	}
}
