package dapi_test

import (
	"bytes"
	stdjson "encoding/json"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// bankMethods are the values that the description allows for the accountType of a bank variant.
var bankMethods = strings.Fields(`sepa swift ach uaefts fedwire rtp fednow pix spei pse breb transfers_3_0 ukfps npp
	nip bdt_local bdt_ewallet bob_local brl_local cad_eft clp_local cny_alipay cny_wechatpay cop_local crc_local
	dkk_local dop_local dop_ewallet egp_local gtq_local gtq_ewallet hkd_fps hnl_local idr_local idr_ewallet ils_local
	inr_local inr_upi jmd_local jpy_local krw_local myr_local nok_local php_local php_ewallet pkr_raast pkr_ewallet
	pln_local sar_local sle_local thb_local try_fast tzs_local ugx_local vnd_local xof_local zmw_local`)

// Rule: contact.variants, contact.bank-methods
func TestContactAccountRoundTrips(t *testing.T) {
	require.Len(t, bankMethods, 57)
	accounts := map[string]dapi.ContactAccount{
		"onchain": dapi.Onchain(dapi.OnchainAccount{WalletAddress: "0x1", ChainID: "base", Currency: "USDC",
			Email: "bob@example.com"}),
		"email": dapi.EmailContact("bob@example.com"),
	}
	for _, method := range bankMethods {
		accounts[method] = dapi.BankAccount(dapi.BankMethod(method), dapi.BankFields{
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
func TestConstructorsOverwriteTheAccountType(t *testing.T) {
	original := dapi.BankFields{AccountType: dapi.BankMethodPIX, IBAN: "DE89370400440532013000"}
	bank, ok := dapi.BankAccount(dapi.BankMethodSEPA, original).Variant().(dapi.BankFields)
	require.True(t, ok)
	assert.Equal(t, dapi.BankMethod("sepa"), bank.AccountType)
	assert.Equal(t, dapi.BankMethodPIX, original.AccountType, "the caller keeps its own")
	onchain, ok := dapi.Onchain(dapi.OnchainAccount{AccountType: "email"}).Variant().(dapi.OnchainAccount)
	require.True(t, ok)
	assert.Equal(t, "onchain", onchain.AccountType)
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

// The description states only the blockers, and not whether a contact can be paid.
func TestAbsentPayableIsNil(t *testing.T) {
	yes, no := true, false
	for member, want := range map[string]*bool{``: nil, `"payable":null,`: nil, `"payable":false,`: &no,
		`"payable":true,`: &yes} {
		text := `{"contactId":"ct_1",` + member + `"methods":[],"blockers":[]}`
		capabilities, err := responding(t, 200, text).Self().Contacts.Capabilities(t.Context(), "ct_1")
		require.NoError(t, err)
		assert.Equal(t, want, capabilities.Payable, member)
	}
}

// Rule: contact.bank-methods
func TestBankAccountSetsTypeAndCurrency(t *testing.T) {
	fieldsOf := func(account dapi.ContactAccount) dapi.BankFields {
		fields, ok := account.Variant().(dapi.BankFields)
		require.True(t, ok)
		return fields
	}
	for _, name := range bankMethods {
		method := dapi.BankMethod(name)
		var paid []string
		for _, row := range dapi.PayoutCoverage() {
			if row.Method == method {
				paid = append(paid, row.Currency)
			}
		}
		require.Len(t, paid, 1, method)
		assert.Equal(t, dapi.BankFields{AccountType: method, Currency: paid[0]},
			fieldsOf(dapi.BankAccount(method, dapi.BankFields{})), "nothing is required, and nothing is made up")
		other := dapi.BankFields{AccountType: method, Currency: "XTS"}
		assert.Equal(t, other, fieldsOf(dapi.BankAccount(method, dapi.BankFields{Currency: "XTS"})))
	}
	later := fieldsOf(dapi.BankAccount("mars_local", dapi.BankFields{}))
	assert.Equal(t, dapi.BankFields{AccountType: "mars_local"}, later,
		"the currency of a method of a later version is not known")
	for method, short := range map[dapi.BankMethod]func(dapi.BankFields) dapi.ContactAccount{
		"sepa": dapi.SEPA, "ach": dapi.ACH, "pix": dapi.PIX, "swift": dapi.SWIFT, "ukfps": dapi.UKFPS,
	} {
		fields := filledFields()
		assert.Equal(t, dapi.BankAccount(method, fields), short(fields))
	}
}

// filledFields has the name of each field in it.
func filledFields() dapi.BankFields {
	var fields dapi.BankFields
	v := reflect.ValueOf(&fields).Elem()
	for i := range v.NumField() {
		if field := v.Field(i); field.Kind() == reflect.String {
			field.SetString(v.Type().Field(i).Name)
		} else {
			field.Set(reflect.New(field.Type().Elem()))
		}
	}
	return fields
}

// Each field arrives in the member of that name, by every method.
func TestEachFieldOfABankAccountIsSent(t *testing.T) {
	fields := filledFields()
	for _, method := range bankMethods {
		text, err := dapi.BankAccount(dapi.BankMethod(method), fields).MarshalJSON()
		require.NoError(t, err)
		got := map[string]any{}
		require.NoError(t, stdjson.Unmarshal(text, &got))
		assert.Len(t, got, reflect.TypeOf(fields).NumField())
		for name, value := range got {
			if name == "accountType" {
				assert.Equal(t, method, value)
			} else if text, is := value.(string); is {
				assert.True(t, strings.EqualFold(name, text), "%s: %s", name, text)
			}
		}
	}
}

// Rule: coverage.suffixes
func TestMissingFieldsOfABankAccount(t *testing.T) {
	for _, name := range bankMethods {
		method := dapi.BankMethod(name)
		missing := dapi.BankAccount(method, dapi.BankFields{AccountHolderName: "Bob Roe"}).MissingFields()
		assert.NotEmpty(t, missing, name)
		switch {
		case strings.HasSuffix(name, "_ewallet"):
			assert.Equal(t, []string{"phoneNumber"}, missing, name)
		case strings.HasSuffix(name, "_local"):
			assert.Regexp(t, "accountNumber|iban", missing[0], name)
		}
		assert.Empty(t, dapi.BankAccount(method, filledFields()).MissingFields(), name)
	}
	for name, tc := range map[string]struct {
		account dapi.ContactAccount
		missing []string
	}{
		"nothing":           {dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000"}), nil},
		"one field":         {dapi.ACH(dapi.BankFields{AccountNumber: "0123"}), []string{"routingNumber"}},
		"two fields":        {dapi.UKFPS(dapi.BankFields{}), []string{"accountNumber", "routingNumber"}},
		"one of two fields": {dapi.SWIFT(dapi.BankFields{BIC: "TESTDEFF"}), []string{"accountNumber or iban"}},
		"the other one":     {dapi.SWIFT(dapi.BankFields{BIC: "TESTDEFF", IBAN: "DE89370400440532013000"}), nil},
		"a later method":    {dapi.BankAccount("mars_local", dapi.BankFields{}), nil},
		"a wallet":          {dapi.Onchain(dapi.OnchainAccount{}), nil},
		"no account":        {dapi.ContactAccount{}, nil},
	} {
		assert.Equal(t, tc.missing, tc.account.MissingFields(), name)
	}
}

// A missing field is a warning, because the description does not show what a method needs. No value is logged.
func TestContactWithMissingFieldsIsSentWithAWarning(t *testing.T) {
	for account, want := range map[*dapi.ContactAccount]string{
		new(dapi.ACH(dapi.BankFields{AccountNumber: "000123456789"})): `level=WARN msg="moneymovement sends a bank ` +
			`account without fields that its method probably needs" missingFields=routingNumber` + "\n",
		new(dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000"})): "",
	} {
		var log bytes.Buffer
		platform := responding(t, http.StatusCreated,
			`{"id":"ct_1","name":"Bob","isExternal":true,"createdAt":"2026-01-01T00:00:00Z"}`,
			moneymovement.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{
				ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
					if a.Key == slog.TimeKey {
						return slog.Attr{}
					}
					return a
				},
			}))))
		contact, err := platform.Self().Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Bob", Account: *account})
		require.NoError(t, err)
		assert.Equal(t, dapi.ContactID("ct_1"), contact.ID)
		assert.Equal(t, want, log.String())
	}
}

// People copy an IBAN in groups of four. The account of a contact cannot be updated, so the blanks must not reach it.
func TestBlanksInAnIBANAreRemoved(t *testing.T) {
	for _, iban := range []string{"DE89 3704 0044 0532 0130 00", " DE89\u00a03704004405320130 00\n"} {
		for _, method := range bankMethods {
			text, err := dapi.BankAccount(dapi.BankMethod(method), dapi.BankFields{IBAN: iban}).MarshalJSON()
			require.NoError(t, err)
			assert.Contains(t, string(text), `"DE89370400440532013000"`, method)
		}
	}
}

func TestApplicantAsMap(t *testing.T) {
	assert.Empty(t, dapi.Applicant{}.Map())
	further := map[string]any{"taxNumber": 7, "country": nil}
	assert.Equal(t, map[string]any{"legalName": "a", "firstName": "b", "lastName": "c", "country": nil, "taxNumber": 7},
		dapi.Applicant{LegalName: "a", FirstName: "b", LastName: "c", Country: "DE", Further: further}.Map())
	assert.Len(t, further, 2, "it is the caller's")
}
