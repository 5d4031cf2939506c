package dapi_test

import (
	stdjson "encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// families are the account types, each with a value in every field.
var families = []interface{ BankAccount() dapi.BankAccount }{
	filled[dapi.IBANAccount](), filled[dapi.SWIFTAccount](), filled[dapi.RoutingAccount](), filled[dapi.LocalAccount](),
	filled[dapi.PIXAccount](), filled[dapi.KeyAccount](), filled[dapi.PhoneWallet](),
}

// filled puts the name of each field into it.
func filled[T any]() T {
	var account T
	fill(reflect.ValueOf(&account).Elem())
	return account
}

func fill(v reflect.Value) {
	for i := range v.NumField() {
		switch field := v.Field(i); field.Kind() {
		case reflect.String:
			field.SetString(v.Type().Field(i).Name)
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		default:
			fill(field)
		}
	}
}

// holderFields are the names of a holder's fields in an account with all fields, where they differ.
var holderFields = map[string]string{
	"Name": "AccountHolderName", "Type": "AccountHolderType", "FirstName": "AccountHolderFirstName",
	"LastName": "AccountHolderLastName", "BusinessName": "AccountHolderBusinessName", "IDType": "HolderIDType",
	"IDNumber": "HolderIDNumber", "TaxID": "HolderTaxID", "Nationality": "HolderNationality",
}

// Each field of a family arrives in the field of that name, and nothing else is set.
func TestEachFieldOfAFamilyIsSent(t *testing.T) {
	for _, family := range families {
		account, fields := reflect.ValueOf(family.BankAccount()), reflect.TypeOf(family)
		t.Run(fields.Name(), func(t *testing.T) {
			want := map[string]string{}
			for field := range fields.Fields() {
				switch {
				case field.Name == "Holder":
					for of, is := range holderFields {
						want[is] = of
					}
				case field.Type.Kind() == reflect.Pointer:
					want[field.Name] = "pointer"
				default:
					want[field.Name] = field.Name
				}
			}
			got := map[string]string{}
			for i := range account.NumField() {
				switch field := account.Field(i); {
				case field.IsZero():
				case field.Kind() == reflect.Pointer:
					got[account.Type().Field(i).Name] = "pointer"
				default:
					got[account.Type().Field(i).Name] = field.String()
				}
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestAConstructorSetsTypeAndCurrency(t *testing.T) {
	account := func(made dapi.ContactAccount) dapi.BankAccount {
		bank, ok := made.Variant().(dapi.BankAccount)
		require.True(t, ok)
		return bank
	}
	for method, made := range byConstructor() {
		bank := account(made)
		assert.Equal(t, method, bank.AccountType)
		var paid []string
		for _, row := range dapi.PayoutCoverage() {
			if row.Method == method {
				paid = append(paid, row.Currency)
			}
		}
		require.Len(t, paid, 1, method)
		assert.Equal(t, paid[0], bank.Currency, method)
	}
	assert.Equal(t, "GBP", account(dapi.SWIFT(dapi.SWIFTAccount{Currency: "GBP"})).Currency, "another one stays")
	assert.Equal(t, dapi.BankAccount{AccountType: "sepa", Currency: "EUR"}, account(dapi.SEPA(dapi.IBANAccount{})),
		"nothing is required, and nothing is made up")
}

// byConstructor is an empty account by each constructor.
func byConstructor() map[dapi.BankMethod]dapi.ContactAccount {
	made := map[dapi.BankMethod]dapi.ContactAccount{
		dapi.BankMethodSWIFT: dapi.SWIFT(dapi.SWIFTAccount{}), dapi.BankMethodPIX: dapi.PIX(dapi.PIXAccount{}),
	}
	for method, of := range map[dapi.BankMethod]func(dapi.IBANAccount) dapi.ContactAccount{
		dapi.BankMethodSEPA: dapi.SEPA, dapi.BankMethodUAEFTS: dapi.UAEFTS, dapi.BankMethodTRYFast: dapi.TRYFast,
		dapi.BankMethodSARLocal: dapi.SARLocal,
	} {
		made[method] = of(dapi.IBANAccount{})
	}
	for method, of := range map[dapi.BankMethod]func(dapi.RoutingAccount) dapi.ContactAccount{
		dapi.BankMethodACH: dapi.ACH, dapi.BankMethodFedwire: dapi.Fedwire, dapi.BankMethodRTP: dapi.RTP,
		dapi.BankMethodCADEFT: dapi.CADEFT, dapi.BankMethodUKFPS: dapi.UKFPS, dapi.BankMethodNPP: dapi.NPP,
		dapi.BankMethodINRLocal: dapi.INRLocal,
	} {
		made[method] = of(dapi.RoutingAccount{})
	}
	for method, of := range map[dapi.BankMethod]func(dapi.LocalAccount) dapi.ContactAccount{
		dapi.BankMethodSPEI: dapi.SPEI, dapi.BankMethodNIP: dapi.NIP, dapi.BankMethodPSE: dapi.PSE,
		dapi.BankMethodBRLLocal: dapi.BRLLocal, dapi.BankMethodPLNLocal: dapi.PLNLocal,
		dapi.BankMethodVNDLocal: dapi.VNDLocal,
	} {
		made[method] = of(dapi.LocalAccount{})
	}
	for method, of := range map[dapi.BankMethod]func(dapi.KeyAccount) dapi.ContactAccount{
		dapi.BankMethodINRUPI: dapi.INRUPI, dapi.BankMethodHKDFPS: dapi.HKDFPS, dapi.BankMethodPKRRaast: dapi.PKRRaast,
		dapi.BankMethodTransfers30: dapi.Transfers30,
	} {
		made[method] = of(dapi.KeyAccount{})
	}
	for method, of := range map[dapi.BankMethod]func(dapi.PhoneWallet) dapi.ContactAccount{
		dapi.BankMethodBDTEwallet: dapi.BDTEwallet, dapi.BankMethodPHPEwallet: dapi.PHPEwallet,
	} {
		made[method] = of(dapi.PhoneWallet{})
	}
	return made
}

// People copy an IBAN in groups of four. The account of a contact cannot be updated, so the blanks must not reach it.
func TestBlanksInAnIBANAreRemoved(t *testing.T) {
	for _, iban := range []string{"DE89 3704 0044 0532 0130 00", " DE89\u00a03704004405320130 00\n"} {
		for name, account := range map[string]dapi.ContactAccount{
			"SEPA":     dapi.SEPA(dapi.IBANAccount{IBAN: iban}),
			"SWIFT":    dapi.SWIFT(dapi.SWIFTAccount{IBAN: iban}),
			"an alias": dapi.UAEFTS(dapi.IBANAccount{IBAN: iban}),
		} {
			text, err := account.MarshalJSON()
			require.NoError(t, err)
			assert.Contains(t, string(text), `"DE89370400440532013000"`, name)
		}
	}
}

func TestAnApplicantIsAMap(t *testing.T) {
	assert.Empty(t, dapi.Applicant{}.Map())
	further := map[string]any{"taxNumber": 7, "country": nil}
	assert.Equal(t, map[string]any{"legalName": "a", "firstName": "b", "lastName": "c", "country": nil, "taxNumber": 7},
		dapi.Applicant{LegalName: "a", FirstName: "b", LastName: "c", Country: "DE", Further: further}.Map())
	assert.Len(t, further, 2, "it is the caller's")
}
