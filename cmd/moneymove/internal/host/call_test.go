package host_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestCallSendsTheCredentialOfThePath(t *testing.T) {
	f := newFixture(t)
	for _, c := range []struct{ path, member string }{
		{"/dapi/v1/chains", "items"}, {"/user", "walletAddress"}, {"/api/v1/accounts/cards", "cards"},
		{"/utils/rates/EUR", "usdRate"}, {"/dapi/v1/transactions?limit=1", "items"},
	} {
		var body map[string]any
		require.NoError(t, json.Unmarshal([]byte(f.ok("call", "get", c.path)), &body))
		assert.Contains(t, body, c.member, c.path)
	}
	delete(f.env, client.EnvAPIKey)
	r := f.run("call", "GET", "/user")
	assert.Equal(t, app.ExitUsage, r.code)
	assert.Contains(t, r.stderr, client.EnvAPIKey)
	f.ok("call", "GET", "/utils/rates/EUR") // which needs none
}

func TestCallActsForAClient(t *testing.T) {
	f := newFixture(t)
	var acting struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(f.ok("call", "POST", "/dapi/v1/clients", "-d",
		`{"email":"acme@example.com","type":"business","entityName":"Acme","country":"US"}`)), &acting))
	f.ok("call", "POST", "/dapi/v1/sandbox/deposits", "-as", acting.ID, "-key", "d1", "-d",
		`{"amount":"7","currency":"USDC"}`)
	f.env[client.EnvClient] = acting.ID
	assert.Contains(t, f.ok("call", "GET", "/dapi/v1/transactions"), `"7"`)
	f.ok("call", "GET", "/dapi/v1/clients/"+acting.ID) // acts for nobody, whatever the environment says
	r := f.run("call", "GET", "/dapi/v1/clients/"+acting.ID, "-as", acting.ID)
	assert.Equal(t, app.ExitUsage, r.code)
	assert.Contains(t, r.stderr, "leave out -as")
}

func TestCallRefusesInvalidRequests(t *testing.T) {
	f := newFixture(t)
	f.ok("login")
	before := len(f.host.Requests())
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a payment without a key":  {[]string{"POST", "/dapi/v1/payouts", "-d", "{}"}, "-key invoice-42"},
		"a transfer without a key": {[]string{"POST", "/apps/transfer", "-d", "{}"}, "-key invoice-42"},
		"a key with spaces": {[]string{"POST", "/dapi/v1/payouts", "-key", "a b", "-d", "{}"},
			"-key has 1 to 128"},
		"a key on a read":  {[]string{"GET", "/dapi/v1/chains", "-key", "a"}, "takes no idempotency key"},
		"a body on a read": {[]string{"GET", "/dapi/v1/chains", "-d", "{}"}, "GET has no body"},
		"no JSON":          {[]string{"POST", "/dapi/v1/contacts", "-d", "{name}"}, "not valid JSON"},
		"no such file":     {[]string{"POST", "/dapi/v1/contacts", "-d", "@nowhere.json"}, "there is no file"},
		"a credential": {[]string{"GET", "/dapi/v1/chains", "-H", "authorization: Bearer x"},
			"is not sent"},
		"a client as a header": {[]string{"GET", "/dapi/v1/chains", "-H", "X-Service-Account: cl_1"}, "with -as"},
		"no header":            {[]string{"GET", "/dapi/v1/chains", "-H", "X-Trace"}, "is not a header"},
		"two lines":            {[]string{"GET", "/dapi/v1/chains", "-H", "X-Trace: 1\r\nX: 2"}, "is not a header"},
		"a method":             {[]string{"LIST", "/dapi/v1/chains"}, `the method is "LIST"`},
		"an address":           {[]string{"GET", "https://host.example/user"}, "begin it with /"},
		"another host":         {[]string{"GET", "//host.example/user"}, "begin it with /"},
		"a path that climbs":   {[]string{"GET", "/public/../dapi/v1/chains"}, "could lead elsewhere"},
		"a path that hides":    {[]string{"GET", "/public/%2e%2e/user"}, "could lead elsewhere"},
		"a slash that hides":   {[]string{"GET", "/public/a%2Fb"}, "could lead elsewhere"},
		"a fragment":           {[]string{"GET", "/dapi/v1/chains#1"}, "has a #"},
		"tokens":               {[]string{"POST", "/dapi/v1/auth/token", "-d", "{}"}, "moneymove token"},
		"the controls":         {[]string{"GET", "/_host/credentials"}, "commands of their own"},
		"one argument":         {[]string{"GET"}, "an argument is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.run(append([]string{"call"}, c.args...)...)
			assert.Equal(t, app.ExitUsage, r.code, r.stderr)
			assert.Contains(t, r.stderr, c.says)
			assert.Empty(t, r.stdout)
		})
	}
	assert.Len(t, f.host.Requests(), before, "nothing was sent")
}

