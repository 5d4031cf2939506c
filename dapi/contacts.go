package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Contacts saves, changes and deletes contacts. A contact is a saved payment destination.
type Contacts struct{ low lowLevel }

// Create saves a contact. Make its Account with [Onchain], [EmailContact], the constructor of a bank method such as
// [SEPA], or [Bank].
//
// The service keeps one contact for each set of account details. If a contact with these details exists, Create returns
// it, and Replayed of [moneymovement.CaptureResponse] is true. In a create request, an absent field and a null field
// mean the same, so the fields of ContactCreate are plain values.
//
// The service's description of the older Bank destination is not complete. Put fields that it does not list into
// AdditionalProperties.
func (s *Contacts) Create(
	ctx context.Context, contact ContactCreate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.Of(s).low.CreateContact(ctx, &contact, options)
}

// Update changes the fields that are set. A field that is absent keeps its value, and a null field is cleared:
//
//	ContactUpdate{Name: model.Set("Bob"), Email: model.Null[string]()}
//
// To clear a currency, set it to null. An empty text is refused, because a currency has 3 to 4 characters.
func (s *Contacts) Update(
	ctx context.Context, id ContactID, change ContactUpdate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.Of(s).low.UpdateContact(ctx, id, &change, options).OrZero()
}

// Delete deletes a contact.
func (s *Contacts) Delete(ctx context.Context, id ContactID, options ...moneymovement.CallOption) error {
	return transport.Of(s).low.DeleteContact(ctx, id, options)
}

// Capabilities returns how the contact can be paid, and the blockers that prevent a payment. The service decides this
// for each contact, so this is the list to rely on. Payable is nil if the service does not say whether the contact can
// be paid. Nil does not mean false.
func (s *Contacts) Capabilities(
	ctx context.Context, id ContactID, options ...moneymovement.CallOption,
) (*ContactCapabilities, error) {
	return transport.Of(s).low.GetContactCapabilities(ctx, id, options)
}

// Onchain returns a wallet as a destination. A wallet on Base that expects USDC or EURC is paid directly. Any other
// wallet is paid over a cross-chain route.
func Onchain(account OnchainAccount) ContactAccount { return NewContactAccount(account) }

// EmailContact returns an account of the service as a destination. The service finds it by its email.
func EmailContact(email string) ContactAccount { return NewContactAccount(EmailAccount{Email: email}) }

// Bank returns a bank account or mobile wallet that is paid by the given method. It takes every method, also one that
// this version does not know, and every field. Each known method has a constructor with the fields that it is likely to
// use, such as [SEPA], [ACH] and [PIX].
func Bank(method BankMethod, account BankAccount) ContactAccount {
	account.AccountType = method
	return NewContactAccount(account)
}
