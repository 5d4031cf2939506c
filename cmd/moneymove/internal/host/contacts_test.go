package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/client"
)

type contact struct {
	ID, Name string
	Existed  bool
	Crypto   *struct{ Address, Chain, Token string }
	Bank     *struct{ Method, Currency, AccountMask string }
}

func (f *fixture) contactOf(args ...string) (c contact) {
	f.Helper()
	require.NoError(f, json.Unmarshal([]byte(f.ok(append([]string{"contacts", "create"}, args...)...)), &c))
	require.NotEmpty(f, c.ID)
	return c
}

type capabilities struct {
	ContactID string
	Payable   *bool
	Methods   []struct{ Method, Currency string }
	Blockers  []struct{ Code, Field, Message string }
}

func (f *fixture) capabilitiesOf(id string) (c capabilities) {
	f.Helper()
	require.NoError(f, json.Unmarshal([]byte(f.ok("contacts", "capabilities", id)), &c))
	return c
}

func TestContactsCreate(t *testing.T) {
	f := newFixture(t)
	first := f.contactOf("-wallet", wallet, "-name", "Ada")
	assert.Equal(t, "Ada", first.Name)
	assert.Equal(t, "USDC", first.Crypto.Token)
	assert.False(t, first.Existed)
	again := f.contactOf("-wallet", wallet, "-name", "Ada")
	assert.Equal(t, first.ID, again.ID)
	assert.True(t, again.Existed)

	bank := f.contactOf("-iban", "DE89 3704 0044 0532 0130 00", "-bic", "TESTDEFF", "-name", "Acme GmbH",
		"-holder", "Acme GmbH", "-holder-business", "Acme GmbH")
	assert.Equal(t, "sepa", bank.Bank.Method)
	assert.Equal(t, "EUR", bank.Bank.Currency)
	able := f.capabilitiesOf(bank.ID)
	require.NotNil(t, able.Payable)
	assert.True(t, *able.Payable, able.Blockers)

	person := f.contactOf("-iban", "FR1420041010050500013M02606", "-holder-first", "Ada", "-holder-last", "Lovelace")
	assert.Equal(t, "sepa", person.Bank.Method)

	all := f.contactOf("-d", `{"name":"US","account":{"accountType":"ach","accountNumber":"123456789",`+
		`"routingNumber":"021000021","accountHolderName":"Acme"}}`)
	assert.Equal(t, "ach", all.Bank.Method)
	f.stdin = `{"name":"W","account":{"accountType":"onchain","walletAddress":"` + wallet + `",` +
		`"chainId":"base","currency":"EURC"}}`
	assert.Equal(t, "EURC", f.contactOf("-d", "-").Crypto.Token)
	f.terminal = true
	assert.Contains(t, f.ok("contacts", "create", "-wallet", wallet), "the service had a contact with these details")
}

// A missing detail is not refused. It is a blocker, which pay shows as well.
func TestContactsCapabilities(t *testing.T) {
	f := newFixture(t)
	made := f.contactOf("-d", `{"name":"US","account":{"accountType":"ach","accountNumber":"123456789"}}`)
	able := f.capabilitiesOf(made.ID)
	require.NotEmpty(t, able.Blockers)
	assert.False(t, *able.Payable)
	f.terminal = true
	assert.Contains(t, f.ok("contacts", "capabilities", made.ID), able.Blockers[0].Message)
	f.terminal = false
	f.funded()
	p, stderr := f.pay(app.ExitRefused, "25", "USDC", "-to", made.ID, "-key", "invoice-42", "-yes")
	assert.Equal(t, "needs_decision", p.State)
	assert.Contains(t, stderr, able.Blockers[0].Message)
	assert.Contains(t, stderr, "docs/errors.md#contact_not_payable")
}

// A contact that cannot be paid is saved all the same, and the command says so at once.
func TestContactsCreateWarnsOfWhatCannotBePaid(t *testing.T) {
	f := newFixture(t)
	for _, args := range [][]string{
		{"-iban", "DE89370400440532013001", "-holder", "Acme"}, {"-wallet", "0x123", "-name", "Ada"},
	} {
		r := f.run(append([]string{"contacts", "create"}, args...)...)
		assert.Equal(t, app.ExitFine, r.code, r.stderr)
		assert.Contains(t, r.stderr, "warning: this contact cannot be paid yet: "+args[0][1:])
	}
	r := f.run("contacts", "create", "-wallet", wallet, "-name", "Ada")
	assert.Empty(t, r.stderr)
}

