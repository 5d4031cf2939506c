package platform

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

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

// readDestination finds the destination of a create request. Exactly one of `account`, `bank`, `crypto` and `email`
// must be set. No single field covers that rule, so the refusal is invalid_request.
func (t *turn) readDestination(owner string, body *platformwire.ContactCreate) (destination, error) {
	account, err := body.Account.MarshalJSON()
	if err != nil {
		return destination{}, wire.InvalidRequest("account cannot be read.")
	}
	typed := len(account) > 0 && !bytes.Equal(account, []byte("null"))
	given := 0
	for _, present := range []bool{typed, body.Bank != nil, body.Crypto != nil, body.Email != ""} {
		if present {
			given++
		}
	}
	switch {
	case given != 1:
		return destination{},
			wire.InvalidRequest("Give exactly one of account, bank, crypto and email.")
	case typed:
		return t.readAccount(owner, account)
	case body.Bank != nil:
		return readLegacyBank(body.Bank)
	case body.Crypto != nil:
		return walletAt(body.Crypto.Chain, body.Crypto.Token, body.Crypto.Address), nil
	default:
		return t.readEmail(owner, body.Email)
	}
}

// readAccount reads a typed variant. The on-chain and the email variant need no accountType.
func (t *turn) readAccount(owner string, account []byte) (destination, error) {
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
		return t.readEmail(owner, variant.Email)
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

// readEmail finds an existing account of the service. If there is none, the refusal is not_found.
func (t *turn) readEmail(owner, email string) (destination, error) {
	h, ok := t.holderByEmail(owner, email)
	if !ok {
		return destination{}, wire.NotFound()
	}
	return destination{Email: &emailDestination{Email: strings.ToLower(email), Account: h.Key, holder: h}}, nil
}

// readLegacyBank converts the legacy form to the typed form. `fields` and `holder` have the members of the typed
// variant. The holder may also have only a `name`.
func readLegacyBank(legacy *platformwire.BankDestination) (destination, error) {
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
		return strings.ToUpper(cmp.Or(d.Bank.Currency, contact, platformwire.CoverageMethods[string(d.Bank.AccountType)].Currency))
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
func (t *turn) receiver(d destination, asset string) *holder {
	switch {
	case d.Email != nil:
		return d.Email.holder
	case d.direct(asset):
		return t.wallets[strings.ToLower(d.Wallet.Address)]
	default:
		return nil
	}
}
