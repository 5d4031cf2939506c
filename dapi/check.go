package dapi

import (
	"fmt"
	"strings"

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
	checkAsset(c, v.Currency)
}

// checkMoney refuses a deal without an amount, a currency or a payee, for the same reason as for a payout.
func (v *EscrowCreate) checkMoney(c *transport.Check) {
	c.Positive("amount", v.Amount)
	checkAsset(c, v.Currency)
	c.Missing("payee", v.Payee == "")
}

// checkAsset refuses an asset that is missing, or that is one of the known ones in another spelling. The service can
// have other assets.
func checkAsset(c *transport.Check, asset Asset) {
	c.Missing("currency", asset == "")
	misspelledAsset(c, asset)
}

func misspelledAsset(c *transport.Check, asset Asset) {
	for _, known := range []Asset{USDC, EURC} {
		if asset != known && strings.EqualFold(strings.TrimSpace(string(asset)), string(known)) {
			c.Refuse("currency", "unknown_variant", fmt.Sprintf("is %q: did you mean %s", asset, known))
		}
	}
}

// CheckPay is the function [CheckPay] with what this client knows: it also compares the decimals of the amount with the
// list of chains, if this client has read it. It calls nobody.
func (s *Payouts) CheckPay(payout PayoutCreate, key moneymovement.Key, options ...PayOption) error {
	s = transport.Of(s)
	opts := payOptionsOf(options)
	return checkPayment(&opBookPayout, key, s.low.made, payout.validate, s.check(&payout), opts.check)
}

// CheckOpen does the same as [Payouts.CheckPay] for [Escrows.Open].
func (s *Escrows) CheckOpen(deal EscrowCreate, key moneymovement.Key) error {
	s = transport.Of(s)
	return checkPayment(&opCreateEscrow, key, s.low.made, deal.validate, s.check(&deal))
}

func (c lowLevel) made(check *transport.Check) { check.Made(c.transport, constructors) }
