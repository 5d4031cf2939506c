package platform

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/oapi-codegen/nullable"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// contact is a saved payment destination of one account.
type contact struct {
	ID         string
	Account    holderKey
	Name       string
	Currency   string
	Email      string // of a contact that is not paid by email
	Address    *platformwire.PostalAddress
	IsExternal bool
	CreatedAt  time.Time
	To         destination
}

// detailsKey identifies equal contacts within an account.
type detailsKey struct {
	account holderKey
	details string
}

func (c *contact) detailsKey() detailsKey { return detailsKey{c.Account, c.To.details()} }

// contactID returns an id with its prefix. The given id may lack it.
func contactID(id string) string { return "ct_" + strings.TrimPrefix(id, "ct_") }

// contactOf finds a contact of the account.
func (t *turn) contactOf(h *holder, id string) (*contact, error) {
	found, ok := t.contacts[contactID(id)]
	if !ok || found.Account != h.Key {
		return nil, wire.NotFound()
	}
	return found, nil
}

// CreateContact saves a destination, or returns the contact that has the same account details.
func (p *Platform) CreateContact(ctx context.Context, body platformwire.ContactCreate) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	to, err := t.readDestination(c.Owner, &body)
	if err != nil {
		return wire.Answer{}, err
	}
	created := &contact{
		ID:         newID("ct_"),
		Account:    h.Key,
		Name:       body.Name,
		Currency:   body.Currency,
		Address:    body.Address,
		IsExternal: body.IsExternal == nil || *body.IsExternal,
		CreatedAt:  t.now,
		To:         to,
	}
	if to.Wallet != nil {
		created.Email = to.Wallet.Email
	}
	key := created.detailsKey()
	if existing, ok := t.byDetails[key]; ok {
		return wire.OK(existing.view()).Lean().Replayed(), nil
	}
	t.contacts[created.ID] = created
	t.kept.contacts.Put(created)
	t.byDetails[key] = created
	return wire.Created(created.view()).Lean(), nil
}

// UpdateContact changes the members that the body names. Null clears a member.
func (p *Platform) UpdateContact(
	ctx context.Context, contactID platformwire.ContactID, body platformwire.ContactUpdate,
) (wire.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Answer{}, err
	}
	found, err := t.contactOf(h, contactID)
	if err != nil {
		return wire.Answer{}, err
	}
	changed := *found // booked payouts keep the old contact
	if err := t.changeEmail(&changed, body.Email); err != nil {
		return wire.Answer{}, err
	}
	delete(t.byDetails, found.detailsKey())
	found = &changed
	t.contacts[found.ID], t.byDetails[found.detailsKey()] = found, found
	wire.Update(&found.Name, body.Name)
	wire.Update(&found.Currency, body.Currency)
	if body.IsExternal.IsSpecified() {
		found.IsExternal = body.IsExternal.IsNull() || wire.Value(body.IsExternal)
	}
	if body.Address.IsSpecified() {
		found.Address = nil
		if address, err := body.Address.Get(); err == nil {
			found.Address = &address
		}
	}
	t.kept.contacts.Put(found)
	return wire.OK(found.view()).Lean(), nil
}

// changeEmail changes the email of a contact. A contact that is paid by email must have one. Its new email must name an
// account, and not be another contact's.
func (t *turn) changeEmail(c *contact, email nullable.Nullable[string]) error {
	if !email.IsSpecified() {
		return nil
	}
	if c.To.Email == nil {
		c.Email = wire.Value(email)
		return nil
	}
	if email.IsNull() || wire.Value(email) == "" {
		return wire.InvalidRequest("The email is where this contact is paid, and cannot be changed.")
	}
	to, err := t.readEmail(c.Account.Owner, wire.Value(email))
	if err != nil {
		return err
	}
	if other, ok := t.byDetails[detailsKey{c.Account, to.details()}]; ok && other.ID != c.ID {
		return wire.Conflict("Another contact has these account details.")
	}
	c.To = to
	return nil
}

// DeleteContact deletes a contact. Booked payouts keep their destination.
func (p *Platform) DeleteContact(ctx context.Context, contactID platformwire.ContactID) (wire.Answer, error) {
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Answer{}, err
	}
	found, err := t.contactOf(h, contactID)
	if err != nil {
		return wire.Answer{}, err
	}
	delete(t.contacts, found.ID)
	t.kept.contacts.Delete(found)
	delete(t.byDetails, found.detailsKey())
	return wire.NoContent(), nil
}

func (c *contact) view() platformwire.Contact {
	view := platformwire.Contact{
		ID:         c.ID,
		Name:       c.Name,
		IsExternal: c.IsExternal,
		CreatedAt:  c.CreatedAt,
		Email:      c.Email,
		Address:    c.Address,
	}
	switch to := c.To; {
	case to.Bank != nil:
		view.Bank = &platformwire.ContactBankView{
			Currency:          to.currency(c.Currency),
			BankName:          to.Bank.BankName,
			AccountHolderName: holderName(to.Bank, c.Name),
			AccountMask:       mask(to.Bank),
		}
		if _, known := platformwire.CoverageMethods[string(to.Bank.AccountType)]; known { // the legacy form accepts any word
			view.Bank.Method = to.Bank.AccountType
		}
	case to.Wallet != nil:
		view.Crypto = &platformwire.ContactCryptoView{Chain: to.Wallet.Chain, Token: to.Wallet.Token,
			Address: to.Wallet.Address}
	default:
		behind := to.Email.holder
		view.Email = to.Email.Email
		view.UserID = behind.UserID
		view.User = &platformwire.ContactUser{ID: behind.UserID, Email: to.Email.Email,
			DisplayName: behind.displayName()}
	}
	return view
}

// holderName returns the name of the account holder, or else the contact's own name.
func holderName(bank *platformwire.BankAccount, contact string) string {
	person := strings.TrimSpace(bank.AccountHolderFirstName + " " + bank.AccountHolderLastName)
	return cmp.Or(bank.AccountHolderName, bank.AccountHolderBusinessName, person, contact)
}

// mask shows the last four characters of the identifier of an account.
func mask(bank *platformwire.BankAccount) string {
	identifier := []rune(cmp.Or(bank.IBAN, bank.AccountNumber, bank.PIXKey, bank.PaymentKey, bank.PhoneNumber))
	if len(identifier) <= 4 {
		return ""
	}
	return string(identifier[len(identifier)-4:])
}
