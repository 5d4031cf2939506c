package platform

import (
	"context"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// minCredit is the smallest credit.
var minCredit = decimal.RequireFromString("0.10")

// fillFaucet sets the faucet to the balance of the settings, each time that setting has changed.
func (t *txn) fillFaucet() {
	if t.settings.FaucetBalance.Equal(t.faucetFill) {
		return
	}
	t.faucetFill = t.settings.FaucetBalance
	fill := t.ledger.movement("faucet_fill", "", t.now)
	for _, asset := range assets {
		fill.transfer(accountOutside, accountFaucet, asset, t.faucetFill.Sub(t.ledger.balance(accountFaucet, asset)))
	}
}

// GetTreasury returns the faucet's state.
func (p *Platform) GetTreasury(context.Context) (wire.Response, error) {
	t := p.begin()
	defer p.commit()
	return wire.OK(platformwire.Treasury{
		MaxCredit: t.settings.MaxCredit,
		Balances:  t.balances(accountFaucet),
		Gas:       t.settings.FaucetGas,
	}).Lean(), nil
}

// CreateDeposit credits the account from the faucet.
func (p *Platform) CreateDeposit(ctx context.Context, body platformwire.DepositCreate) (wire.Response, error) {
	c := wire.CallerOf(ctx)
	if !body.Amount.IsPositive() { // it is below the smallest credit
		return wire.Response{}, wire.AmountBelowMinimum()
	}
	if err := checkAmount(body.Amount, assetDecimals); err != nil {
		return wire.Response{}, err
	}
	body.Amount = body.Amount.Truncate(assetDecimals)
	key, requested, lifetime, err := keyOf(c, "CreateDeposit", body)
	if err != nil {
		return wire.Response{}, err
	}
	t := p.begin()
	defer p.commit()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Response{}, err
	}
	if credited, found, same := t.deposits.find(key, requested, t.now); found {
		if !same {
			return wire.Response{}, wire.IdempotencyKeyReused("", "")
		}
		return wire.OK(credited).Lean().Replayed(), nil
	}
	if err := t.checkCreditable(h, body, t.settings.MaxCredit); err != nil {
		return wire.Response{}, err
	}
	credited := t.credit(h, body, c.Seeded)
	credited.IdempotencyKey = key.Key
	t.deposits.put(key, requested, credited, t.now, lifetime)
	return wire.Created(credited).Lean(), nil
}

// credit moves money from the faucet to an account.
func (t *txn) credit(h *holder, credit platformwire.DepositCreate, seeded bool) platformwire.Transaction {
	deposit := t.ledger.movement("deposit", "", t.now)
	deposit.Seeded = seeded
	deposit.transfer(accountFaucet, h.ledgerAccount(), string(credit.Currency), credit.Amount)
	return t.record(h, platformwire.Transaction{
		Type:            platformwire.TransactionTypeDeposit,
		Direction:       platformwire.TransactionDirectionIn,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          credit.Amount,
		Currency:        credit.Currency,
		TransactionHash: newHash(),
		CreatedAt:       t.now,
	}).Transaction
}

// checkCreditable refuses a credit that is too small or larger than most, or that the faucet cannot pay.
func (t *txn) checkCreditable(h *holder, credit platformwire.DepositCreate, most decimal.Decimal) error {
	switch {
	case !t.hasWallet(h):
		return wire.WalletNotLinked()
	case credit.Amount.LessThan(minCredit):
		return wire.AmountBelowMinimum()
	case credit.Amount.GreaterThan(most):
		return wire.AmountAboveMaximum(most.String())
	case t.ledger.balance(accountFaucet, string(credit.Currency)).LessThan(credit.Amount):
		return wire.ProviderUnavailable("The faucet has less than the deposit.")
	case !t.settings.FaucetGas.IsPositive():
		return wire.ProviderUnavailable("The faucet has no gas.")
	default:
		return nil
	}
}
