package dapi_test

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/codec"
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
		"onchain": dapi.Onchain(dapi.OnchainAccount{WalletAddress: "0x1", ChainID: "base", Currency: "USDC",
			Email: "bob@example.com"}),
		"email": dapi.EmailContact("bob@example.com"),
	}
	for _, method := range bankMethods {
		accounts[method] = dapi.Bank(dapi.BankMethod(method), dapi.BankAccount{
			AccountHolderName: "Bob Roe", AccountNumber: "0123",
			BankAddress: &dapi.InstitutionAddress{City: "Paris", Country: "FR"},
		})
	}
	for accountType, account := range accounts {
		for library, codec := range map[string]struct {
			marshal   func(any) ([]byte, error)
			unmarshal func([]byte, any) error
		}{
			"standard": {stdjson.Marshal, stdjson.Unmarshal},
			"v2": {func(v any) ([]byte, error) {
				return codec.Marshal(v)
			}, func(b []byte, v any) error { return codec.Unmarshal(b, v) }},
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

// Rule: contact.default-variant
func TestConstructorsSetTheTypeOverAnother(t *testing.T) {
	given := dapi.BankAccount{AccountType: dapi.BankMethodPIX, IBAN: "DE89370400440532013000"}
	bank, ok := dapi.Bank(dapi.BankMethodSEPA, given).Variant().(dapi.BankAccount)
	require.True(t, ok)
	assert.Equal(t, dapi.BankMethod("sepa"), bank.AccountType)
	assert.Equal(t, dapi.BankMethodPIX, given.AccountType, "what was given is the caller's")
	onchain, ok := dapi.Onchain(dapi.OnchainAccount{AccountType: "email"}).Variant().(dapi.OnchainAccount)
	require.True(t, ok)
	assert.Equal(t, dapi.OnchainAccountTypeOnchain, onchain.AccountType)
}

func TestUnknownAccountTypeIsKept(t *testing.T) {
	for name, text := range map[string]string{
		"a new variant": `{"accountType":"carrier_pigeon","loft":{"id":7}}`, "no type": `{"loft":7}`,
		"no object": `"pigeon"`, "a number for a type": `{"accountType":7}`,
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
		if codec.Unmarshal(data, &account) != nil {
			return
		}
		text, err := codec.Marshal(account)
		require.NoError(t, err)
		var back dapi.ContactAccount
		require.NoError(t, codec.Unmarshal(text, &back))
		require.Equal(t, account.Variant(), back.Variant())
	})
}

// An update that empties a currency sets one; it does not leave it out.
func TestACurrencyIsNotClearedByAnEmptyText(t *testing.T) {
	_, err := answering(t, 200, `{}`).Self().Contacts.Update(t.Context(), "ct_1",
		dapi.ContactUpdate{Currency: model.Set("")})
	assert.ErrorContains(t, err, "UpdateContact: invalid input: currency has 0 characters, but needs at least 3 (ct_1)")
}

// Only the blockers are stated.
func TestPayableThatIsAbsentIsNotFalse(t *testing.T) {
	yes, no := true, false
	for member, want := range map[string]*bool{``: nil, `"payable":null,`: nil, `"payable":false,`: &no,
		`"payable":true,`: &yes} {
		text := `{"contactId":"ct_1",` + member + `"methods":[],"blockers":[]}`
		capabilities, err := answering(t, 200, text).Self().Contacts.Capabilities(t.Context(), "ct_1")
		require.NoError(t, err)
		assert.Equal(t, want, capabilities.Payable, member)
	}
}
