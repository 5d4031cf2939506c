package platform

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
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

// contactID returns an id with its prefix. The id may lack it.
func contactID(id string) string { return "ct_" + strings.TrimPrefix(id, "ct_") }

// contactOf finds a contact of the account.
func (t *txn) contactOf(h *holder, id string) (*contact, error) {
	saved, ok := t.contacts[contactID(id)]
	if !ok || saved.Account != h.Key {
		return nil, wire.NotFound()
	}
	return saved, nil
}

// CreateContact saves a destination, or returns the contact that has the same account details.
func (p *Platform) CreateContact(ctx context.Context, body platformwire.ContactCreate) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	to, err := t.parseDestination(c.Owner, &body)
	if err != nil {
		return wire.Response{}, err
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
	t.store.contacts.Put(created)
	t.byDetails[key] = created
	return wire.Created(created.view()).Lean(), nil
}

// UpdateContact changes the members that the body names. Null clears a member.
func (p *Platform) UpdateContact(
	ctx context.Context, contactID platformwire.ContactID, body platformwire.ContactUpdate,
) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	saved, err := t.contactOf(h, contactID)
	if err != nil {
		return wire.Response{}, err
	}
	changed := *saved // booked payouts keep the old contact
	if err := t.changeEmail(&changed, body.Email); err != nil {
		return wire.Response{}, err
	}
	delete(t.byDetails, saved.detailsKey())
	saved = &changed
	t.contacts[saved.ID], t.byDetails[saved.detailsKey()] = saved, saved
	wire.Update(&saved.Name, body.Name)
	wire.Update(&saved.Currency, body.Currency)
	if body.IsExternal.IsSpecified() {
		saved.IsExternal = body.IsExternal.IsNull() || wire.Value(body.IsExternal)
	}
	if body.Address.IsSpecified() {
		saved.Address = nil
		if address, err := body.Address.Get(); err == nil {
			saved.Address = &address
		}
	}
	t.store.contacts.Put(saved)
	return wire.OK(saved.view()).Lean(), nil
}

