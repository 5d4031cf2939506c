package payments_test

import (
	"fmt"
	"net/http"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/payments"
)

const payee = "0x52908400098527886E0F7030069857D2E4169EE7"

func deal() dapi.EscrowCreate {
	return dapi.EscrowCreate{Amount: amount("40"), Currency: dapi.USDC, Payee: payee, HoldFor: "14d"}
}

// selfServe returns a client of the credential's own account, which has money.
func (w *world) selfServe() *dapi.SelfServe {
	w.Helper()
	developer := dapi.Developer{Email: w.host.Credentials().Email, Key: w.key}
	own, err := dapi.NewSelfServe("https://host.example", developer,
		moneymovement.WithHTTPClient(&http.Client{Transport: w.wire}))
	require.NoError(w, err)
	_, err = own.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("1000"), Currency: dapi.USDC},
		moneymovement.IdempotencyKey("own-money"))
	require.NoError(w, err)
	return own
}

// ownPayment is a payment from the credential's own account.
func (w *world) ownPayment(n int) payments.Payment {
	w.Helper()
	contact, err := w.selfServe().Contacts.Create(w.Context(), dapi.ContactCreate{Name: "Dora",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000", Holder: dapi.AccountHolder{Name: "Dora"}})})
	require.NoError(w, err)
	return payments.Payment{Key: moneymovement.DeriveKey("own", fmt.Sprint(n)), Payout: dapi.PayoutCreate{
		ContactID: contact.ID, Amount: decimal.New(1000+int64(n), -2), Currency: dapi.USDC}}
}

// app returns a client of the app API for the credential's own account, and a contact that it can pay.
func (w *world) app() (app *appapi.Client, contact string) {
	w.Helper()
	w.selfServe()
	app, err := appapi.New("https://host.example", appapi.NewAPIKey(w.host.Credentials().APIKey.Reveal()),
		moneymovement.WithHTTPClient(&http.Client{Transport: w.wire}))
	require.NoError(w, err)
	made, err := app.Contacts.Create(w.Context(), appapi.ContactCreate{Name: "Bob",
		Account: appapi.Onchain(model.OnchainAccount{WalletAddress: payee, ChainID: "base", Currency: "USDC"})})
	require.NoError(w, err)
	return app, made.ID
}
