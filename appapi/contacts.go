package appapi

import (
	"context"
	"iter"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Contacts are saved payment destinations.
//
// Source: App API, Contacts.
type Contacts struct{ low lowLevel }

// List returns one page: at most params.Limit entries, from params.Offset on. With a Limit of 0 the service decides how
// many.
func (s *Contacts) List(
	ctx context.Context, params ListContactsParams, options ...moneymovement.CallOption,
) (*ContactList, error) {
	return transport.Of(s).low.ListContacts(ctx, &params, options)
}

// All walks all pages from params.Offset on. It can be ranged over more than once, and ends after the first error. What
// is created or deleted meanwhile can shift entries from one page to another.
func (s *Contacts) All(
	ctx context.Context, params ListContactsParams, options ...moneymovement.CallOption,
) iter.Seq2[Contact, error] {
	return pages(ctx, &opListContacts, s.List, params, options,
		func(p *ListContactsParams) (offset *int, limit int) { return &p.Offset, p.Limit },
		func(l *ContactList) ([]Contact, int) { return l.Items, l.Total })
}

// Create saves a destination. Make its Account with [Onchain] or [EmailContact].
func (s *Contacts) Create(
	ctx context.Context, contact ContactCreate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.Of(s).low.CreateContact(ctx, &contact, options)
}

// Update changes the metadata that is set: an absent field stays, and an empty or null one is cleared.
func (s *Contacts) Update(
	ctx context.Context, id string, change ContactUpdate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.Of(s).low.UpdateContact(ctx, id, &change, options).OrZero()
}

// Delete deletes a contact.
func (s *Contacts) Delete(ctx context.Context, id string, options ...moneymovement.CallOption) error {
	return transport.Of(s).low.DeleteContact(ctx, id, options)
}

// ValidateBank checks bank details and saves nothing. Details that cannot be used are no error: the answer's Valid is
// false and its Errors name the fields. Valid is nil where the service does not say, which is not false.
func (s *Contacts) ValidateBank(
	ctx context.Context, bank BankDetails, options ...moneymovement.CallOption,
) (*BankDetailsCheck, error) {
	return transport.Of(s).low.ValidateBankDetails(ctx, &bank, options).OrZero()
}

// Onchain is a wallet as a destination.
func Onchain(account model.OnchainAccount) model.ContactAccount {
	return model.NewContactAccount(account)
}

// EmailContact is an existing contact of the service as a destination, found by its email.
func EmailContact(email string) model.ContactAccount {
	return model.NewContactAccount(model.EmailAccount{Email: email})
}
