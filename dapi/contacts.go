package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Contacts are saved payment destinations.
//
// Source: Resources, Contact.
type Contacts struct{ low lowLevel }

// Create saves a destination. Make its Account with [Onchain], [EmailContact], the constructor of a bank method such as
// [SEPA], or [Bank]. Contacts are deduplicated by their account details: the same ones answer the contact that exists,
// and [moneymovement.CaptureResponse] tells by Replayed. For a create, absent and null mean the same, so that its
// fields are plain.
//
// The description of the legacy Bank destination is cut off: fields that it lacks go into AdditionalProperties.
func (s *Contacts) Create(
	ctx context.Context, contact ContactCreate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.Of(s).low.CreateContact(ctx, &contact, options)
}

// Update changes the fields that are set; an absent one stays, and a null one is cleared:
//
//	ContactUpdate{Name: model.Set("Bob"), Email: model.Null[string]()}
//
// A currency is cleared by null alone: an empty text is one that is too short.
func (s *Contacts) Update(
	ctx context.Context, id ContactID, change ContactUpdate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.Of(s).low.UpdateContact(ctx, id, &change, options).OrZero()
}

// Delete deletes a contact.
func (s *Contacts) Delete(ctx context.Context, id ContactID, options ...moneymovement.CallOption) error {
	return transport.Of(s).low.DeleteContact(ctx, id, options)
}

// Capabilities answers what the contact can be paid by, and the blockers that stand in the way. It is the authoritative
// answer. The blockers are what the service states; Payable is nil where it does not say, which is not false.
//
// Source: Coverage catalogue.
func (s *Contacts) Capabilities(
	ctx context.Context, id ContactID, options ...moneymovement.CallOption,
) (*ContactCapabilities, error) {
	return transport.Of(s).low.GetContactCapabilities(ctx, id, options)
}

// Onchain is a wallet as a destination. On Base, expecting USDC or EURC, it is paid directly; any other is paid
// cross-chain.
func Onchain(account OnchainAccount) ContactAccount { return NewContactAccount(account) }

// EmailContact is an existing contact of the service as a destination, found by its email.
func EmailContact(email string) ContactAccount { return NewContactAccount(EmailAccount{Email: email}) }

// Bank returns a bank account or mobile wallet that is paid by the given method. It takes every method, also one that
// this version does not know, and every field. Each known method has a constructor with the fields that it is likely to
// use, such as [SEPA], [ACH] and [PIX].
func Bank(method BankMethod, account BankAccount) ContactAccount {
	account.AccountType = method
	return NewContactAccount(account)
}
