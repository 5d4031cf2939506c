package simulation

import (
	"context"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/payments"
)

// The other kinds of payments than payouts: deals, actions of deals, and transfers.

// payee and wallet are addresses of nobody on the host.
const (
	payee  = "0x52908400098527886E0F7030069857D2E4169EE7"
	wallet = "0x00000000000000000000000000000000000000b0"
)

// orderDeal asks for a deal. Its first window is short enough now and then to close before the deal is opened.
func (w *World) orderDeal(o *order) {
	windows := []dapi.EscrowDuration{"", "2h", "12h", "10d"}
	o.Moves = "escrow_active"
	o.Deal = dapi.EscrowCreate{Amount: o.Amount, Currency: dapi.USDC, Payee: payee, HoldFor: "14d",
		ApproveWithin: windows[w.seed.Draw("window", o.ID).IntN(len(windows))]}
}

// orderAction asks for an action of a deal that is made here, before anything goes wrong: to release it, to refund it,
// or to approve it.
func (w *World) orderAction(o *order) error {
	ctx, escrows, key := context.Background(), w.admin.platform.Self().Escrows, "before-"+o.Key
	o.Deal = dapi.EscrowCreate{Amount: o.Amount, Currency: dapi.USDC, Payee: payee}
	open := func() error {
		opened, err := escrows.Open(ctx, o.Deal, key, dapi.DealTerms{})
		if err == nil {
			o.EscrowID = opened.Escrow.ID
		}
		return err
	}
	switch w.seed.Draw("action", o.ID).IntN(4) {
	case 0:
		o.Action, o.Moves, o.Deal.ApproveWithin = dapi.EscrowActionTypeApprove, "escrow_active", "30d"
		made, err := escrows.Create(ctx, o.Deal, moneymovement.IdempotencyKey(key))
		if err == nil {
			o.EscrowID = made.ID
		}
		return err
	case 1:
		o.Action, o.Moves, o.Deal.ApproveWithin, o.Deal.HoldFor = dapi.EscrowActionTypeRefund, "escrow_refunded",
			"1m", "1s"
		if err := open(); err != nil {
			return err
		}
		<-time.After(2 * time.Minute) // until the money can be refunded
		return nil
	default:
		o.Action, o.Moves, o.Deal.HoldFor = dapi.EscrowActionTypeRelease, "escrow_released", "30d"
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
		return payments.EscrowPayment{Key: o.Key, Account: payments.OwnAccount, Escrow: o.Deal, FirstUsed: used}
	case payments.KindEscrowAction:
		return payments.EscrowAction{Key: o.Key, Account: payments.OwnAccount, EscrowID: o.EscrowID, Escrow: o.Deal,
			Action: o.Action, FirstUsed: used}
	case payments.KindTransfer:
		return payments.TransferPayment{Key: o.Key, To: o.To, FirstUsed: used}
	}
	return payments.Payment{Key: o.Key, Account: payments.OwnAccount, Payout: o.Terms, FirstUsed: used,
		Bounds: dapi.Bounds{MaxFee: &o.MaxFee, MinDestinationAmount: &o.Least, DestinationCurrency: o.Currency}}
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