// changeEmail changes the email of a contact. A contact that is paid by email must have one. Its new email must name an
// account, and not be another contact's.
func (t *txn) changeEmail(c *contact, email nullable.Nullable[string]) error {
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
	to, err := t.accountByEmail(c.Account.Owner, wire.Value(email))
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
func (p *Platform) DeleteContact(ctx context.Context, contactID platformwire.ContactID) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(wire.CallerOf(ctx))
	if err != nil {
		return wire.Response{}, err
	}
	saved, err := t.contactOf(h, contactID)
	if err != nil {
		return wire.Response{}, err
	}
	delete(t.contacts, saved.ID)
	t.store.contacts.Delete(saved)
	delete(t.byDetails, saved.detailsKey())
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
		// The legacy form accepts any word.
		if _, known := platformwire.CoverageMethods[string(to.Bank.AccountType)]; known {
			view.Bank.Method = to.Bank.AccountType
		}
	case to.Wallet != nil:
		view.Crypto = &platformwire.ContactCryptoView{Chain: to.Wallet.Chain, Token: to.Wallet.Token,
			Address: to.Wallet.Address}
	default:
		account := to.Email.holder
		view.Email = to.Email.Email
		view.UserID = account.UserID
		view.User = &platformwire.ContactUser{ID: account.UserID, Email: to.Email.Email,
			DisplayName: account.displayName()}
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

// destination says where a contact is paid. Exactly one of its members is set.
type destination struct {
	Bank   *platformwire.BankAccount
	Wallet *walletDestination
	Email  *emailDestination
}

type walletDestination struct {
	Chain, Token, Address string
	Email                 string // of the owner; not a destination
}

type emailDestination struct {
	Email   string
	Account holderKey // the existing account with this email
	holder  *holder
}

// parseDestination finds the destination of a create request. Exactly one of `account`, `bank`, `crypto` and `email`
// must be set. No single field covers that rule, so the refusal is invalid_request.
func (t *txn) parseDestination(owner string, body *platformwire.ContactCreate) (destination, error) {
	account, err := body.Account.MarshalJSON()
	if err != nil {
		return destination{}, wire.InvalidRequest("account cannot be read.")
	}
	typed := len(account) > 0 && !bytes.Equal(account, []byte("null"))
	count := 0
	for _, present := range []bool{typed, body.Bank != nil, body.Crypto != nil, body.Email != ""} {
		if present {
			count++
		}
	}
	switch {
	case count != 1:
		return destination{},
			wire.InvalidRequest("Give exactly one of account, bank, crypto and email.")
	case typed:
		return t.parseAccount(owner, account)
	case body.Bank != nil:
		return parseLegacyBank(body.Bank)
	case body.Crypto != nil:
		return walletAt(body.Crypto.Chain, body.Crypto.Token, body.Crypto.Address), nil
	default:
		return t.accountByEmail(owner, body.Email)
	}
}

// parseAccount reads a typed variant. The on-chain and the email variant need no accountType.
func (t *txn) parseAccount(owner string, account []byte) (destination, error) {
	var variant struct {
		AccountType   string `json:"accountType"`
		WalletAddress string `json:"walletAddress"`
		ChainID       string `json:"chainId"`
		Currency      string `json:"currency"`
		Email         string `json:"email"`
	}
	if err := json.Unmarshal(account, &variant); err != nil {
		return destination{},
			wire.InvalidField("account", "invalid", "The account is not a wallet, email or bank account.")
	}
	kind := variant.AccountType
	if kind == "" {
		kind = string(platformwire.EmailAccountTypeEmail)
		if variant.WalletAddress != "" {
			kind = string(platformwire.OnchainAccountTypeOnchain)
		}
	}
	switch kind {
	case string(platformwire.OnchainAccountTypeOnchain):
		to := walletAt(variant.ChainID, variant.Currency, variant.WalletAddress)
		to.Wallet.Email = variant.Email
		return to, nil
	case string(platformwire.EmailAccountTypeEmail):
		return t.accountByEmail(owner, variant.Email)
	}
	var bank platformwire.BankAccount
	if err := json.Unmarshal(account, &bank); err != nil {
		return destination{},
			wire.InvalidField("account", "invalid", "The account is not a wallet, email or bank account.")
	}
	return destination{Bank: &bank}, nil
}

func walletAt(chain, token, address string) destination {
	return destination{Wallet: &walletDestination{Chain: chain, Token: strings.ToUpper(token), Address: address}}
}

// accountByEmail finds an existing account of the service. If there is none, the refusal is not_found.
func (t *txn) accountByEmail(owner, email string) (destination, error) {
	h, ok := t.holderByEmail(owner, email)
	if !ok {
		return destination{}, wire.NotFound()
	}
	return destination{Email: &emailDestination{Email: strings.ToLower(email), Account: h.Key, holder: h}}, nil
}

// parseLegacyBank converts the legacy form to the typed form. `fields` and `holder` have the members of the typed
// variant. The holder may also have only a `name`.
func parseLegacyBank(legacy *platformwire.BankDestination) (destination, error) {
	bank := platformwire.BankAccount{}
	for _, part := range []map[string]any{legacy.Fields, legacy.Holder} {
		text, err := json.Marshal(part)
		if err == nil {
			err = json.Unmarshal(text, &bank)
		}
		if err != nil {
			return destination{},
				wire.InvalidField("bank", "invalid", "A member of fields or holder has the wrong type.")
		}
	}
	if name, ok := legacy.Holder["name"].(string); ok && bank.AccountHolderName == "" {
		bank.AccountHolderName = name
	}
	bank.AccountType = platformwire.BankMethod(legacy.Method)
	bank.Currency = legacy.Currency
	bank.BankName = cmp.Or(legacy.BankName, bank.BankName)
	if legacy.BankAddress != nil {
		bank.BankAddress = legacy.BankAddress
	}
	return destination{Bank: &bank}, nil
}

// details returns the account details by which equal contacts are found.
func (d destination) details() string {
	var details any
	switch {
	case d.Bank != nil:
		details = d.Bank
	case d.Wallet != nil:
		address := d.Wallet.Address
		if addressForm.MatchString(address) {
			address = strings.ToLower(address)
		}
		details = []string{"wallet", d.Wallet.Chain, d.Wallet.Token, address}
	default:
		details = []string{"email", d.Email.Email}
	}
	text, err := json.Marshal(details, json.Deterministic(true))
	if err != nil { // impossible: the gate has refused invalid UTF-8
		return newID("")
	}
	return string(text)
}

// currency returns what arrives: a fiat currency, or a token. A bank account without a currency has the contact's.
func (d destination) currency(contact string) string {
	switch {
	case d.Bank != nil:
		method := platformwire.CoverageMethods[string(d.Bank.AccountType)]
		return strings.ToUpper(cmp.Or(d.Bank.Currency, contact, method.Currency))
	case d.Wallet != nil:
		return d.Wallet.Token
	default:
		return "" // an account of the service receives the asset that is sent
	}
}

// direct reports whether an asset is paid without conversion: to a wallet on Base that expects it, or to an account of
// the service.
func (d destination) direct(asset string) bool {
	return d.Email != nil || d.Wallet != nil && d.Wallet.Chain == baseCode && d.Wallet.Token == asset
}

// receiver returns the account of this host that receives a direct payment, or nil.
func (t *txn) receiver(d destination, asset string) *holder {
	switch {
	case d.Email != nil:
		return d.Email.holder
	case d.direct(asset):
		return t.wallets[strings.ToLower(d.Wallet.Address)]
	default:
		return nil
	}
}

// BankDetails are the details that can be validated before a bank is paid.
type BankDetails struct {
	Kind, Country, IBAN, BIC, RoutingNumber string
}

// Check lists what is wrong with the details. The description does not show the kinds. A kind that is a bank method
// needs the identifiers of that method, as far as the details can have them. Any other kind needs one identifier.
func (d BankDetails) Check() []wire.Field {
	var wrong []wire.Field
	report := func(field, code, message string) {
		wrong = append(wrong, wire.Field{Field: field, Code: code, Message: message})
	}
	fields := map[string]string{"iban": d.IBAN, "bic": d.BIC, "routingNumber": d.RoutingNumber}
	route, known := platformwire.CoverageMethods[strings.ToLower(d.Kind)]
	for _, alternatives := range route.Needed() {
		checkable := !slices.ContainsFunc(alternatives, func(field string) bool { _, ok := fields[field]; return !ok })
		if checkable && !slices.ContainsFunc(alternatives, func(field string) bool { return fields[field] != "" }) {
			report(alternatives[0], "missing", "The bank type needs "+strings.Join(alternatives, " or ")+".")
		}
	}
	if !known && d.IBAN == "" && d.BIC == "" && d.RoutingNumber == "" {
		report("iban", "missing", "Give an IBAN, a BIC or a routing number.")
	}
	if d.Country != "" && !isCountry(d.Country) {
		report("country", "country_form", "A country is an ISO 3166-1 code, such as DE.")
	}
	switch {
	case d.IBAN == "":
	case !validIBAN(d.IBAN):
		report("iban", "iban_checksum", "The IBAN's form or checksum is wrong.")
	case d.Country != "" && !strings.HasPrefix(d.IBAN, d.Country):
		report("iban", "iban_country", "The IBAN belongs to another country.")
	}
	if d.BIC != "" && !bicForm.MatchString(d.BIC) {
		report("bic", "bic_form", "A BIC has 8 or 11 characters.")
	}
	if d.RoutingNumber != "" && (route.Currency == "USD" || d.Country == "US" || !known && d.Country == "") &&
		!validABA(d.RoutingNumber) {
		report("routingNumber", "routing_number_checksum", "The routing number's form or checksum is wrong.")
	}
	return wrong
}
