package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Sandbox emulates what only partners and payers can do. All credits come from one shared faucet, and an account has 60
// money calls an hour.
//
// Source: Limits, Sandbox.
type Sandbox struct {
	low    lowLevel
	chains *liveChains
}

// Treasury answers the faucet's state, with the largest credit per call.
func (s *Sandbox) Treasury(ctx context.Context, options ...moneymovement.CallOption) (*Treasury, error) {
	return transport.Of(s).low.GetTreasury(ctx, options)
}

// Deposit credits the account: at least 0.10 of the token (*errors.AmountBelowMinimum), at most the treasury's
// MaxCredit (*errors.AmountAboveMaximum). A faucet that cannot pay is *errors.ProviderUnavailable, an account without a
// wallet *errors.WalletNotLinked. Two equal credits within two hours are one unless each has an idempotency key of its
// own.
func (s *Sandbox) Deposit(
	ctx context.Context, deposit DepositCreate, options ...moneymovement.WriteOption,
) (*Transaction, error) {
	if err := transport.Of(s).low.ready(ctx, &opCreateDeposit); err != nil {
		return nil, err
	}
	low := s.low.demanding(func(c *transport.Check) { s.chains.checkPlaces(c, deposit.Amount, deposit.Currency) })
	return low.CreateDeposit(ctx, &deposit, options).OrZero()
}

// CompletePayin completes a payin as if its money had arrived. One that was not submitted is *errors.QuoteNotSubmitted;
// ask for its instructions first.
func (s *Sandbox) CompletePayin(
	ctx context.Context, id PayinID, options ...moneymovement.WriteOption,
) (*Payin, error) {
	return transport.Of(s).low.CompletePayin(ctx, id, options).Or(func(same transport.SameCredential) (*Payin, error) {
		return transport.Of(s).low.GetPayin(ctx, id, []moneymovement.CallOption{same})
	})
}

// MovePayout moves a payout to a status, as its partner would report it. A move that the payout's state does not allow
// is *errors.Conflict.
func (s *Sandbox) MovePayout(
	ctx context.Context, id PayoutID, status PayoutStatus, options ...moneymovement.WriteOption,
) (*Payout, error) {
	low := transport.Of(s).low
	return low.MovePayout(ctx, id, &PayoutMove{Status: status}, options).
		Or(func(same transport.SameCredential) (*Payout, error) {
			return low.GetPayout(ctx, id, []moneymovement.CallOption{same})
		})
}
