package worlds

import (
	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// Options are those of a client of the host, in front of more.
func (w *World) Options(more ...moneymovement.Option) []moneymovement.Option {
	if w.Wire == nil {
		return more
	}
	return append([]moneymovement.Option{Through(w.Wire)}, more...)
}

// Developer returns the host's own developer, whose key counts what it signs.
func (w *World) Developer() dapi.Developer {
	return dapi.Developer{Email: w.Host.Credentials().Email, Key: w.Key}
}

// Integrator returns a new client of the platform API, with a session of its own, as a new process has one.
func (w *World) Integrator(developer dapi.Developer, options ...moneymovement.Option) *dapi.Integrator {
	w.Helper()
	integrator, err := dapi.NewIntegrator(w.URL, developer, w.Options(options...)...)
	w.must(err)
	return integrator
}

// SelfServe returns a new client of the platform API for the developer's own account.
func (w *World) SelfServe() *dapi.SelfServe {
	w.Helper()
	own, err := dapi.NewSelfServe(w.URL, w.Developer(), w.Options()...)
	w.must(err)
	return own
}

// AppKey returns the host's key of the app API.
func (w *World) AppKey() appapi.APIKey { return appapi.NewAPIKey(w.Host.Credentials().APIKey.Reveal()) }

// App returns a new client of the app API.
func (w *World) App(key appapi.APIKey, options ...moneymovement.Option) *appapi.Client {
	w.Helper()
	app, err := appapi.New(w.URL, key, w.Options(options...)...)
	w.must(err)
	return app
}

// AccessToken returns the host's credential of the reference endpoints.
func (w *World) AccessToken() refapi.Credential {
	return refapi.Credential{AccessToken: refapi.NewAccessToken(w.Host.Credentials().AccessToken.Reveal())}
}

// Reference returns a new client of the reference endpoints.
func (w *World) Reference(credential refapi.Credential, options ...moneymovement.Option) *refapi.Client {
	w.Helper()
	reference, err := refapi.New(w.URL, credential, w.Options(options...)...)
	w.must(err)
	return reference
}

// Public returns a new client without a credential.
func (w *World) Public(options ...moneymovement.Option) *public.Client {
	w.Helper()
	everybody, err := public.New(w.URL, w.Options(options...)...)
	w.must(err)
	return everybody
}

// Credit puts money on an account. Two equal credits within two hours are one, unless each has a key of its own.
func (w *World) Credit(account *dapi.Sandbox, sum string, asset dapi.Asset, options ...moneymovement.WriteOption) {
	w.Helper()
	credit := dapi.DepositCreate{Amount: decimal.RequireFromString(sum), Currency: asset}
	_, err := account.Deposit(w.Context(), credit, options...)
	w.must(err)
}

// Contact makes a contact of an account.
func (w *World) Contact(contacts *dapi.Contacts, to dapi.ContactAccount) dapi.ContactID {
	w.Helper()
	contact, err := contacts.Create(w.Context(), dapi.ContactCreate{Name: "Bob", Account: to})
	w.must(err)
	return contact.ID
}

// AppContact makes a contact of the app's account, with a wallet.
func (w *World) AppContact(app *appapi.Client) string {
	w.Helper()
	contact, err := app.Contacts.Create(w.Context(),
		appapi.ContactCreate{Name: "Bob", Account: appapi.Onchain(model.OnchainAccount{
			WalletAddress: Payee, ChainID: "base", Currency: "USDC",
		})})
	w.must(err)
	return contact.ID
}

// Payee is the address of a wallet that can be paid.
const Payee = "0x52908400098527886E0F7030069857D2E4169EE7"

// Wallet is a destination that is paid directly.
func Wallet() dapi.ContactAccount {
	return dapi.Onchain(dapi.OnchainAccount{WalletAddress: Payee, ChainID: "base", Currency: "USDC"})
}

// SEPA is a destination with a fee and an exchange rate.
func SEPA() dapi.ContactAccount {
	return dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", AccountHolderName: "Bob Roe"})
}
