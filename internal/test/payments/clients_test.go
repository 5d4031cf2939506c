package payments_test

import (
	"fmt"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/payments"
)

func deal() dapi.EscrowCreate {
	return dapi.EscrowCreate{Amount: amount("40"), Currency: dapi.USDC, Payee: worlds.Payee, HoldFor: "14d"}
}

// selfServe returns a client of the credential's own account, which has money.
func (w *world) selfServe() *dapi.SelfServe {
	w.Helper()
	own := w.SelfServe()
	w.Credit(own.Sandbox, "1000", dapi.USDC, moneymovement.IdempotencyKey("own-money"))
	return own
}

// ownPayment is a payment from the credential's own account.
func (w *world) ownPayment(n int) payments.Payment {
	w.Helper()
	contact := w.Contact(w.selfServe().Contacts, worlds.SEPA())
	return payments.Payment{Key: moneymovement.DeriveKey("own", fmt.Sprint(n)), Payout: dapi.PayoutCreate{
		ContactID: contact, Amount: decimal.New(1000+int64(n), -2), Currency: dapi.USDC}}
}

// app returns a client of the app API for the credential's own account, and a contact that it can pay.
func (w *world) app() (app *appapi.Client, contact string) {
	w.Helper()
	w.selfServe()
	app = w.App(w.AppKey())
	return app, w.AppContact(app)
}
