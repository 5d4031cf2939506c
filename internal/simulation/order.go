package simulation

import (
	"context"
	"fmt"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// order is a payment that somebody asks for.
type order struct {
	ID       string
	Key      moneymovement.Key
	Terms    dapi.PayoutCreate
	MaxFee   decimal.Decimal
	Least    decimal.Decimal // what must arrive, in Currency
	Currency string          // the contact's
	// Allowed is the least that a person has accepted. It falls when somebody decides to accept less.
	Allowed decimal.Decimal
}

// end is how a payment ended.
type end string

const (
	completed end = "completed" // the money arrived
	cameBack  end = "came back" // it was paid, and did not arrive
	refused   end = "refused"   // nothing was paid, and nothing will be
)

// program is a program under test: it makes the ordered payments, over any number of processes.
type program interface {
	// start begins the work of a process. It returns at once.
	start(p *Process, platform *dapi.Integrator)
	// ended reports whether each payment has ended.
	ended() bool
	// mayLeave reports whether the program has stored that a payment may have left.
	mayLeave(o *order) bool
	// close frees what the program needs, after the last process has ended.
	close() error
	// end returns how a payment ended, and what the program says about it.
	end(o *order) (end, string)
}

// openContacts makes the contacts and the balance, and returns the contacts of a bank and of a wallet.
func (w *World) openContacts() (bank, wallet *dapi.Contact, err error) {
	ctx := context.Background()
	bank, err = w.admin.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob", Account: dapi.SEPA(dapi.IBANAccount{
		IBAN: "DE89370400440532013000", Holder: dapi.AccountHolder{Name: "Bob Roe"}})})
	if err != nil {
		return nil, nil, err
	}
	wallet, err = w.admin.Contacts.Create(ctx, dapi.ContactCreate{Name: "Wallet", Account: dapi.Onchain(
		dapi.OnchainAccount{WalletAddress: "0x00000000000000000000000000000000000000b0", ChainID: "base",
			Currency: "USDC"})})
	if err != nil {
		return nil, nil, err
	}
	_, err = w.admin.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.NewFromInt(1_000_000),
		Currency: dapi.USDC})
	return bank, wallet, err
}

// order makes the orders of the run.
func (w *World) order() error {
	bank, wallet, err := w.openContacts()
	if err != nil {
		return err
	}
	for i := range w.plan.Payments {
		id := fmt.Sprintf("k-%03d", i)
		amount := decimal.New(int64(2000+137*i), -2)
		o := &order{ID: id, Key: moneymovement.Key(id), MaxFee: decimal.New(5, -1), Least: amount, Currency: "USDC",
			Terms: dapi.PayoutCreate{ContactID: wallet.ID, Amount: amount, Currency: dapi.USDC}}
		if w.seed.Draw("contact", id).IntN(3) > 0 {
			o.Terms.ContactID, o.Currency = bank.ID, "EUR"
			o.Least = amount.Sub(o.MaxFee).Mul(decimal.New(90, -2)).Truncate(2) // the price may get 1.7 % worse
		}
		o.Allowed = o.Least
		w.orders = append(w.orders, o)
	}
	return nil
}
