package platform

import (
	"context"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// CompletePayin credits a payin as if its money had arrived. Like every emulated credit it comes from the faucet,
// within the faucet's limits. A completed payin stays as it is.
func (p *Platform) CompletePayin(ctx context.Context, payinID platformwire.PayinID) (wire.Answer, error) {
	c := wire.CallerOf(ctx)
	key, asked, lifetime, err := anchorOf(c, "CompletePayin", payinID)
	if err != nil {
		return wire.Answer{}, err
	}
	t := p.enter()
	defer p.leave()
	h, err := t.holderOf(c)
	if err != nil {
		return wire.Answer{}, err
	}
	if completed, found, same := t.completions.find(key, asked, t.now); found {
		if !same {
			return wire.Answer{}, wire.IdempotencyKeyReused("", "")
		}
		return wire.OK(completed).Lean().Replayed(), nil
	}
	arriving, err := t.payinOf(h, payinID)
	if err != nil {
		return wire.Answer{}, err
	}
	if arriving.Status != platformwire.PayinStatusCompleted {
		if err := t.arrivable(arriving, t.settings.MaxCredit); err != nil {
			return wire.Answer{}, err
		}
		t.arrive(arriving)
	}
	view := arriving.view(t.now)
	view.IdempotencyKey = key.Key
	t.completions.keep(key, asked, view, t.now, lifetime)
	return wire.OK(view).Lean(), nil
}

// arrive credits the amount of the quote.
func (t *turn) arrive(arriving *payin) {
	credit := arriving.credit()
	arriving.Status = platformwire.PayinStatusCompleted
	t.kept.payins.Put(arriving)
	t.books.movement("payin", arriving.ID, t.now).
		transfer(bookFaucet, arriving.holder.book(), string(credit.Currency), credit.Amount)
	t.record(arriving.holder, platformwire.Transaction{
		Type:            platformwire.TransactionTypePayin,
		Direction:       platformwire.TransactionDirectionIn,
		Status:          platformwire.TransactionStatusCompleted,
		Amount:          credit.Amount,
		Currency:        credit.Currency,
		PayinID:         arriving.ID,
		TransactionHash: newHash(),
		CreatedAt:       t.now,
	})
}

// credit is what the account receives.
func (p *payin) credit() platformwire.DepositCreate {
	return platformwire.DepositCreate{Amount: p.Quote.DestinationAmount, Currency: p.asset()}
}

// arrivable refuses money that cannot arrive: the price has expired, nobody has asked for the instructions, the virtual
// account's channel is down, or the faucet does not pay it. most is the largest credit.
func (t *turn) arrivable(arriving *payin, most decimal.Decimal) error {
	switch {
	case arriving.expired(t.now):
		return wire.QuoteExpired()
	case arriving.Status == platformwire.PayinStatusQuoted:
		return wire.QuoteNotSubmitted()
	case arriving.over != nil && t.railStatus(arriving.over, arriving.over.Method) != platformwire.RailStatusActive:
		return wire.PayoutNotFundable("The virtual account cannot receive money at present.", nil)
	default:
		return t.creditable(arriving.holder, arriving.credit(), most)
	}
}
