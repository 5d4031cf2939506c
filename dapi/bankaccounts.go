package dapi

import "github.com/moneymovement/moneymovement-go/model"

// AccountHolder is the person or business that holds an account. Use Name for methods with one field for the name, or
// the parts of the name.
type AccountHolder struct {
	// Name is the holder's full name.
	Name string
	// Type says whether the holder is a person or a business.
	Type model.AccountHolderType
	// FirstName and LastName are the legal names of a person.
	FirstName, LastName string
	// BusinessName is the registered name of a business.
	BusinessName string
	// IDType and IDNumber identify the holder by a document of a government.
	IDType   HolderIDType
	IDNumber string
	// TaxID is the holder's tax number.
	TaxID string
	// Nationality is the ISO code of a country.
	Nationality string
}

// with returns the account with its holder.
func (h AccountHolder) with(account BankAccount) BankAccount {
	account.AccountHolderName, account.AccountHolderType = h.Name, h.Type
	account.AccountHolderFirstName, account.AccountHolderLastName = h.FirstName, h.LastName
	account.AccountHolderBusinessName = h.BusinessName
	account.HolderIDType, account.HolderIDNumber = h.IDType, h.IDNumber
	account.HolderTaxID, account.HolderNationality = h.TaxID, h.Nationality
	return account
}

// IBANAccount is a bank account that is named by its IBAN. [SEPA], [UAEFTS], [SARLocal] and [TRYFast] take one.
//
// The service's description does not show which fields a method needs. No field is required here. The comment of each
// constructor lists the fields that are assumed to be needed, and [Contacts.Capabilities] has the last word: it returns
// a blocker for each missing field. The same holds for the other account types.
type IBANAccount struct {
	// IBAN has no spaces or other separators.
	IBAN string
	// BIC identifies the bank.
	BIC string
	// Holder holds the account.
	Holder AccountHolder
	// BankName and BankAddress describe the bank.
	BankName    string
	BankAddress *InstitutionAddress
	// Currency is the ISO 4217 code of what arrives; empty for the currency of the method.
	Currency string
}

// BankAccount returns the account with all fields that any method has. Set more of them, and pass it to [Bank].
func (a IBANAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		IBAN: a.IBAN, BIC: a.BIC, BankName: a.BankName, BankAddress: a.BankAddress, Currency: a.Currency,
	})
}

// SWIFTAccount is a bank account abroad, which is paid by an international wire: see [SWIFT]. For which fields are
// needed, see [IBANAccount].
type SWIFTAccount struct {
	// BIC identifies the bank.
	BIC string
	// AccountNumber or IBAN names the account.
	AccountNumber, IBAN string
	// Holder holds the account.
	Holder AccountHolder
	// BankName and BankAddress describe the bank.
	BankName    string
	BankAddress *InstitutionAddress
	// IntermediaryBank is a bank between the two, if there is one.
	IntermediaryBank *IntermediaryBank
	// AccountKind is checking or savings.
	AccountKind AccountKind
	// Currency is the ISO 4217 code of what arrives; empty for the currency of the method.
	Currency string
}

// BankAccount returns the account with all fields that any method has. Set more of them, and pass it to [Bank].
func (a SWIFTAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		BIC: a.BIC, AccountNumber: a.AccountNumber, IBAN: a.IBAN, BankName: a.BankName, BankAddress: a.BankAddress,
		IntermediaryBank: a.IntermediaryBank, AccountKind: a.AccountKind, Currency: a.Currency,
	})
}

// RoutingAccount is a bank account that is named by its account number and the routing number of its bank, such as those
// of [ACH], [Fedwire], [CADEFT], [UKFPS] and [NPP]. For which fields are needed, see [IBANAccount].
type RoutingAccount struct {
	// AccountNumber names the account.
	AccountNumber string
	// RoutingNumber names the bank: its routing number, sort code, BSB or the like.
	RoutingNumber string
	// AccountKind is checking or savings.
	AccountKind AccountKind
	// Holder holds the account.
	Holder AccountHolder
	// BankName and BankAddress describe the bank.
	BankName    string
	BankAddress *InstitutionAddress
	// Currency is the ISO 4217 code of what arrives; empty for the currency of the method.
	Currency string
}

