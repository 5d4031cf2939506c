package dapi_test

import (
	stdjson "encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
)

// bankMethods are the values that the description allows for the accountType of a bank variant.
var bankMethods = strings.Fields(`sepa swift ach uaefts fedwire rtp fednow pix spei pse breb transfers_3_0 ukfps npp nip bdt_local bdt_ewallet
	bob_local brl_local cad_eft clp_local cny_alipay cny_wechatpay cop_local crc_local dkk_local dop_local dop_ewallet egp_local gtq_local
	gtq_ewallet hkd_fps hnl_local idr_local idr_ewallet ils_local inr_local inr_upi jmd_local jpy_local krw_local myr_local nok_local php_local
	php_ewallet pkr_raast pkr_ewallet pln_local sar_local sle_local thb_local try_fast tzs_local ugx_local vnd_local xof_local zmw_local`)

// Rule: contact.variants, contact.bank-methods
func TestContactAccountRoundTrips(t *testing.T) {
	require.Len(t, bankMethods, 57)
	accounts := map[string]dapi.ContactAccount{
		"onchain": dapi.Onchain(dapi.OnchainAccount{WalletAddress: "0x1", ChainID: "base", Currency: "USDC", Email: "bob@example.com"}),
		"email":   dapi.EmailContact("bob@example.com"),
	}
	for _, method := range bankMethods {
		accounts[method] = dapi.Bank(dapi.BankMethod(method), dapi.BankAccount{
			AccountHolderName: "Bob Roe", AccountNumber: "0123", BankAddress: &dapi.InstitutionAddress{City: "Paris", Country: "FR"},
		})
	}
	for accountType, account := range accounts {
		for library, codec := range map[string]struct {
			marshal   func(any) ([]byte, error)
			unmarshal func([]byte, any) error
		}{
			"standard": {stdjson.Marshal, stdjson.Unmarshal},
			"v2":       {func(v any) ([]byte, error) { return json.Marshal(v) }, func(b []byte, v any) error { return json.Unmarshal(b, v) }},
		} {
			text, err := codec.marshal(account)
			require.NoError(t, err)
			var named struct{ AccountType string }
			require.NoError(t, stdjson.Unmarshal(text, &named))
			assert.Equal(t, accountType, named.AccountType, "%s: a constructor always sets the type", library)

			var back dapi.ContactAccount
			require.NoError(t, codec.unmarshal(text, &back))
			assert.Equal(t, account.Variant(), back.Variant(), "%s %s", library, accountType)
			assert.JSONEq(t, string(text), string(back.Raw()))
		}
	}
}

// Rule: contact.bank-methods
func TestEveryBankMethodIsTakenByTheHost(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	for _, method := range bankMethods {
		contact, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{
			Name: method, Account: dapi.Bank(dapi.BankMethod(method), dapi.BankAccount{AccountHolderName: "Bob Roe", AccountNumber: "0123"}),
		})
		if assert.NoError(t, err) && assert.NotNil(t, contact.Bank) {
			assert.Equal(t, dapi.BankMethod(method), contact.Bank.Method)
		}
	}
}

// Rule: contact.default-variant
func TestConstructorsSetTheTypeOverAnother(t *testing.T) {
	given := dapi.BankAccount{AccountType: dapi.BankMethodPIX, IBAN: "DE89370400440532013000"}
	bank, ok := dapi.SEPA(given).Variant().(dapi.BankAccount)
	require.True(t, ok)
	assert.Equal(t, dapi.BankMethod("sepa"), bank.AccountType)
	assert.Equal(t, dapi.BankMethodPIX, given.AccountType, "what was given is the caller's")
	onchain, ok := dapi.Onchain(dapi.OnchainAccount{AccountType: "email"}).Variant().(dapi.OnchainAccount)
	require.True(t, ok)
	assert.Equal(t, dapi.OnchainAccountTypeOnchain, onchain.AccountType)
}

func TestUnknownAccountTypeIsKept(t *testing.T) {
	for name, text := range map[string]string{
		"a new variant": `{"accountType":"carrier_pigeon","loft":{"id":7}}`, "no type": `{"loft":7}`, "no object": `"pigeon"`, "a number for a type": `{"accountType":7}`,
	} {
		t.Run(name, func(t *testing.T) {
			var account dapi.ContactAccount
			require.NoError(t, stdjson.Unmarshal([]byte(text), &account))
			assert.Nil(t, account.Variant())
			assert.JSONEq(t, text, string(account.Raw()))
			again, err := stdjson.Marshal(account)
			require.NoError(t, err)
			assert.JSONEq(t, text, string(again))
		})
	}
}