// A client of another host, or of this one before it was started again, is named.
func TestUnknownClientIsNamed(t *testing.T) {
	f := newFixture(t)
	f.env[client.EnvClient] = "cl_gone"
	r := f.run("tx")
	assert.Equal(t, app.ExitRefused, r.code)
	assert.Contains(t, r.stderr, "client cl_gone is not at this host")
	assert.Contains(t, r.stderr, client.EnvClient)
	r = f.run("payouts", "get", "po_1", "-as", "cl_gone")
	assert.Contains(t, r.stderr, "client cl_gone is not at this host")
	for _, call := range [][]string{
		{"GET", "/dapi/v1/transactions", "-as", "cl_gone"}, {"GET", "/dapi/v1/payouts/po_1"},
		{"POST", "/dapi/v1/contacts", "-d", "{}"},
		{"POST", "/dapi/v1/payouts", "-key", "k1", "-d", `{"contactId":"ct_1","amount":"5","currency":"USDC"}`},
	} {
		r = f.run(append([]string{"call"}, call...)...)
		assert.Equal(t, app.ExitRefused, r.code, r.stderr)
		assert.Contains(t, r.stderr, "client cl_gone is not at this host")
		assert.Contains(t, r.stdout, `"not_found"`, "the body is printed all the same")
		r = f.run(append([]string{"call", "-o", "json"}, call...)...)
		var failed struct {
			Error, Code string
			ExitCode    int
		}
		require.NoError(t, json.Unmarshal([]byte(r.stderr), &failed), r.stderr)
		assert.Contains(t, failed.Error, "client cl_gone is not at this host")
		assert.Equal(t, "not_found", failed.Code)
		assert.Equal(t, app.ExitRefused, failed.ExitCode)
	}
	delete(f.env, client.EnvClient)
	for _, args := range [][]string{{"payouts", "get", "po_1"}, {"call", "GET", "/dapi/v1/payouts/po_1"},
		{"call", "GET", "/dapi/v1/clients/cl_gone"}} {
		r = f.run(args...)
		assert.Equal(t, app.ExitRefused, r.code, r.stderr)
		assert.NotContains(t, r.stderr, "is not at this host")
	}
}

func TestContactsDelete(t *testing.T) {
	f := newFixture(t)
	made := f.contactOf("-wallet", wallet)
	assert.JSONEq(t, `{"deleted":"`+made.ID+`"}`, f.ok("contacts", "delete", made.ID))
	for _, command := range []string{"delete", "capabilities"} {
		r := f.run("contacts", command, made.ID)
		assert.Equal(t, app.ExitRefused, r.code, r.stderr)
		assert.Contains(t, r.stderr, "docs/errors.md#")
	}
}

func TestContactsList(t *testing.T) {
	f := newFixture(t)
	type list struct {
		Items []struct{ ID, Name string }
	}
	read := func(args ...string) (l list) {
		require.NoError(t, json.Unmarshal([]byte(f.ok(append([]string{"contacts", "list"}, args...)...)), &l))
		return l
	}
	assert.NotNil(t, read().Items)
	for _, name := range []string{"A", "B", "C"} {
		f.ok("call", "POST", "/user/contact", "-d", `{"name":"`+name+`","account":{"accountType":"onchain",`+
			`"walletAddress":"`+wallet[:len(wallet)-1]+name+`","chainId":"base","currency":"USDC"}}`)
	}
	assert.Len(t, read().Items, 3)
	assert.Len(t, read("-limit", "2").Items, 2)
	f.terminal = true
	assert.Contains(t, f.ok("contacts", "list"), wallet[:len(wallet)-1]+"A")
	assert.Equal(t, app.ExitUsage, f.run("contacts", "list", "-limit", "0").code)
	delete(f.env, client.EnvAPIKey)
	r := f.run("contacts", "list")
	assert.Equal(t, app.ExitUsage, r.code)
	assert.Contains(t, r.stderr, client.EnvAPIKey)
}

func TestContactsRefuseInvalidInput(t *testing.T) {
	f := newFixture(t)
	for name, c := range map[string]struct {
		says string
		args []string
	}{
		"nothing":            {"give one destination", nil},
		"two":                {"give one destination", []string{"-wallet", wallet, "-iban", "DE89370400440532013000"}},
		"a bank's detail":    {"-bic does not go with -wallet", []string{"-wallet", wallet, "-bic", "X"}},
		"a detail with JSON": {"-name does not go with -d", []string{"-d", "{}", "-name", "X"}},
		"no JSON":            {"-d is not the JSON", []string{"-d", "x"}},
		"an unknown member":  {"title", []string{"-d", `{"title":"A"}`}},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.run(append([]string{"contacts", "create"}, c.args...)...)
			assert.Equal(t, app.ExitUsage, r.code, r.stderr)
			assert.Contains(t, r.stderr, c.says)
			assert.Empty(t, r.stdout)
		})
	}
	assert.Zero(t, f.requests("POST", "/dapi/v1/contacts"))
	r := f.run("contacts", "create", "-d", `{}`)
	assert.Equal(t, app.ExitRefused, r.code)
	assert.Contains(t, r.stderr, "docs/errors.md#invalid_request")
}

// A shell completes the contacts that were paid before: the platform API has no list of contacts.
func TestCompletionOfContacts(t *testing.T) {
	f := newFixture(t)
	contact := f.funded()
	assert.NotContains(t, f.ok("__complete", "pay", "1", "USDC", "-to", ""), contact)
	f.made("25", "invoice-42")
	f.made("1", "invoice-43")
	for _, typed := range [][]string{
		{"pay", "1", "USDC", "-to", ""}, {"pay", "1", "USDC", "--to", "ct"},
		{"contacts", "capabilities", ""}, {"contacts", "delete", ""},
	} {
		suggested := f.ok(append([]string{"__complete"}, typed...)...)
		assert.Equal(t, 1, strings.Count(suggested, contact+"\tgot 1 USDC on "), suggested)
	}
	assert.NotContains(t, f.ok("__complete", "contacts", "delete", contact, ""), contact)
}
