package appapi

import (
	"context"
	"iter"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Account reads and updates the profile, the verification and the balances of the key's owner.
type Account struct{ low lowLevel }

// Profile returns the owner's profile.
func (s *Account) Profile(ctx context.Context, options ...moneymovement.CallOption) (*UserProfile, error) {
	return transport.OrNew(s).low.GetProfile(ctx, options)
}

// UpdateProfile saves the names and the address that the verification uses, and returns the profile. A field that is
// not set stays as it is. A field that is set to null or to an empty text is cleared.
//
// UpdateProfile is tried again after a lost response, because it has the same effect when it is sent twice.
func (s *Account) UpdateProfile(
	ctx context.Context, profile ProfileUpdate, options ...moneymovement.CallOption,
) (*UserProfile, error) {
	return transport.OrNew(s).low.UpdateProfile(ctx, &profile, options).
		ValueOrRead(func(origin transport.Origin) (*UserProfile, error) {
			return transport.OrNew(s).low.with(origin).GetProfile(ctx, nil)
		})
}

// KYCLink returns the link to the page where the owner completes the verification. The service creates the link on the
// first call, and returns the same link later. The description does not show the response: URL and Status are assumed.
func (s *Account) KYCLink(ctx context.Context, options ...moneymovement.CallOption) (*KYCLink, error) {
	return transport.OrNew(s).low.CreateKYCLink(ctx, options).ValueOrZero()
}

// KYCStatus returns the status of the verification. Status.Final reports whether the verification has ended.
// params.Provider selects the verification by one provider; it is optional.
func (s *Account) KYCStatus(
	ctx context.Context, params GetKYCStatusParams, options ...moneymovement.CallOption,
) (*KYCState, error) {
	return transport.OrNew(s).low.GetKYCStatus(ctx, &params, options)
}

// Balances returns all balance accounts. Amounts are exact decimals in units of the asset: 12.5 USDC is 12.5.
func (s *Account) Balances(ctx context.Context, options ...moneymovement.CallOption) ([]Balance, error) {
	list, err := transport.OrNew(s).low.ListBalances(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// WalletBalance returns the owner's wallet, its balance in USDC, and how much USDC the key may still spend. It calls
// GET /mcp/get_balance. RemainingAllowance is nil if the service does not report one.
func (s *Account) WalletBalance(ctx context.Context, options ...moneymovement.CallOption) (*MCPBalance, error) {
	return transport.OrNew(s).low.GetMCPBalance(ctx, options)
}

// App returns the app and the user that the key belongs to, the scopes of the key, and how much the key may still
// spend. RemainingSpendLimit is nil if the service does not report one. If the service does not accept the key, App
// fails with *errors.Unauthenticated, so this call is a good check at the start of a program.
func (s *Account) App(ctx context.Context, options ...moneymovement.CallOption) (*App, error) {
	return transport.OrNew(s).low.GetApp(ctx, options)
}

// Banks lists the bank rails, and opens bank accounts on them.
type Banks struct{ low lowLevel }

// List returns all rails. Requisites are the account details that a payer needs to send money. They are empty until a
// bank account is open on the rail.
func (s *Banks) List(ctx context.Context, options ...moneymovement.CallOption) ([]Bank, error) {
	list, err := transport.OrNew(s).low.ListBanks(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Activate opens a bank account on each rail in methods, such as "sepa", and returns the rails. If methods is empty, it
// opens a bank account on every available rail. Activating a rail again changes nothing.
//
// The description does not show the body. The SDK assumes one field, "methods".
func (s *Banks) Activate(ctx context.Context, methods []string, options ...moneymovement.CallOption) ([]Bank, error) {
	low := transport.OrNew(s).low
	list, err := low.ActivateBanks(ctx, &bankActivation{methods}, options).
		ValueOrRead(func(origin transport.Origin) (*bankList, error) {
			return low.with(origin).ListBanks(ctx, nil)
		})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Transactions lists the movements of the account's money.
type Transactions struct{ low lowLevel }

// List returns one page of the transactions that match the filters: at most params.Limit of them, starting at
// params.Offset. If Limit is 0, the service decides how many.
func (s *Transactions) List(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) (*TransactionList, error) {
	return transport.OrNew(s).low.ListTransactions(ctx, &params, options)
}

// All reads every page, starting at params.Offset. You can range over the result more than once. The iteration ends
// after the first error. If money moves meanwhile, it can miss a transaction or return one twice.
func (s *Transactions) All(
	ctx context.Context, params ListTransactionsParams, options ...moneymovement.CallOption,
) iter.Seq2[Transaction, error] {
	return pages(ctx, &opListTransactions, s.List, params, options,
		func(p *ListTransactionsParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *TransactionList) ([]Transaction, int) { return l.Items, l.Total })
}

// Contacts saves, changes and deletes contacts. A contact is a saved payment destination. To pay one, use
// [Transfers.Send] with [ToContact].
type Contacts struct{ low lowLevel }

// List returns one page: at most params.Limit contacts, starting at params.Offset. If Limit is 0, the service decides
// how many.
func (s *Contacts) List(
	ctx context.Context, params ListContactsParams, options ...moneymovement.CallOption,
) (*ContactList, error) {
	return transport.OrNew(s).low.ListContacts(ctx, &params, options)
}

// All reads every page, starting at params.Offset. You can range over the result more than once. The iteration ends
// after the first error. If contacts are created or deleted meanwhile, it can miss a contact or return one twice.
func (s *Contacts) All(
	ctx context.Context, params ListContactsParams, options ...moneymovement.CallOption,
) iter.Seq2[Contact, error] {
	return pages(ctx, &opListContacts, s.List, params, options,
		func(p *ListContactsParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *ContactList) ([]Contact, int) { return l.Items, l.Total })
}

// Create saves a contact. Make its Account with [Onchain] or [EmailContact]. The service keeps one contact for each set
// of account details, so Create is tried again after a lost response.
func (s *Contacts) Create(
	ctx context.Context, contact ContactCreate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.OrNew(s).low.CreateContact(ctx, &contact, options)
}

// Update changes the name and the relationship of a contact, and returns the contact. A field that is not set stays as
// it is. A field that is set to null or to an empty text is cleared.
func (s *Contacts) Update(
	ctx context.Context, id string, change ContactUpdate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.OrNew(s).low.UpdateContact(ctx, id, &change, options).ValueOrZero()
}

// Delete deletes a contact.
func (s *Contacts) Delete(ctx context.Context, id string, options ...moneymovement.CallOption) error {
	return transport.OrNew(s).low.DeleteContact(ctx, id, options)
}

// ValidateBank checks bank details and saves nothing. If the details cannot be used, the call succeeds with Valid
// false, and Errors names the fields. Valid is nil if the service does not report it. Do not read nil as false.
func (s *Contacts) ValidateBank(
	ctx context.Context, bank BankDetails, options ...moneymovement.CallOption,
) (*BankDetailsCheck, error) {
	return transport.OrNew(s).low.ValidateBankDetails(ctx, &bank, options).ValueOrZero()
}

// Onchain returns a destination that is a wallet on a chain.
func Onchain(account model.OnchainAccount) model.ContactAccount {
	return model.NewContactAccount(account)
}

// EmailContact returns a destination that is an account of the service. The service finds the account by its email.
func EmailContact(email string) model.ContactAccount {
	return model.NewContactAccount(model.EmailAccount{Email: email})
}