// BankAccount returns the account with all fields that any method has. Set more of them, and pass it to [Bank].
func (a RoutingAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		AccountNumber: a.AccountNumber, RoutingNumber: a.RoutingNumber, AccountKind: a.AccountKind,
		BankName: a.BankName, BankAddress: a.BankAddress, Currency: a.Currency,
	})
}

// LocalAccount is a bank account in a domestic clearing system, such as those of [SPEI], [NIP] and the methods whose
// name ends in Local. For which fields are needed, see [IBANAccount].
type LocalAccount struct {
	// AccountNumber names the account. Some methods take an IBAN in place of it.
	AccountNumber, IBAN string
	// FinancialInstitutionID is the bank's id in the directory of the method.
	FinancialInstitutionID string
	// BranchNumber and RoutingNumber name the branch or the bank.
	BranchNumber, RoutingNumber string
	// AccountKind is checking or savings.
	AccountKind AccountKind
	// PhoneNumber is the holder's, for methods that need it.
	PhoneNumber string
	// Holder holds the account.
	Holder AccountHolder
	// BankName is the name of the bank.
	BankName string
	// Currency is the ISO 4217 code of what arrives; empty for the currency of the method.
	Currency string
}

// BankAccount returns the account with all fields that any method has. Set more of them, and pass it to [Bank].
func (a LocalAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		AccountNumber: a.AccountNumber, IBAN: a.IBAN, FinancialInstitutionID: a.FinancialInstitutionID,
		BranchNumber: a.BranchNumber, RoutingNumber: a.RoutingNumber, AccountKind: a.AccountKind,
		PhoneNumber: a.PhoneNumber, BankName: a.BankName, Currency: a.Currency,
	})
}

// PIXAccount is an account in Brazil that is named by a PIX key: see [PIX]. For which fields are needed, see
// [IBANAccount].
type PIXAccount struct {
	// PIXKey is the key.
	PIXKey string
	// PIXKeyType says what kind of key it is.
	PIXKeyType PIXKeyType
	// Holder holds the account.
	Holder AccountHolder
	// Currency is the ISO 4217 code of what arrives; empty for the currency of the method.
	Currency string
}

// BankAccount returns the account with all fields that any method has. Set more of them, and pass it to [Bank].
func (a PIXAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{PIXKey: a.PIXKey, PIXKeyType: a.PIXKeyType, Currency: a.Currency})
}

// KeyAccount is an account that is named by a key of a local payment system, such as those of [Breb], [INRUPI] and
// [HKDFPS]. For which fields are needed, see [IBANAccount].
type KeyAccount struct {
	// PaymentKey is the key: an alias, a handle or a number.
	PaymentKey string
	// PhoneNumber, AccountNumber or IBAN names the account in place of a key, if the method takes it.
	PhoneNumber, AccountNumber, IBAN string
	// FinancialInstitutionID is the institution's id in the directory of the method.
	FinancialInstitutionID string
	// Holder holds the account.
	Holder AccountHolder
	// Currency is the ISO 4217 code of what arrives; empty for the currency of the method.
	Currency string
}

// BankAccount returns the account with all fields that any method has. Set more of them, and pass it to [Bank].
func (a KeyAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		PaymentKey: a.PaymentKey, PhoneNumber: a.PhoneNumber, AccountNumber: a.AccountNumber, IBAN: a.IBAN,
		FinancialInstitutionID: a.FinancialInstitutionID, Currency: a.Currency,
	})
}

// PhoneWallet is a mobile wallet that is named by a phone number. The methods whose name ends in Ewallet take one. For
// which fields are needed, see [IBANAccount].
type PhoneWallet struct {
	// PhoneNumber is the number, with its country code.
	PhoneNumber string
	// FinancialInstitutionID is the wallet's provider in the directory of the method.
	FinancialInstitutionID string
	// Holder holds the wallet.
	Holder AccountHolder
	// Currency is the ISO 4217 code of what arrives; empty for the currency of the method.
	Currency string
}

// BankAccount returns the account with all fields that any method has. Set more of them, and pass it to [Bank].
func (a PhoneWallet) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		PhoneNumber: a.PhoneNumber, FinancialInstitutionID: a.FinancialInstitutionID, Currency: a.Currency,
	})
}

// paidBy returns an account of a method, in the method's currency unless it has another one.
func paidBy(method BankMethod, currency string, account BankAccount) ContactAccount {
	if account.Currency == "" {
		account.Currency = currency
	}
	return Bank(method, account)
}
