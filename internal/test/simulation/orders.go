package simulation

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/payments"
)

// order is a payment that somebody asks for.
type order struct {
	ID     string
	Key    moneymovement.Key
	Kind   payments.Kind
	Amount decimal.Decimal
	Moves  string // the kind of movement in the host's ledger that makes the payment
	// Deadline is when the payment may no longer be begun with package payments; zero for none.
	Deadline time.Time

	// A payout has these.
	Terms    dapi.PayoutCreate
	MaxFee   decimal.Decimal
	Least    decimal.Decimal // what must arrive, in Currency
	Currency string          // the contact's
	// Allowed is the least that a person has accepted. It falls when somebody decides to accept less.
	Allowed decimal.Decimal

	// An escrow has terms. An action of one has the rest as well.
	Escrow   dapi.EscrowCreate
	EscrowID dapi.EscrowID // an escrow from before the payments
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
		dapi.BankFields{IBAN: "DE89370400440532013000", AccountHolderName: "Bob Roe"})})
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
			w.orderEscrow(o)
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
		if random := w.seed.Draw("deadline", o.ID); w.plan.Events && random.IntN(4) == 0 {
			o.Deadline = time.Now().Add(between(random, 10*time.Minute, 72*time.Hour))
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

// The other kinds of payments than payouts: escrows, actions of escrows, and transfers.

// payee and wallet are addresses of nobody on the host.
const (
	payee  = "0x52908400098527886E0F7030069857D2E4169EE7"
	wallet = "0x00000000000000000000000000000000000000b0"
)

// orderEscrow asks for an escrow. Its first window is short enough now and then to close before the escrow is opened.
func (w *World) orderEscrow(o *order) {
	windows := []dapi.EscrowDuration{"", "2h", "12h", "10d"}
	o.Moves = "escrow_active"
	o.Escrow = dapi.EscrowCreate{Amount: o.Amount, Currency: dapi.USDC, Payee: payee, HoldFor: "14d",
		ApproveWithin: windows[w.seed.Draw("window", o.ID).IntN(len(windows))]}
}

// orderAction asks for an action of an escrow that is made here, before anything goes wrong: to release it, to refund
// it, or to approve it.
func (w *World) orderAction(o *order) error {
	ctx, escrows, key := context.Background(), w.admin.platform.Self().Escrows, "before-"+o.Key
	o.Escrow = dapi.EscrowCreate{Amount: o.Amount, Currency: dapi.USDC, Payee: payee}
	open := func() error {
		opened, err := escrows.Open(ctx, o.Escrow, key, dapi.EscrowTerms{})
		if err == nil {
			o.EscrowID = opened.Escrow.ID
		}
		return err
	}
	switch w.seed.Draw("action", o.ID).IntN(4) {
	case 0:
		o.Action, o.Moves, o.Escrow.ApproveWithin = dapi.EscrowActionTypeApprove, "escrow_active", "30d"
		made, err := escrows.Create(ctx, o.Escrow, moneymovement.IdempotencyKey(key))
		if err == nil {
			o.EscrowID = made.ID
		}
		return err
	case 1:
		o.Action, o.Moves, o.Escrow.ApproveWithin, o.Escrow.HoldFor = dapi.EscrowActionTypeRefund, "escrow_refunded",
			"1m", "1s"
		if err := open(); err != nil {
			return err
		}
		<-time.After(2 * time.Minute) // until the money can be refunded
		return nil
	default:
		o.Action, o.Moves, o.Escrow.HoldFor = dapi.EscrowActionTypeRelease, "escrow_released", "30d"
		return open()
	}
}

// orderTransfer asks for a transfer to a wallet.
func (w *World) orderTransfer(o *order) error {
	if w.appContact == "" {
		made, err := w.admin.app.Contacts.Create(context.Background(), appapi.ContactCreate{Name: "Wallet",
			Account: appapi.Onchain(model.OnchainAccount{WalletAddress: wallet, ChainID: "base", Currency: "USDC"})})
		if err != nil {
			return err
		}
		w.appContact = made.ID
	}
	o.Moves, o.To = "transfer", appapi.ToContact{ContactID: w.appContact, Amount: o.Amount}
	return nil
}

// submission is what a program submits for an order. used is when an earlier program may have used its key.
func (o *order) submission(used time.Time) payments.Submission {
	switch o.Kind {
	case payments.KindEscrow:
		return payments.EscrowPayment{Key: o.Key, Account: payments.OwnAccount, Escrow: o.Escrow, FirstUsed: used,
			Deadline: o.Deadline}
	case payments.KindEscrowAction:
		return payments.EscrowAction{Key: o.Key, Account: payments.OwnAccount, EscrowID: o.EscrowID, Escrow: o.Escrow,
			Action: o.Action, FirstUsed: used, Deadline: o.Deadline}
	case payments.KindTransfer:
		return payments.TransferPayment{Key: o.Key, To: o.To, FirstUsed: used, Deadline: o.Deadline}
	}
	return payments.Payment{Key: o.Key, Account: payments.OwnAccount, Payout: o.Terms, FirstUsed: used,
		Deadline: o.Deadline, Bounds: dapi.Bounds{MaxFee: &o.MaxFee, MinDestinationAmount: &o.Least,
			DestinationCurrency: o.Currency}}
}

// signs reports whether an approval is for the order, apart from its price.
func (o *order) signs(signed Signature) bool {
	switch o.Kind {
	case payments.KindEscrow:
		return signed.Operation == "escrow.approve" && signed.To.Address == payee
	case payments.KindEscrowAction:
		return signed.Operation == "escrow."+string(o.Action) && signed.To.Address == payee &&
			signed.ResourceID == string(o.EscrowID)
	case payments.KindPayout:
		return signed.Operation == "payout.fund" && signed.To.ContactID == string(o.Terms.ContactID)
	}
	return false // a transfer needs no signature
}