// An editor on Windows begins a file with a byte order mark.
func TestCallReadsAFileWithAByteOrderMark(t *testing.T) {
	f := newFixture(t)
	body := f.write("client.json", "\ufeff{\"email\":\"w@example.com\",\r\n\"type\":\"individual\"}\r\n")
	f.ok("call", "POST", "/dapi/v1/clients", "-d", "@"+body)
}

// What a query has to escape is escaped, and what is escaped stays as it is.
func TestCallEscapesTheQuery(t *testing.T) {
	f := newFixture(t)
	r := f.run("call", "GET", "/apps/transfers?idempotency_key=invoice 42é%20%26&limit=1")
	assert.Equal(t, app.ExitRefused, r.code)
	assert.Contains(t, r.stderr, "idempotency_key (string_pattern_mismatch)", "the service has read it")
}

func TestCallPrintsTheResponse(t *testing.T) {
	f := newFixture(t)
	r := f.run("call", "GET", "/utils/rates/EUR", "-i", "-H", "X-Trace: 1")
	assert.Equal(t, app.ExitFine, r.code)
	assert.Regexp(t, `^\{"bankTransfer":.*\}\n$`, r.stdout)
	assert.Contains(t, r.stderr, "200 OK\n")
	assert.Contains(t, r.stderr, "Content-Type: application/json\n")

	r = f.anyone("").run("call", "GET", "/utils/rates/EUR")
	assert.Contains(t, r.stdout, "{\n")
	assert.Contains(t, r.stdout, "\"usdRate\": \"")
	assert.Empty(t, r.stderr)
	r = f.anyone("").run("call", "GET", "/utils/rates/EUR", "-o", "json")
	assert.Regexp(t, `^\{"bankTransfer":.*\}\n$`, r.stdout)
}

func TestCallExitCodes(t *testing.T) {
	const payout, contacts = "/dapi/v1/payouts", "/dapi/v1/contacts"
	f := newFixture(t)
	contact := f.funded()
	pay := []string{"call", "POST", payout, "-key", "k1", "-d",
		`{"contactId":"` + contact + `","amount":"5","currency":"USDC"}`}
	for name, c := range map[string]struct {
		method, path string
		fault        sandbox.Fault
		args         []string
		code         int
		says         string
	}{
		"a refusal": {"POST", payout, sandbox.Respond(409, "contact_not_payable"), pay, app.ExitRefused,
			"docs/errors.md#contact_not_payable"},
		"a refusal that may have paid": {"POST", payout, sandbox.Respond(500, "internal_error"), pay, app.ExitInDoubt,
			"same -key"},
		"a payment that is lost": {"POST", payout, sandbox.DropAfterCommit(), pay, app.ExitInDoubt, "same -key"},
		"a payment without JSON": {"POST", payout, sandbox.Garbage(), pay, app.ExitInDoubt, "same -key"},
		"a payment that is cut":  {"POST", payout, sandbox.Truncate(9), pay, app.ExitInDoubt, "same -key"},
		"a read that is lost": {"GET", "/dapi/v1/chains", sandbox.DropBefore(),
			[]string{"call", "GET", "/dapi/v1/chains"},
			app.ExitUnreachable, "not delivered"},
		"a read that fails": {"GET", "/dapi/v1/chains", sandbox.Respond(500, "internal_error"),
			[]string{"call", "GET", "/dapi/v1/chains"}, app.ExitRefused, "internal_error"},
		"a write that moves no money": {"POST", contacts, sandbox.Respond(500, "internal_error"),
			[]string{"call", "POST", contacts, "-d", "{}"}, app.ExitRefused, "internal_error"},
		"an expired session": {"GET", "/dapi/v1/chains", sandbox.ExpireToken(),
			[]string{"call", "GET", "/dapi/v1/chains"},
			app.ExitFine, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f.host.Arm(c.method, c.path, c.fault)
			defer f.host.DisarmAll()
			r := f.run(c.args...)
			assert.Equal(t, c.code, r.code, r.stderr)
			assert.Contains(t, r.stderr, c.says)
		})
	}
	first := f.ok(pay...)
	assert.Equal(t, first, f.ok(pay...), "with the same key it is the same payment")
	r := f.run("call", "GET", "/dapi/v1/payouts/po_none")
	assert.Equal(t, app.ExitRefused, r.code)
	assert.Contains(t, r.stdout, `"code":"not_found"`, "the body is printed all the same")
	r = f.run("call", "GET", "/dapi/v1/nowhere")
	assert.Equal(t, app.ExitRefused, r.code)
}

