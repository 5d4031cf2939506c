package account

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
)

// contact is a saved payment destination.
type contact struct {
	ID, Account        string // of the owner
	Name, Relationship string
	Given              commonwire.ContactAccount
	To                 platform.Destination
	CreatedAt          time.Time
}

func (c *contact) view() appwire.Contact {
	return appwire.Contact{ID: c.ID, Name: c.Name, Relationship: c.Relationship, Account: c.Given,
		CreatedAt: c.CreatedAt}
}

// ListContacts lists the contacts, oldest first.
func (a *Service) ListContacts(ctx context.Context, params appwire.ListContactsParams) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	items := []appwire.Contact{}
	for _, c := range pageOf(t.account.contacts, params.Limit, params.Offset) {
		items = append(items, c.view())
	}
	return wire.OK(appwire.ContactList{Items: items, Total: total(t.account.contacts)}), nil
}

// CreateContact saves a destination, or returns the contact that has the same account details.
func (a *Service) CreateContact(ctx context.Context, body appwire.ContactCreate) (wire.Response, error) {
	to, err := destinationOf(body.Account)
	if err != nil {
		return wire.Response{}, err
	}
	t := a.begin(ctx)
	defer a.commit()
	if err := t.own.Resolve(to); err != nil {
		return wire.Response{}, err
	}
	i := slices.IndexFunc(t.account.contacts, func(c *contact) bool { return c.To == to })
	if i >= 0 {
		return wire.Created(t.account.contacts[i].view()), nil
	}
	created := &contact{
		ID: uuid.NewString(), Account: t.caller.Owner, Name: body.Name, Relationship: body.Relationship,
		Given: body.Account, To: to, CreatedAt: t.now,
	}
	t.account.contacts = append(t.account.contacts, created)
	t.state.contacts.Put(created.ID, created)
	return wire.Created(created.view()), nil
}

// destinationOf reads a variant of an account. Different spellings of the same details become equal.
func destinationOf(account commonwire.ContactAccount) (platform.Destination, error) {
	variant, err := account.ValueByDiscriminator()
	switch variant := variant.(type) {
	case commonwire.OnchainAccount:
		address := variant.WalletAddress
		if strings.HasPrefix(address, "0x") {
			address = strings.ToLower(address) // on other chains, upper and lower case differ
		}
		return platform.Destination{Chain: variant.ChainID, Token: strings.ToUpper(variant.Currency), Address: address},
			nil
	case commonwire.EmailAccount:
		return platform.Destination{Email: strings.ToLower(variant.Email)}, nil
	default:
		return platform.Destination{}, err
	}
}

// contactOf finds a contact of the account. Its id may have the prefix or not.
func (t *txn) contactOf(id string) (*contact, error) {
	id = strings.TrimPrefix(id, "ct_")
	i := slices.IndexFunc(t.account.contacts, func(c *contact) bool { return c.ID == id })
	if i < 0 {
		return nil, wire.NotFound()
	}
	return t.account.contacts[i], nil
}

// UpdateContact changes the members that the body names.
func (a *Service) UpdateContact(
	ctx context.Context, contactID string, body appwire.ContactUpdate,
) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	found, err := t.contactOf(contactID)
	if err != nil {
		return wire.Response{}, err
	}
	wire.Update(&found.Name, body.Name)
	wire.Update(&found.Relationship, body.Relationship)
	t.state.contacts.Put(found.ID, found)
	return wire.OK(found.view()), nil
}

// DeleteContact deletes a contact. Its quotes keep their price and their destination.
func (a *Service) DeleteContact(ctx context.Context, contactID string) (wire.Response, error) {
	t := a.begin(ctx)
	defer a.commit()
	found, err := t.contactOf(contactID)
	if err != nil {
		return wire.Response{}, err
	}
	t.account.contacts = slices.DeleteFunc(t.account.contacts, func(c *contact) bool { return c == found })
	t.state.contacts.Delete(found.ID)
	return wire.NoContent(), nil
}

// ValidateBankDetails checks bank details and saves nothing.
func (a *Service) ValidateBankDetails(_ context.Context, body appwire.BankDetails) (wire.Response, error) {
	check := appwire.BankDetailsCheck{Errors: []appwire.BankDetailsError{}}
	for _, wrong := range (platform.BankDetails{
		Kind: body.BankType, Country: body.Country, IBAN: body.IBAN, BIC: body.BIC,
		RoutingNumber: wire.Value(body.RoutingNumber),
	}).Check() {
		check.Errors = append(check.Errors, appwire.BankDetailsError{Field: wrong.Field, Code: wrong.Code,
			Message: wrong.Message})
	}
	valid := len(check.Errors) == 0
	check.Valid = &valid
	return wire.OK(check), nil
}
