package dapi_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
)

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
