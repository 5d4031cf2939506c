package simulation

import (
	"context"
	"fmt"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// order is a payment that somebody asks for.
type order struct {
	ID     string
	Key    moneymovement.Key
	Kind   payments.Kind
	Amount decimal.Decimal
	Moves  string // the kind of movement in the host's ledger that makes the payment

	// A payout has these.
	Terms    dapi.PayoutCreate
	MaxFee   decimal.Decimal
	Least    decimal.Decimal // what must arrive, in Currency
	Currency string          // the contact's
	// Allowed is the least that a person has accepted. It falls when somebody decides to accept less.
	Allowed decimal.Decimal

	// A deal has terms. An action of one has the rest as well.
	Deal     dapi.EscrowCreate
	EscrowID dapi.EscrowID // a deal from before the payments
	Action   dapi.EscrowActionType

	To appapi.ToContact // a transfer has it
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
	start(p *Process, of clients)
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
func (w *World) openContacts() (bank, onchain *dapi.Contact, err error) {
	ctx, account := context.Background(), w.admin.platform.Self()
	bank, err = account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob", Account: dapi.SEPA(
		dapi.IBANAccount{IBAN: "DE89370400440532013000", Holder: dapi.AccountHolder{Name: "Bob Roe"}})})
	if err != nil {
		return nil, nil, err
	}
	onchain, err = account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Wallet", Account: dapi.Onchain(
		dapi.OnchainAccount{WalletAddress: wallet, ChainID: "base", Currency: "USDC"})})
	if err != nil {
		return nil, nil, err
	}
	_, err = account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.NewFromInt(1_000_000),
		Currency: dapi.USDC})
	return bank, onchain, err
}

// order makes the orders of the run.
func (w *World) order() error {
	bank, onchain, err := w.openContacts()
	if err != nil {
		return err
	}
	deck := w.plan.Deck
	if len(deck) == 0 {
		deck = []payments.Kind{payments.KindPayout}
	}
	shuffled := w.seed.Draw("deck").Perm(len(deck))
	for i := range w.plan.Payments {
		id := fmt.Sprintf("k-%03d", i)
		o := &order{ID: id, Key: moneymovement.Key(id), Kind: deck[shuffled[i%len(deck)]],
			Amount: decimal.New(int64(2000+137*i), -2)}
		switch o.Kind {
		case payments.KindEscrow:
			w.orderDeal(o)
		case payments.KindEscrowAction:
			err = w.orderAction(o)
		case payments.KindTransfer:
			err = w.orderTransfer(o)
		default:
			w.orderPayout(o, bank, onchain)
		}
		if err != nil {
			return err
		}
		w.orders = append(w.orders, o)
	}
	return nil
}

func (w *World) orderPayout(o *order, bank, onchain *dapi.Contact) {
	o.Moves, o.MaxFee, o.Least, o.Currency = "payout_funding", decimal.New(5, -1), o.Amount, "USDC"
	o.Terms = dapi.PayoutCreate{ContactID: onchain.ID, Amount: o.Amount, Currency: dapi.USDC}
	if w.seed.Draw("contact", o.ID).IntN(3) > 0 {
		o.Terms.ContactID, o.Currency = bank.ID, "EUR"
		o.Least = o.Amount.Sub(o.MaxFee).Mul(decimal.New(90, -2)).Truncate(2) // the price may get 1.7 % worse
	}
	o.Allowed = o.Least
}
