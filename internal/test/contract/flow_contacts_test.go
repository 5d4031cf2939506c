package contract_test

import (
	"maps"
	"slices"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
)

func postal() *dapi.PostalAddress {
	return &dapi.PostalAddress{StreetAddress: "Main Street 1", AddressLine2: "Floor 2", City: "Berlin", State: "BE",
		Country: "DE", Zip: "10115"}
}

// destinations are one contact of each variant; those of a bank differ in their fields.
func (w *world) destinations() map[string]dapi.ContactCreate {
	return map[string]dapi.ContactCreate{
		"iban": {Name: "Contract suite",
			Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", BIC: "TESTDEFF",
				BankName:          "Licensed bank",
				BankAddress:       &dapi.InstitutionAddress{AddressLine1: "Main Street 1", City: "Berlin", Country: "DE"},
				AccountHolderName: "Bob Roe", AccountHolderType: model.AccountHolderTypeIndividual})},
		"pix key": {Name: "Contract suite", Account: dapi.PIX(dapi.BankFields{
			PIXKey: "bob@example.com", PIXKeyType: dapi.PIXKeyTypeEmail,
			AccountHolderName: "Bob Roe", AccountHolderType: model.AccountHolderTypeBusiness,
		})},
		"account number": {Name: "Contract suite", Account: dapi.ACH(dapi.BankFields{
			AccountNumber: "000123456789", RoutingNumber: "021000021",
			AccountKind: dapi.AccountKindChecking, AccountHolderName: "Bob Roe",
		})},
		"account abroad": {Name: "Contract suite", Account: dapi.SWIFT(dapi.BankFields{
			AccountNumber: "000123456790", BIC: "TESTDEFF", AccountKind: dapi.AccountKindSavings,
			AccountHolderName: "Bob Roe",
			IntermediaryBank: &dapi.IntermediaryBank{
				BankName: "Licensed bank", BIC: "TESTDEFF", AccountNumber: "000123456791",
				BankAddress: &dapi.InstitutionAddress{AddressLine1: "Main Street 1", AddressLine2: "Floor 2",
					City: "Berlin", State: "BE", PostalCode: "10115", Country: "DE"},
			},
		})},
		"legacy wallet": {Name: "Contract suite", Crypto: &dapi.CryptoDestination{Chain: "ethereum", Token: "USDC",
			Address: payee}},
		"legacy account": {Name: "Contract suite", Bank: &dapi.BankDestination{
			Method: "sepa", Currency: "EUR", Fields: map[string]any{"iban": "DE89370400440532013000"},
			Holder:   map[string]any{"name": "Bob Roe"},
			BankName: "Licensed bank", BankAddress: &dapi.InstitutionAddress{City: "Berlin", Country: "DE"},
		}},
		"address": {Name: "Contract suite",
			Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
				AccountHolderName: "Bob Roe"}),
			Address: postal()},
		"wallet": {Name: "Contract suite",
			Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: payee, ChainID: "base", Currency: "USDC"})},
		"email":                {Name: "Contract suite", Account: dapi.EmailContact(w.email)},
		"email of the contact": {Name: "Contract suite", Email: w.email},
		"owner": {Name: "Contract suite",
			Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: w.address(), ChainID: "base", Currency: "USDC",
				Email: w.email})},
		"identifier": {Name: "Contract suite", Account: dapi.PIX(dapi.BankFields{
			PIXKey: "52998224725", PIXKeyType: dapi.PIXKeyTypeCPF,
			AccountHolderName: "Bob Roe", HolderIDType: "passport", HolderIDNumber: "X0000000",
		})},
	}
}

func (w *world) contacts() {
	self := w.platform.Self()
	destinations := w.destinations()
	for _, name := range slices.Sorted(maps.Keys(destinations)) { // the same order in each report
		asked := destinations[name]
		w.step("with an "+name, func() {
			contact := ok(self.Contacts.Create(w.Context(), asked))(w)
			ok(self.Contacts.Update(w.Context(), contact.ID, dapi.ContactUpdate{}))(w)
			ok(self.Contacts.Capabilities(w.Context(), contact.ID))(w)
			w.succeeds(self.Contacts.Delete(w.Context(), contact.ID))
		})
	}
	w.embedded("with each type of PIX key", func() {
		for kind, key := range map[dapi.PIXKeyType]string{
			dapi.PIXKeyTypeCPF: "52998224725", dapi.PIXKeyTypeCNPJ: "11222333000181",
			dapi.PIXKeyTypePhone: "+5511999990000", dapi.PIXKeyTypeEVP: "123e4567-e89b-42d3-a456-426614174000",
		} {
			ok(self.Contacts.Create(w.Context(),
				dapi.ContactCreate{Account: dapi.PIX(dapi.BankFields{PIXKey: key, PIXKeyType: kind,
					AccountHolderName: "Bob Roe"})}))(w)
		}
	})
	w.step("that is changed", func() {
		contact := ok(self.Contacts.Create(w.Context(), w.destinations()["account number"]))(w)
		ok(self.Contacts.Update(w.Context(), contact.ID, dapi.ContactUpdate{
			Name: model.Set("Contract suite, changed"), Currency: model.Set("USD"), IsExternal: model.Set(true),
			Email:   model.Set(w.email),
			Address: model.Set(*postal()),
		}))(w)
		w.succeeds(self.Contacts.Delete(w.Context(), contact.ID))
	})
	w.step("that cannot be paid", func() {
		contact := ok(self.Contacts.Create(w.Context(),
			dapi.ContactCreate{Name: "Contract suite",
				Account: dapi.SEPA(dapi.BankFields{AccountHolderName: "Bob Roe"})}))(w)
		assert.NotEmpty(w, ok(self.Contacts.Capabilities(w.Context(), contact.ID))(w).Blockers)
		w.succeeds(self.Contacts.Delete(w.Context(), contact.ID))
	})
}