func FuzzContactAccount(f *testing.F) {
	f.Add([]byte(`{"accountType":"sepa","iban":"DE89370400440532013000"}`))
	f.Add([]byte(`{"accountType":"onchain","walletAddress":null}`))
	f.Add([]byte(`[{"accountType":"email"}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var account dapi.ContactAccount
		if json.Unmarshal(data, &account) != nil {
			return
		}
		text, err := json.Marshal(account)
		require.NoError(t, err)
		var back dapi.ContactAccount
		require.NoError(t, json.Unmarshal(text, &back))
		require.Equal(t, account.Variant(), back.Variant())
	})
}

// bodies keeps what was sent to a path.
func (w *world) bodies(path string) *[]string {
	var kept []string
	next := w.wire.handler
	w.wire.handler = http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, path) {
			body, err := io.ReadAll(r.Body)
			assert.NoError(w, err)
			kept = append(kept, string(body))
			r.Body = io.NopCloser(strings.NewReader(string(body)))
		}
		next.ServeHTTP(answer, r)
	})
	return &kept
}

// Rule: contact.name, contact.email
func TestUnsetFieldsAreNotSent(t *testing.T) {
	w := newWorld(t)
	sent := w.bodies("/dapi/v1/contacts")
	_, err := w.integrator().Self().Contacts.Create(t.Context(), dapi.ContactCreate{Email: w.host.Credentials().Email})
	require.NoError(t, err)
	assert.Equal(t, []string{`{"email":"ops@example.com"}`}, *sent, "the zero account is no account")
}

func TestUpdateSendsWhatIsSetAndNothingElse(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	id := w.contact(account, sepa())
	sent := w.bodies("/dapi/v1/contacts/")
	for _, c := range []struct {
		change dapi.ContactUpdate
		body   string
	}{
		{dapi.ContactUpdate{}, `{}`},
		{dapi.ContactUpdate{Name: model.Set("")}, `{"name":""}`},
		{dapi.ContactUpdate{Email: model.Null[string]()}, `{"email":null}`},
		{dapi.ContactUpdate{IsExternal: model.Set(false)}, `{"isExternal":false}`},
		{dapi.ContactUpdate{Address: model.Set(dapi.PostalAddress{City: "Paris"})}, `{"address":{"city":"Paris"}}`},
	} {
		_, err := account.Contacts.Update(t.Context(), id, c.change)
		require.NoError(t, err)
		assert.JSONEq(t, c.body, (*sent)[len(*sent)-1])
	}
}

// Rule: contact.deduplicated, contact.answer, idempotency.contacts, idempotency.replay
func TestContactsLive(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	var answer moneymovement.Answer
	first, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Bob", Account: sepa()}, moneymovement.Capture(&answer))
	require.NoError(t, err)
	assert.False(t, answer.Replayed)
	again, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Robert", Account: sepa()}, moneymovement.Capture(&answer))
	require.NoError(t, err)
	assert.Equal(t, first.ID, again.ID, "deduplicated by its account details")
	assert.True(t, answer.Replayed)

	capabilities, err := account.Contacts.Capabilities(t.Context(), first.ID)
	require.NoError(t, err)
	require.NotNil(t, capabilities.Payable)
	assert.True(t, *capabilities.Payable)
	assert.Empty(t, capabilities.Blockers)

	require.NoError(t, account.Contacts.Delete(t.Context(), first.ID))
	_, err = account.Contacts.Capabilities(t.Context(), first.ID)
	as[*errors.NotFound](t, err)
}

// An update that empties a currency sets one; it does not leave it out.
func TestACurrencyIsNotClearedByAnEmptyText(t *testing.T) {
	_, err := answering(t, 200, `{}`).Self().Contacts.Update(t.Context(), "ct_1", dapi.ContactUpdate{Currency: model.Set("")})
	assert.EqualError(t, err, "UpdateContact: invalid input: currency has 0 characters, at least 3 are required (ct_1)")
}

// Only the blockers are stated.
func TestPayableThatIsAbsentIsNotFalse(t *testing.T) {
	yes, no := true, false
	for member, want := range map[string]*bool{``: nil, `"payable":null,`: nil, `"payable":false,`: &no, `"payable":true,`: &yes} {
		text := `{"contactId":"ct_1",` + member + `"methods":[],"blockers":[]}`
		capabilities, err := answering(t, 200, text).Self().Contacts.Capabilities(t.Context(), "ct_1")
		require.NoError(t, err)
		assert.Equal(t, want, capabilities.Payable, member)
	}
}

// Rule: idempotency.client, sandbox.minimum, sandbox.maximum
func TestClientsLive(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	var answer moneymovement.Answer
	first, err := integrator.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com", Type: dapi.ClientTypeBusiness, EntityName: "Acme"})
	require.NoError(t, err)
	again, err := integrator.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"}, moneymovement.Capture(&answer))
	require.NoError(t, err)
	assert.Equal(t, first.ID, again.ID, "the email is the natural key")
	assert.True(t, answer.Replayed)

	_, err = integrator.For("cl_nobody").Contacts.Capabilities(t.Context(), "ct_1")
	as[*errors.NotFound](t, err)

	treasury, err := integrator.Self().Sandbox.Treasury(t.Context())
	require.NoError(t, err)
	_, err = integrator.Self().Sandbox.Deposit(t.Context(), dapi.DepositCreate{Amount: treasury.MaxCredit.Add(amount("0.01")), Currency: dapi.USDC})
	assert.True(t, as[*errors.AmountAboveMaximum](t, err).MaxCredit.Equal(treasury.MaxCredit))
	_, err = integrator.Self().Sandbox.Deposit(t.Context(), dapi.DepositCreate{Amount: amount("0.09"), Currency: dapi.USDC})
	as[*errors.AmountBelowMinimum](t, err)
}
