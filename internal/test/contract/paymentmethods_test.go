package contract_test

import "github.com/moneymovement/moneymovement-go/model"

// paymentMethods are one of each variant, with every field that is assumed of it.
func paymentMethods() []model.PaymentMethod {
	bank := model.InstitutionAddress{AddressLine1: "Main Street 1", City: "Berlin", State: "BE", PostalCode: "10115",
		Country: "DE"}
	holder := model.PostalAddress{StreetAddress: "Main Street 1", AddressLine2: "Floor 2", City: "Berlin", State: "BE",
		Country: "DE", Zip: "10115"}
	var methods []model.PaymentMethod
	for _, variant := range []model.PaymentMethodVariant{
		model.SEPAPaymentMethod{
			IBANNumber: "DE89370400440532013000", BIC: "TESTDEFF", BeneficiaryName: "Carl Roe",
			BankName: "Licensed bank", BankAddress: bank, Currency: "EUR",
			AccountHolderType: model.AccountHolderTypeIndividual, AccountHolderFirstName: "Carl",
			AccountHolderLastName: "Roe", AccountHolderAddress: holder,
		},
		model.USExternalPaymentMethod{
			AccountNumber: "000123456789", RoutingNumber: "021000021", AccountKind: "checking",
			BankName: "Licensed bank", BankAddress: bank, Currency: "USD",
			BeneficiaryName: "Roe Ltd", AccountHolderType: model.AccountHolderTypeBusiness,
			AccountHolderBusinessName: "Roe Ltd",
			AccountHolderFirstName:    "Carl", AccountHolderLastName: "Roe", AccountHolderAddress: holder,
			PaymentReference: "contract suite",
		},
		model.SWIFTPaymentMethod{
			AccountNumber: "000123456789", IBANNumber: "DE89370400440532013000", BIC: "TESTDEFF",
			BankName: "Licensed bank", BankAddress: bank, Currency: "USD",
			BeneficiaryName: "Carl Roe", AccountHolderType: model.AccountHolderTypeIndividual,
			AccountHolderAddress: holder, PaymentReference: "contract suite",
		},
		model.PIXPaymentMethod{BeneficiaryName: "Carl Roe", Currency: "BRL", PIXKey: "52998224725", PIXKeyType: "cpf",
			HolderTaxID: "52998224725"},
		model.LocalRailPaymentMethod{
			Method: "inr_upi", Currency: "INR", BeneficiaryName: "Carl Roe", BankName: "Licensed bank",
			AccountNumber: "000123456789", RoutingNumber: "SBIN0000001",
			PaymentKey: "carl@upi", PhoneNumber: "+919999900000", PaymentReference: "contract suite",
		},
		model.ProviderUSDPaymentMethod{
			AccountNumber: "000123456789", RoutingNumber: "021000021", BankName: "Licensed bank", BankAddress: bank,
			Currency: "USD", BeneficiaryName: "Carl Roe",
			PaymentReference: "contract suite",
		},
	} {
		methods = append(methods, model.NewPaymentMethod(variant))
	}
	return methods
}
