package appapi

import (
	"context"
	"iter"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Contacts saves, changes and deletes contacts. A contact is a saved payment destination. To pay one, use
// [Transfers.Send] with [ToContact].
type Contacts struct{ low lowLevel }

// List returns one page: at most params.Limit contacts, starting at params.Offset. If Limit is 0, the service decides
// how many.
func (s *Contacts) List(
	ctx context.Context, params ListContactsParams, options ...moneymovement.CallOption,
) (*ContactList, error) {
	return transport.Of(s).low.ListContacts(ctx, &params, options)
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
	return transport.Of(s).low.CreateContact(ctx, &contact, options)
}

// Update changes the name and the relationship of a contact, and returns the contact. A field that is not set stays as
// it is. A field that is set to null or to an empty text is cleared.
func (s *Contacts) Update(
	ctx context.Context, id string, change ContactUpdate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.Of(s).low.UpdateContact(ctx, id, &change, options).OrZero()
}

// Delete deletes a contact.
func (s *Contacts) Delete(ctx context.Context, id string, options ...moneymovement.CallOption) error {
	return transport.Of(s).low.DeleteContact(ctx, id, options)
}

// ValidateBank checks bank details and saves nothing. If the details cannot be used, the call succeeds with Valid
// false, and Errors names the fields. Valid is nil if the service does not report it. Do not read nil as false.
func (s *Contacts) ValidateBank(
	ctx context.Context, bank BankDetails, options ...moneymovement.CallOption,
) (*BankDetailsCheck, error) {
	return transport.Of(s).low.ValidateBankDetails(ctx, &bank, options).OrZero()
}

// Onchain returns a destination that is a wallet on a chain.
func Onchain(account model.OnchainAccount) model.ContactAccount {
	return model.NewContactAccount(account)
}

// EmailContact returns a destination that is an account of the service. The service finds the account by its email.
func EmailContact(email string) model.ContactAccount {
	return model.NewContactAccount(model.EmailAccount{Email: email})
}