// TestCallFollowsNoRedirect: the other address would get the credential.
func TestCallFollowsNoRedirect(t *testing.T) {
	f := newFixture(t)
	reached := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer other.Close()
	redirects := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer redirects.Close()
	r := f.run("call", "GET", "/user", "-url", redirects.URL)
	assert.Equal(t, app.ExitFailure, r.code, r.stderr)
	assert.False(t, reached)
}

// The client is the SDK's: no error repeats what a host, or a proxy, has written into the head of a response.
func TestCallPrintsNoMalformedHead(t *testing.T) {
	f := newFixture(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	go func() {
		for _, head := range []string{"200 OK\r\nSet-Cookie planted", "planted", "200 OK\r\nContent-Length: planted"} {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if request, err := http.ReadRequest(bufio.NewReader(connection)); err == nil {
				_ = request.Body.Close()
			}
			_, _ = io.WriteString(connection, "HTTP/1.1 "+head+"\r\n\r\n")
			_ = connection.Close()
		}
	}()
	for range 3 {
		r := f.run("call", "GET", "/user", "-url", "http://"+listener.Addr().String())
		assert.Equal(t, app.ExitUnreachable, r.code, r.stderr)
		assert.NotContains(t, r.stderr, "planted")
	}
}

// TestATerminalIsSafe: a host's text moves no cursor.
func TestATerminalIsSafe(t *testing.T) {
	f := newFixture(t)
	bodies := map[string]string{"/user": "{\"name\":\"a\u009bz\"}", "/balance": "plain \x1b[2J text\nmore",
		"/cards": "\xff\xfe\x00"}
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte(bodies[r.URL.Path]))
	}))
	defer host.Close()
	person := f.anyone("")
	assert.Contains(t, person.run("call", "GET", "/user", "-url", host.URL).stdout, "\n  \"name\": \"a\\u009bz\"\n")
	assert.Equal(t, "plain ·[2J text\nmore\n", person.run("call", "GET", "/balance", "-url", host.URL).stdout)
	r := person.run("call", "GET", "/cards", "-url", host.URL)
	assert.Empty(t, r.stdout)
	assert.Contains(t, r.stderr, "> FILE")
	assert.Equal(t, bodies["/cards"], f.ok("call", "GET", "/cards", "-url", host.URL), "a program gets the bytes")
}

func TestRatesNeedNoCredential(t *testing.T) {
	f := newFixture(t)
	f.env = map[string]string{client.EnvBaseURL: f.url}
	var rates struct {
		Items []struct {
			Currency string
			USDRate  string `json:"usdRate"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(f.ok("rates", "eur", "GBP")), &rates))
	require.Len(t, rates.Items, 2)
	assert.Equal(t, "EUR", rates.Items[0].Currency)
	assert.NotEmpty(t, rates.Items[0].USDRate)
	for _, request := range f.host.Requests() {
		assert.Empty(t, request.Account, request.Path)
	}
	f.terminal = true
	assert.Contains(t, f.ok("rates", "EUR"), rates.Items[0].USDRate)

	r := f.run("rates", "EUR", "ZZZ", "GBP")
	assert.Equal(t, app.ExitRefused, r.code, r.stderr)
	assert.Contains(t, r.stdout, "EUR")
	assert.Contains(t, r.stdout, "GBP", "one rate that is missing hides no other")
	r = f.run("rates", "ZZZ")
	assert.Equal(t, app.ExitRefused, r.code, r.stderr)
	assert.Contains(t, r.stderr, "docs/errors.md#")
	assert.Equal(t, app.ExitUsage, f.run("rates").code)
	f.env = nil
	assert.Equal(t, app.ExitUsage, f.run("rates", "EUR").code)
}
