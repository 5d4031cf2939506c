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
