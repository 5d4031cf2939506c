package dapi

import (
	"context"
	"log/slog"
	"slices"
	"strings"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Contacts saves, changes and deletes contacts. A contact is a saved payment destination.
type Contacts struct {
	low    lowLevel
	logger *slog.Logger
}

// Create saves a contact. Make its Account with [Onchain], [EmailContact], [BankAccount] or a short form of it, such as
// [SEPA]. If a bank account lacks fields that its method probably needs, Create logs their names as a warning, and
// sends the contact all the same.
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
	s = transport.OrNew(s)
	if missing := contact.Account.MissingFields(); len(missing) > 0 && ctx != nil && s.logger != nil {
		s.logger.LogAttrs(ctx, slog.LevelWarn,
			"moneymovement sends a bank account without fields that its method probably needs",
			slog.String("missingFields", strings.Join(missing, ", ")))
	}
	return s.low.CreateContact(ctx, &contact, options)
}

// Update changes the fields that are set. A field that is not set keeps its value, and a null field is cleared:
//
//	ContactUpdate{Name: model.Set("Bob"), Email: model.Null[string]()}
//
// To clear a currency, set it to null. An empty text is refused, because a currency has 3 to 4 characters.
func (s *Contacts) Update(
	ctx context.Context, id ContactID, change ContactUpdate, options ...moneymovement.CallOption,
) (*Contact, error) {
	return transport.OrNew(s).low.UpdateContact(ctx, id, &change, options).ValueOrZero()
}

// Delete deletes a contact. A deleted contact cannot be paid any more.
func (s *Contacts) Delete(ctx context.Context, id ContactID, options ...moneymovement.CallOption) error {
	return transport.OrNew(s).low.DeleteContact(ctx, id, options)
}

// Capabilities returns how the contact can be paid, and the blockers: the reasons why it cannot be paid. The service
// decides this for each contact, so rely on this list and not on [PayoutCoverage]. Payable is nil if the service does
// not say whether the contact can be paid. Nil does not mean false.
func (s *Contacts) Capabilities(
	ctx context.Context, id ContactID, options ...moneymovement.CallOption,
) (*ContactCapabilities, error) {
	return transport.OrNew(s).low.GetContactCapabilities(ctx, id, options)
}

// Onchain returns a wallet as a destination. See [OnchainAccount.PaidDirectly] for the route of the payment.
func Onchain(account OnchainAccount) ContactAccount { return NewContactAccount(account) }

// EmailContact returns an existing contact of the service as a destination. The service finds it by its email address.
func EmailContact(email string) ContactAccount { return NewContactAccount(EmailAccount{Email: email}) }

// PaidDirectly reports whether the wallet is on the Base chain and accepts USDC or EURC. The service then pays it from
// the balance without conversion. It pays any other wallet over a cross-chain route: set FromChainID and ToChainID in
// [PayoutCreate].
func (a OnchainAccount) PaidDirectly() bool {
	return a.ChainID == "base" && (a.Currency == string(USDC) || a.Currency == string(EURC))
}

// BankAccount returns a bank account or a mobile wallet that is paid by a method. It also takes methods that this
// version does not know. [SEPA], [ACH], [PIX], [SWIFT] and [UKFPS] are short forms for the most usual methods.
//
// If fields.Currency is empty, it becomes the currency of the method, unless the method has more than one. Blanks in
// fields.IBAN, as people write them, are removed.
//
// The service's description does not show which fields a method needs. So no field is required here, and
// [ContactAccount.MissingFields] returns those that are probably missing. After you have saved the contact,
// [Contacts.Capabilities] returns a blocker for each field that the service misses.
func BankAccount(method BankMethod, fields BankFields) ContactAccount {
	fields.AccountType = method
	// The service takes an IBAN with blanks for wrong, and the account of a contact cannot be updated.
	fields.IBAN = strings.Join(strings.Fields(fields.IBAN), "")
	if fields.Currency == "" {
		fields.Currency = bankMethods[method].currency
	}
	return NewContactAccount(fields)
}

// SEPA returns a bank account that is paid in euros. It probably needs IBAN. See [BankAccount].
func SEPA(fields BankFields) ContactAccount { return BankAccount(BankMethodSEPA, fields) }

// ACH returns a bank account in the United States that is paid in US dollars. It probably needs AccountNumber and
// RoutingNumber. See [BankAccount].
func ACH(fields BankFields) ContactAccount { return BankAccount(BankMethodACH, fields) }

// PIX returns an account in Brazil that is paid in reais. It probably needs PIXKey. See [BankAccount].
func PIX(fields BankFields) ContactAccount { return BankAccount(BankMethodPIX, fields) }

// SWIFT returns a bank account that is paid by an international wire, in US dollars unless fields.Currency says
// otherwise. It probably needs BIC, and AccountNumber or IBAN. See [BankAccount].
func SWIFT(fields BankFields) ContactAccount { return BankAccount(BankMethodSWIFT, fields) }

// UKFPS returns a bank account in the United Kingdom that is paid in pounds. It probably needs AccountNumber, and the
// sort code as RoutingNumber. See [BankAccount].
func UKFPS(fields BankFields) ContactAccount { return BankAccount(BankMethodUKFPS, fields) }

// bankMethod is what the coverage catalogue says about a bank method.
type bankMethod struct {
	currency string   // "" if the method has more than one
	needs    []string // the JSON names of fields that are assumed to be needed; a|b is one of two
}

// MissingFields returns the empty fields that the bank method of the account probably needs, by their JSON names, such
// as "accountNumber" or "iban or accountNumber". It is a guess, because the service's description does not show what a
// method needs: the contact can still be sent. For another destination than a bank account, or for a method that this
// version does not know, it returns nil.
func (t ContactAccount) MissingFields() []string {
	fields, ok := t.variant.(BankFields)
	if !ok {
		return nil
	}
	values := map[string]string{
		"accountNumber": fields.AccountNumber, "bic": fields.BIC, "branchNumber": fields.BranchNumber,
		"iban": fields.IBAN, "paymentKey": fields.PaymentKey, "phoneNumber": fields.PhoneNumber,
		"pixKey": fields.PIXKey, "routingNumber": fields.RoutingNumber,
	}
	var missing []string
	for _, need := range bankMethods[fields.AccountType].needs {
		either := strings.Split(need, "|")
		if !slices.ContainsFunc(either, func(name string) bool { return values[name] != "" }) {
			missing = append(missing, strings.Join(either, " or "))
		}
	}
	return missing
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
