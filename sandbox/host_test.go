package sandbox_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A caller without an SDK logs in, creates a client, funds it, saves two contacts, and pays both.
// Rule: login.two-steps, session.prepare-sign-confirm, client.ready, idempotency.client, ledger.progress
// Rule: idempotency.echo
func TestOnboardingOverPlainHTTP(t *testing.T) {
	w := newWorld(t)
	me := w.login()

	created := me.must(http.StatusCreated, "POST", "/clients",
		object{"email": "acme@example.com", "type": "business", "entityName": "Acme"})
	assert.Equal(t, "pending", created.body.text("status"))
	assert.Nil(t, created.body.at("baseSmartWallet"))
	again := me.must(http.StatusOK, "POST", "/clients", object{"email": "acme@example.com"})
	assert.Equal(t, "true", again.header.Get("Idempotency-Replayed"))
	assert.Equal(t, created.body.text("id"), again.body.text("id"))

	acme := me.as(created.body.text("id"))
	refused(t, http.StatusConflict, "wallet_not_linked",
		acme.call("POST", "/sandbox/deposits", object{"amount": "1", "currency": "USDC"}))
	w.host.Advance(time.Duration(w.host.Settings().ClientReadyAfter))
	ready := me.must(http.StatusOK, "GET", "/clients/"+acme.account, nil)
	require.Equal(t, "ready", ready.body.text("status"), "a client becomes ready by itself")

	deposit := acme.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"},
		"Idempotency-Key", "funding-1")
	assert.Equal(t, "in", deposit.body.text("direction"))

	wallet := acme.must(http.StatusCreated, "POST", "/contacts", object{
		"name": "Bob's wallet",
		"account": object{"accountType": "onchain", "chainId": "base", "currency": "USDC",
			"walletAddress": "0x52908400098527886E0F7030069857D2E4169EE7"},
	})
	bank := acme.must(http.StatusCreated, "POST", "/contacts", object{
		"name": "Bob",
		"account": object{"accountType": "sepa", "iban": "DE89370400440532013000", "accountHolderName": "Bob Example",
			"currency": "EUR"},
	})
	capable := acme.must(http.StatusOK, "GET", "/contacts/"+bank.body.text("id")+"/capabilities", nil)
	assert.Empty(t, capable.body.at("blockers"))

	for key, contact := range map[string]reply{"invoice-1": wallet, "invoice-2": bank} {
		booked := acme.must(http.StatusCreated, "POST", "/payouts",
			object{"contactId": contact.body.text("id"), "amount": "12.5", "currency": "USDC"}, "Idempotency-Key", key)
		assert.Equal(t, "awaiting_approval", booked.body.text("status"))
		assert.Equal(t, key, booked.body.text("idempotencyKey"))
		checkApproval(t, acme.account, contact, booked)

		confirmed := acme.confirm(booked)
		require.Equal(t, http.StatusOK, confirmed.status, "%s", confirmed.raw)
		w.host.Advance(2 * time.Duration(w.host.Settings().PayoutStepAfter))
		paid := acme.must(http.StatusOK, "GET", "/payouts/"+booked.body.text("id"), nil)
		require.Equal(t, "completed", paid.body.text("status"), "a confirmed payout completes by itself")
		refused(t, http.StatusConflict, "already_funded", acme.confirm(booked))
	}

	page := acme.must(http.StatusOK, "GET", "/transactions", nil)
	items := page.body.at("items").([]any)
	require.Len(t, items, 3, "%s", page.raw)
	assert.Equal(t, "deposit", object(items[2].(map[string]any)).text("type"), "newest first")

	for currency, sum := range w.host.Ledger().Sums {
		assert.True(t, sum.IsZero(), "%s sums to %s", currency, sum)
	}
}

// checkApproval holds the payload against what was asked for, as the wire page
// shows it.
func checkApproval(t *testing.T, account string, contact, booked reply) {
	t.Helper()
	var payload object
	require.NoError(t, json.Unmarshal(bytesOf(t, booked.body.text("approval", "payload")), &payload))
	assert.NotEmpty(t, payload.text("nonce"))
	delete(payload, "nonce")
	assert.Equal(t, object{
		"approvalId": booked.body.text("approval", "id"), "operation": "payout.fund",
		"resourceId": booked.body.text("id"), "account": account, "amount": "12.5", "currency": "USDC",
		"destination": map[string]any{"contactId": contact.body.text("id")},
		"expiresAt":   booked.body.text("approval", "expiresAt"),
	}, payload)
}

