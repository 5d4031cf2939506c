package dapi

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// CheckPay returns the *errors.InvalidInput with which [Payouts.Pay] refuses this input before it sends anything, or
// nil. Use it to refuse a payment that you store and pay later. It does not know how many decimals a token has: a call
// of Pay may refuse more.
func CheckPay(payout PayoutCreate, key moneymovement.Key, options ...PayOption) error {
	opts := payOptionsOf(options)
	return checkPayment(&opBookPayout, key, payout.validate, payout.checkMoney, opts.check)
}

// CheckOpen does the same as [CheckPay] for [Escrows.Open].
func CheckOpen(deal EscrowCreate, key moneymovement.Key) error {
	return checkPayment(&opCreateEscrow, key, deal.validate, deal.checkMoney)
}

// CheckAct does the same as [CheckPay] for [Escrows.Act].
func CheckAct(terms EscrowCreate, id EscrowID, action EscrowActionType, key moneymovement.Key) error {
	return checkPayment(&opPrepareEscrowAction, key, terms.validate, terms.checkMoney, checkEscrowID(id),
		func(c *transport.Check) { c.Missing("type", action == "") })
}

func checkEscrowID(id EscrowID) func(*transport.Check) {
	return func(c *transport.Check) {
		c.Missing("escrowId", id == "")
		c.Segment("escrowId", string(id))
	}
}

// checkMoney refuses a payout without an amount or a currency. The description does not require them, but the approval
// is compared with them before it is signed. Without them, the SDK would sign an approval for any amount or asset.
func (v *PayoutCreate) checkMoney(c *transport.Check) {
	c.Positive("amount", v.Amount)
	c.Missing("currency", v.Currency == "")
}

// checkMoney refuses a deal without an amount, a currency or a payee, for the same reason as for a payout.
func (v *EscrowCreate) checkMoney(c *transport.Check) {
	c.Positive("amount", v.Amount)
	c.Missing("currency", v.Currency == "")
	c.Missing("payee", v.Payee == "")
}
