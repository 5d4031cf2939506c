package contract_test

import moneymovement "github.com/moneymovement/moneymovement-go"

// paymentMethods are one of each variant, with every field that is assumed of it.
func paymentMethods() []moneymovement.PaymentMethod {
	bank := moneymovement.InstitutionAddress{AddressLine1: "Main Street 1", City: "Berlin", State: "BE", PostalCode: "10115", Country: "DE"}
	holder := moneymovement.PostalAddress{StreetAddress: "Main Street 1", AddressLine2: "Floor 2", City: "Berlin", State: "BE", Country: "DE", Zip: "10115"}
	var methods []moneymovement.PaymentMethod
	for _, variant := range []moneymovement.PaymentMethodVariant{
		moneymovement.SEPAPaymentMethod{
			IBANNumber: "DE89370400440532013000", BIC: "TESTDEFF", BeneficiaryName: "Carl Roe", BankName: "Licensed bank", BankAddress: bank, Currency: "EUR",
			AccountHolderType: moneymovement.AccountHolderTypeIndividual, AccountHolderFirstName: "Carl", AccountHolderLastName: "Roe", AccountHolderAddress: holder,
		},
		moneymovement.USExternalPaymentMethod{
			AccountNumber: "000123456789", RoutingNumber: "021000021", AccountKind: "checking", BankName: "Licensed bank", BankAddress: bank, Currency: "USD",
			BeneficiaryName: "Roe Ltd", AccountHolderType: moneymovement.AccountHolderTypeBusiness, AccountHolderBusinessName: "Roe Ltd",
			AccountHolderFirstName: "Carl", AccountHolderLastName: "Roe", AccountHolderAddress: holder, PaymentReference: "contract suite",
		},
		moneymovement.SWIFTPaymentMethod{
			AccountNumber: "000123456789", IBANNumber: "DE89370400440532013000", BIC: "TESTDEFF", BankName: "Licensed bank", BankAddress: bank, Currency: "USD",
			BeneficiaryName: "Carl Roe", AccountHolderType: moneymovement.AccountHolderTypeIndividual, AccountHolderAddress: holder, PaymentReference: "contract suite",
		},
		moneymovement.PIXPaymentMethod{BeneficiaryName: "Carl Roe", Currency: "BRL", PIXKey: "52998224725", PIXKeyType: "cpf", HolderTaxID: "52998224725"},
		moneymovement.LocalRailPaymentMethod{
			Method: "inr_upi", Currency: "INR", BeneficiaryName: "Carl Roe", BankName: "Licensed bank", AccountNumber: "000123456789", RoutingNumber: "SBIN0000001",
			PaymentKey: "carl@upi", PhoneNumber: "+919999900000", PaymentReference: "contract suite",
		},
		moneymovement.ProviderUSDPaymentMethod{
			AccountNumber: "000123456789", RoutingNumber: "021000021", BankName: "Licensed bank", BankAddress: bank, Currency: "USD", BeneficiaryName: "Carl Roe",
			PaymentReference: "contract suite",
		},
	} {
		methods = append(methods, moneymovement.NewPaymentMethod(variant))
	}
	return methods
}
