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
func (t *turn) fillFaucet() {
	if t.settings.FaucetBalance.Equal(t.filled) {
		return
	}
	t.filled = t.settings.FaucetBalance
	fill := t.books.movement("faucet_fill", "", t.now)
	for _, asset := range assets {
		fill.transfer(bookOutside, bookFaucet, asset, t.filled.Sub(t.books.balance(bookFaucet, asset)))
	}
}

// GetTreasury returns the faucet's state.
func (p *Platform) GetTreasury(context.Context) (wire.Answer, error) {
	t := p.enter()
	defer p.leave()
	return wire.OK(platformwire.Treasury{
		MaxCredit: t.settings.MaxCredit,
		Balances:  t.balances(bookFaucet),
		Gas:       t.settings.FaucetGas,
	}).Lean(), nil
}

// CreateDeposit credits the account from the faucet.
func (p *Platform) CreateDeposit(ctx context.Context, body platformwire.DepositCreate) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	if !body.Amount.IsPositive() { // it is below the smallest credit
		return wire.Answer{}, wire.AmountBelowMinimum()
	}
	if err := checkAmount(body.Amount, assetDecimals); err != nil {
		return wire.Answer{}, err
	}
	body.Amount = body.Amount.Truncate(assetDecimals)
	key, asked, lifetime, err := anchorOf(c, "CreateDeposit", body)
	if err != nil {
		return wire.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	if credited, found, same := t.deposits.find(key, asked, t.now); found {
		if !same {
			return wire.Answer{}, wire.IdempotencyKeyReused("", "")
		}
		return wire.OK(credited).Lean().Replayed(), nil
	}
	if err := t.creditable(h, body, t.settings.MaxCredit); err != nil {
		return wire.Answer{}, err
	}
	credited := t.credit(h, body, c.Seeded)
	credited.IdempotencyKey = key.Key
	t.deposits.keep(key, asked, credited, t.now, lifetime)
	return wire.Created(credited).Lean(), nil
}

// credit moves money from the faucet to an account.
func (t *turn) credit(h *holder, credit platformwire.DepositCreate, seeded bool) platformwire.Transaction {
	deposit := t.books.movement("deposit", "", t.now)
	deposit.Seeded = seeded
	deposit.transfer(bookFaucet, h.book(), string(credit.Currency), credit.Amount)
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

// creditable refuses a credit that is too small or larger than most, or that the faucet cannot pay.
func (t *turn) creditable(h *holder, credit platformwire.DepositCreate, most decimal.Decimal) error {
	switch {
	case !t.ready(h):
		return wire.WalletNotLinked()
	case credit.Amount.LessThan(minCredit):
		return wire.AmountBelowMinimum()
	case credit.Amount.GreaterThan(most):
		return wire.AmountAboveMaximum(most.String())
	case t.books.balance(bookFaucet, string(credit.Currency)).LessThan(credit.Amount):
		return wire.ProviderUnavailable("The faucet has less than the deposit.")
	case !t.settings.FaucetGas.IsPositive():
		return wire.ProviderUnavailable("The faucet has no gas.")
	default:
		return nil
	}
}