func TestSavedKeyFileLogsIn(t *testing.T) {
	w := newWorld(t)
	credentials := w.host.Credentials()
	path := filepath.Join(t.TempDir(), "developer.pem")
	require.NoError(t, credentials.Key.Save(path))

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	block, _ := pem.Decode(text)
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	require.NoError(t, err)

	me := w.loginAs(credentials.Email, signer{parsed.(*ecdsa.PrivateKey)})
	me.must(http.StatusOK, "GET", "/chains", nil)
}

func TestResetRestoresInitialState(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	me.readyClient("acme@example.com")
	require.NoError(t, w.host.Configure(func(s *sandbox.Settings) { s.OpaqueLogin = true }))
	armed := w.host.Arm("", "/**", sandbox.Respond(503, "provider_unavailable"))
	before, now := w.host.Credentials(), w.host.Now().Add(-time.Minute) // readyClient let a minute pass

	w.host.Reset()

	assert.Equal(t, before.KeyID, w.host.Credentials().KeyID)
	require.Len(t, w.host.Keys(), 1)
	assert.Equal(t, before.KeyID, w.host.Keys()[0].ID)
	assert.Empty(t, w.host.Requests())
	for _, entry := range w.host.Ledger().Entries {
		assert.Contains(t, []string{"faucet", "outside"}, entry.Account, "nothing but the faucet's own filling")
	}
	assert.Zero(t, armed.Remaining())
	assert.Equal(t, sandbox.DefaultSettings(), w.host.Settings())
	assert.Equal(t, now, w.host.Now())
	refused(t, http.StatusUnauthorized, "unauthenticated", me.call("GET", "/chains", nil))
}

func TestUnknownHostHeaderIsRefused(t *testing.T) {
	w := newWorld(t)
	me := w.login()
	ask := func(address, name string) reply {
		t.Helper()
		request, err := http.NewRequest(http.MethodGet, "http://"+address+"/dapi/v1/chains", nil)
		require.NoError(t, err)
		request.Host = name
		request.Header.Set("Authorization", "Bearer "+me.access)
		response, err := w.server.Client().Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		answered := reply{status: response.StatusCode, header: response.Header}
		require.NoError(t, json.NewDecoder(response.Body).Decode(&answered.body))
		return answered
	}
	address := w.server.Listener.Addr().String()
	for _, name := range []string{address, "localhost", "LOCALHOST:8080", "[::1]:8080", "127.0.0.1", "localhost."} {
		assert.Equal(t, http.StatusOK, ask(address, name).status, name)
	}
	armed := w.host.Arm("", "/dapi/v1/**", sandbox.Garbage())
	for _, name := range []string{"rebound.example.com", "rebound.example.com:8080", "192.0.2.7",
		"127.0.0.1.example.com", "x.localhost", "localhost.example.com", "localhostx"} {
		got := ask(address, name)
		refused(t, http.StatusForbidden, "forbidden", got)
		assert.Contains(t, got.body.text("error", "message"), "WithHosts", name)
	}
	assert.Zero(t, armed.Consumed(), "no fault was meant for these")
	requests := w.host.Requests()
	assert.Equal(t, "forbidden", requests[len(requests)-1].Slug)
}

