package dapi

import (
	"context"
	"slices"
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Contacts saves, changes and deletes contacts. A contact is a saved payment destination.
type Contacts struct{ low lowLevel }

// Create saves a contact. Make its Account with [Onchain], [EmailContact], the constructor of a bank method such as
// [SEPA], or [Bank].
//
// The service keeps one contact for each set of account details. If a contact with these details exists, Create returns
// that contact. To see whether it is new, pass [moneymovement.CaptureResponse]: Response.Replayed is true for a contact
// that existed.
//
// ContactCreate.Bank is an older form, and its description is not complete. Set fields that [BankDestination] lacks in
// its AdditionalProperties.
func (s *Contacts) Create(
	ctx context.Context, contact ContactCreate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.Of(s).low.CreateContact(ctx, &contact, options)
}

// Update changes the fields that are set. A field that is not set keeps its value, and a null field is cleared:
//
//	ContactUpdate{Name: model.Set("Bob"), Email: model.Null[string]()}
//
// To clear a currency, set it to null. An empty text is refused, because a currency has 3 to 4 characters.
func (s *Contacts) Update(
	ctx context.Context, id ContactID, change ContactUpdate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.Of(s).low.UpdateContact(ctx, id, &change, options).OrZero()
}

// Delete deletes a contact. A deleted contact cannot be paid any more.
func (s *Contacts) Delete(ctx context.Context, id ContactID, options ...moneymovement.CallOption) error {
	return transport.Of(s).low.DeleteContact(ctx, id, options)
}

// Capabilities returns how the contact can be paid, and the blockers: the reasons why it cannot be paid. The service
// decides this for each contact, so rely on this list and not on [PayoutCoverage]. Payable is nil if the service does
// not say whether the contact can be paid. Nil does not mean false.
func (s *Contacts) Capabilities(
	ctx context.Context, id ContactID, options ...moneymovement.CallOption,
) (*ContactCapabilities, error) {
	return transport.Of(s).low.GetContactCapabilities(ctx, id, options)
}

// Onchain returns a wallet as a destination. See [OnchainAccount.PaidDirectly] for the route of the payment.
func Onchain(account OnchainAccount) ContactAccount { return NewContactAccount(account) }

// EmailContact returns an existing contact of the service as a destination. The service finds it by its email address.
func EmailContact(email string) ContactAccount { return NewContactAccount(EmailAccount{Email: email}) }

// Bank returns a bank account or mobile wallet that is paid by the given method. It accepts every field, and also
// methods that this version does not know. Each known method has its own constructor, such as [SEPA], [ACH] and [PIX],
// with the fields that the method probably uses.
func Bank(method BankMethod, account BankAccount) ContactAccount {
	account.AccountType = method
	return NewContactAccount(account)
}

// Coverage is one row of the coverage catalogue: a bank method and a currency that it moves.
//
// The catalogue lists what is possible in general. The service decides what one client or contact can use: call
// [Rails.List] and [Contacts.Capabilities].
type Coverage struct {
	Method   BankMethod
	Currency string // ISO 4217
	// International is true for an international wire: SWIFT in US dollars.
	International bool
}

// RailCoverage returns the methods and currencies of virtual accounts (money in). Each call
// returns a new slice.
func RailCoverage() []Coverage { return slices.Clone(moneyIn[:]) }

// PayoutCoverage returns the methods and currencies in which a contact can be paid (money out). Each call returns a new
// slice.
func PayoutCoverage() []Coverage { return slices.Clone(moneyOut[:]) }

// MethodKind is the kind of a bank method.
type MethodKind string

// The kinds of bank methods.
const (
	MethodKindScheme  MethodKind = "scheme"  // a named payment scheme
	MethodKindLocal   MethodKind = "local"   // a domestic clearing system, suffix _local
	MethodKindEwallet MethodKind = "ewallet" // a mobile wallet by phone number, suffix _ewallet
)

// Kind returns the kind of the method. The suffix of its name decides, so Kind also works for methods that this version
// does not know.
func (m BankMethod) Kind() MethodKind {
	switch {
	case strings.HasSuffix(string(m), "_local"):
		return MethodKindLocal
	case strings.HasSuffix(string(m), "_ewallet"):
		return MethodKindEwallet
	}
	return MethodKindScheme
}

// PaidDirectly reports whether the wallet is on the Base chain and accepts USDC or EURC. The service then pays it from
// the balance without conversion. It pays any other wallet over a cross-chain route: set FromChainID and ToChainID in
// [PayoutCreate].
func (a OnchainAccount) PaidDirectly() bool {
	return a.ChainID == "base" && (a.Currency == string(USDC) || a.Currency == string(EURC))
}

// AccountHolder is the person or business that holds an account. For a method with one field for the name, set Name.
// Otherwise set FirstName and LastName, or BusinessName.
type AccountHolder struct {
	// Name is the holder's full name.
	Name string
	// Type says whether the holder is a person or a business.
	Type model.AccountHolderType
	// FirstName and LastName are the legal names of a person.
	FirstName, LastName string
	// BusinessName is the registered name of a business.
	BusinessName string
	// IDType and IDNumber are the kind and the number of a government identifier of the holder.
	IDType   HolderIDType
	IDNumber string
	// TaxID is the holder's tax identifier.
	TaxID string
	// Nationality is the ISO country code of the holder's nationality.
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

// IBANAccount is a bank account that its IBAN identifies. [SEPA], [UAEFTS], [SARLocal] and [TRYFast] take one.
//
// The service's description does not show which fields a method needs. So no field is required here. The comment of
// each constructor lists the fields that the method probably needs. After you have saved the contact,
// [Contacts.Capabilities] returns a blocker for each field that is missing. All this is also true for the other account
// types.
type IBANAccount struct {
	// IBAN is the account's IBAN. Blanks in it, as people write them, are removed.
	IBAN string
	// BIC is the BIC (SWIFT code) of the bank.
	BIC    string
	Holder AccountHolder
	// BankName and BankAddress describe the bank.
	BankName    string
	BankAddress *InstitutionAddress
	// Currency is the ISO 4217 code of the currency that arrives. Empty means the currency of the method.
	Currency string
}

// BankAccount returns a [BankAccount], which has the fields of all methods, with the values of a. To use a field that
// this type lacks, set it there and pass the result to [Bank].
func (a IBANAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		IBAN: unspaced(a.IBAN), BIC: a.BIC, BankName: a.BankName, BankAddress: a.BankAddress, Currency: a.Currency,
	})
}

// unspaced removes the blanks from an IBAN. The service takes it for wrong with them, and an account cannot be updated.
func unspaced(iban string) string { return strings.Join(strings.Fields(iban), "") }

// SWIFTAccount is a bank account that is paid by an international wire: see [SWIFT]. See [IBANAccount] for the
// fields that a method needs.
type SWIFTAccount struct {
	// BIC is the BIC (SWIFT code) of the bank.
	BIC string
	// AccountNumber or IBAN identifies the account.
	AccountNumber, IBAN string
	Holder              AccountHolder
	// BankName and BankAddress describe the bank.
	BankName    string
	BankAddress *InstitutionAddress
	// IntermediaryBank is the bank between the payer's bank and this one, if the transfer needs it.
	IntermediaryBank *IntermediaryBank
	// AccountKind is checking or savings.
	AccountKind AccountKind
	// Currency is the ISO 4217 code of the currency that arrives. Empty means the currency of the method.
	Currency string
}

// BankAccount returns a [BankAccount], which has the fields of all methods, with the values of a. To use a field that
// this type lacks, set it there and pass the result to [Bank].
func (a SWIFTAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		BIC: a.BIC, AccountNumber: a.AccountNumber, IBAN: unspaced(a.IBAN), BankName: a.BankName,
		BankAddress:      a.BankAddress,
		IntermediaryBank: a.IntermediaryBank, AccountKind: a.AccountKind, Currency: a.Currency,
	})
}

// RoutingAccount is a bank account that is identified by its account number and the routing number of its bank. It is
// used by [ACH], [CADEFT], [UKFPS] and [NPP], for example. See [IBANAccount] for the fields that a method needs.
type RoutingAccount struct {
	// AccountNumber identifies the account.
	AccountNumber string
	// RoutingNumber identifies the bank. It is a routing number, a sort code or a BSB number, for example.
	RoutingNumber string
	// AccountKind is checking or savings.
	AccountKind AccountKind
	Holder      AccountHolder
	// BankName and BankAddress describe the bank.
	BankName    string
	BankAddress *InstitutionAddress
	// Currency is the ISO 4217 code of the currency that arrives. Empty means the currency of the method.
	Currency string
}