func TestWithHosts(t *testing.T) {
	host := sandbox.New(sandbox.WithControl(), sandbox.WithHosts("Sandbox.internal", "other:8080"))
	call := func(path, name string) int {
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Host, request.RemoteAddr = name, "127.0.0.1:4000"
		recorder := httptest.NewRecorder()
		host.ServeHTTP(recorder, request)
		return recorder.Code
	}
	for _, name := range []string{"sandbox.internal", "sandbox.internal:8080", "other", "localhost:9000"} {
		assert.Equal(t, http.StatusUnauthorized, call("/dapi/v1/chains", name), name)
		assert.Equal(t, http.StatusOK, call("/_host/clock", name), name)
	}
	for _, name := range []string{"rebound.example.com", "sandbox.internal.example.com", "x.localhost",
		// only a part of it is a name with a port
		"localhost:80@example.com", "localhost:x", "localhost:", "localhost:123456", "localhost:80:80", "[localhost]",
		"[localhost]:80", "[::1%@example.com]:80", "[::1", "::1]", "sandbox.internal:80@example.com"} {
		assert.Equal(t, http.StatusForbidden, call("/dapi/v1/chains", name), name)
		assert.Equal(t, http.StatusForbidden, call("/_host/clock", name), name)
	}
}

// Another program on this machine may forward requests of its pages. They have its port in the Host header.
func TestControlsNeedTheirPort(t *testing.T) {
	for _, c := range []struct {
		host, name string
		status     int
	}{
		{"", "localhost:8080", http.StatusOK}, {"", "[::1]:8080", http.StatusOK},
		{"", "localhost:3000", http.StatusForbidden},
		{"", "localhost", http.StatusForbidden}, {"other:9090", "other:9090", http.StatusOK},
		{"localhost:9090", "localhost:9090", http.StatusOK},
	} {
		options := []sandbox.Option{sandbox.WithControl()}
		if c.host != "" {
			options = append(options, sandbox.WithHosts(c.host))
		}
		request := httptest.NewRequest(http.MethodGet, "/_host/clock", nil)
		request.Host, request.RemoteAddr = c.name, "127.0.0.1:4000"
		arrived := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
		request = request.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, arrived))
		recorder := httptest.NewRecorder()
		sandbox.New(options...).ServeHTTP(recorder, request)
		assert.Equal(t, c.status, recorder.Code, c.name)
	}
}

// The check applies to connections over loopback only: not to another address, such as a container's, and not to calls
// without a connection.
func TestHostNameIsNotCheckedOffLoopback(t *testing.T) {
	host := sandbox.New()
	for _, arrived := range []net.Addr{nil, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8080}} {
		request := httptest.NewRequest(http.MethodGet, "http://anything.example.com/dapi/v1/chains", nil)
		if arrived != nil {
			request = request.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, arrived))
		}
		recorder := httptest.NewRecorder()
		host.ServeHTTP(recorder, request)
		assert.Equal(t, http.StatusUnauthorized, recorder.Code)
	}
}

// Hosts share only the parsed descriptions. Their first requests come at the same time.
func TestHostsInOneProcessAreIndependent(t *testing.T) {
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			w := newWorld(t)
			var clients sync.WaitGroup
			for range 4 {
				clients.Go(func() {
					me := w.login()
					created := me.call("POST", "/clients", object{"email": "only@example.com"})
					assert.Contains(t, []int{http.StatusCreated, http.StatusOK}, created.status)
				})
			}
			clients.Wait()
			assert.Equal(t, http.StatusUnauthorized, w.call("GET", "/dapi/v1/chains", nil).status)
			got := 0
			for _, entry := range w.host.Requests() {
				if entry.Operation == "CreateClient" && entry.Status == http.StatusCreated {
					got++
				}
			}
			assert.Equal(t, 1, got, "every host has its own clients")
		})
	}
	all.Wait()
}

// A program in FIPS 140 mode can start a host and move money on it.
func TestHostUnderFIPS140(t *testing.T) {
	const child = "MONEYMOVEMENT_TEST_FIPS"
	if os.Getenv(child) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostUnderFIPS140$", "-test.v")
		command.Env = append(os.Environ(), child+"=1", "GODEBUG=fips140=only")
		said, err := command.CombinedOutput()
		require.NoError(t, err, "%s", said)
		assert.Contains(t, string(said), "--- PASS: TestHostUnderFIPS140")
		return
	}
	host := sandbox.New(sandbox.WithInstantProgress())
	server := httptest.NewServer(host)
	defer server.Close()
	credentials := host.Credentials()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: credentials.Email, Key: credentials.Key})
	require.NoError(t, err)
	_, err = platform.Self().Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(5), Currency: dapi.USDC})
	require.NoError(t, err)
}