// BankAccount returns a [BankAccount], which has the fields of all methods, with the values of a. To use a field that
// this type lacks, set it there and pass the result to [Bank].
func (a RoutingAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		AccountNumber: a.AccountNumber, RoutingNumber: a.RoutingNumber, AccountKind: a.AccountKind,
		BankName: a.BankName, BankAddress: a.BankAddress, Currency: a.Currency,
	})
}

// LocalAccount is a bank account in a domestic clearing system. It is used by [SPEI], [NIP], [PSE] and most
// constructors whose name ends in Local. See [IBANAccount] for the fields that a method needs.
type LocalAccount struct {
	// AccountNumber identifies the account. Some methods take an IBAN instead.
	AccountNumber, IBAN string
	// FinancialInstitutionID is the bank's id in the directory of the method.
	FinancialInstitutionID string
	// BranchNumber identifies the branch, and RoutingNumber the bank.
	BranchNumber, RoutingNumber string
	// AccountKind is checking or savings.
	AccountKind AccountKind
	// PhoneNumber is the holder's phone number, for methods that need it.
	PhoneNumber string
	Holder      AccountHolder
	// BankName is the name of the bank.
	BankName string
	// Currency is the ISO 4217 code of the currency that arrives. Empty means the currency of the method.
	Currency string
}

// BankAccount returns a [BankAccount], which has the fields of all methods, with the values of a. To use a field that
// this type lacks, set it there and pass the result to [Bank].
func (a LocalAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		AccountNumber: a.AccountNumber, IBAN: unspaced(a.IBAN), FinancialInstitutionID: a.FinancialInstitutionID,
		BranchNumber: a.BranchNumber, RoutingNumber: a.RoutingNumber, AccountKind: a.AccountKind,
		PhoneNumber: a.PhoneNumber, BankName: a.BankName, Currency: a.Currency,
	})
}

// PIXAccount is an account in Brazil that a PIX key identifies: see [PIX]. See [IBANAccount] for the fields that a
// method needs.
type PIXAccount struct {
	// PIXKey is the key, such as an email address or a phone number.
	PIXKey string
	// PIXKeyType is the kind of the key.
	PIXKeyType PIXKeyType
	Holder     AccountHolder
	// Currency is the ISO 4217 code of the currency that arrives. Empty means the currency of the method.
	Currency string
}

// BankAccount returns a [BankAccount], which has the fields of all methods, with the values of a. To use a field that
// this type lacks, set it there and pass the result to [Bank].
func (a PIXAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{PIXKey: a.PIXKey, PIXKeyType: a.PIXKeyType, Currency: a.Currency})
}

// KeyAccount is an account that a key of a local payment system identifies. It is used by [Breb], [INRUPI] and
// [HKDFPS], for example. See [IBANAccount] for the fields that a method needs.
type KeyAccount struct {
	// PaymentKey is the key: an alias, a handle or a number.
	PaymentKey string
	// PhoneNumber, AccountNumber or IBAN identifies the account instead of a key, if the method allows that.
	PhoneNumber, AccountNumber, IBAN string
	// FinancialInstitutionID is the institution's id in the directory of the method.
	FinancialInstitutionID string
	Holder                 AccountHolder
	// Currency is the ISO 4217 code of the currency that arrives. Empty means the currency of the method.
	Currency string
}

// BankAccount returns a [BankAccount], which has the fields of all methods, with the values of a. To use a field that
// this type lacks, set it there and pass the result to [Bank].
func (a KeyAccount) BankAccount() BankAccount {
	return a.Holder.with(BankAccount{
		PaymentKey: a.PaymentKey, PhoneNumber: a.PhoneNumber, AccountNumber: a.AccountNumber, IBAN: unspaced(a.IBAN),
		FinancialInstitutionID: a.FinancialInstitutionID, Currency: a.Currency,
	})
}

// PhoneWallet is a mobile wallet that a phone number identifies. The constructors whose name ends in Ewallet take one.
// See [IBANAccount] for the fields that a method needs.
type PhoneWallet struct {
	// PhoneNumber is the number, with its country code.
	PhoneNumber string
	// FinancialInstitutionID is the id of the wallet's provider in the directory of the method.
	FinancialInstitutionID string
	Holder                 AccountHolder
	// Currency is the ISO 4217 code of the currency that arrives. Empty means the currency of the method.
	Currency string
}

// BankAccount returns a [BankAccount], which has the fields of all methods, with the values of a. To use a field that
// this type lacks, set it there and pass the result to [Bank].
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
