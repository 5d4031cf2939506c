package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Sandbox emulates what only banking partners and payers can do. It works on sandbox hosts only. All credits come from
// one shared account, the treasury. An account can make at most 60 calls of Deposit, CompletePayin and SetPayoutStatus
// in an hour. If a success does not show what was done, and a read does not either, they fail with
// *errors.InDoubt.
type Sandbox struct {
	low    lowLevel
	chains *liveChains
}

// Treasury returns the balances of the treasury and the largest amount of one credit.
func (s *Sandbox) Treasury(ctx context.Context, options ...moneymovement.CallOption) (*Treasury, error) {
	return transport.OrNew(s).low.GetTreasury(ctx, options)
}

// Deposit credits the account. Two equal credits within two hours are one credit, unless each has its own idempotency
// key.
//
// # Errors
//
//   - *errors.AmountBelowMinimum: the amount is less than 0.10 of the token.
//   - *errors.AmountAboveMaximum: the amount is more than the treasury's MaxCredit.
//   - *errors.ProviderUnavailable: the treasury has not enough money or gas.
//   - *errors.WalletNotLinked: the account has no wallet.
func (s *Sandbox) Deposit(
	ctx context.Context, deposit DepositCreate, options ...moneymovement.WriteOption,
) (*Transaction, error) {
	s = transport.OrNew(s)
	low := s.low.withCheck(func(c *transport.Check) {
		misspelledAsset(c, deposit.Currency)
		s.chains.checkPlaces(c, deposit.Amount, deposit.Currency)
	})
	return low.CreateDeposit(ctx, &deposit, options).ValueOrInDoubt(nil)
}

// CompletePayin completes a payin as if its money had arrived. If the payin was not submitted, it fails with
// *errors.QuoteNotSubmitted: call [Payins.Instructions] first, which submits it.
func (s *Sandbox) CompletePayin(
	ctx context.Context, id PayinID, options ...moneymovement.WriteOption,
) (*Payin, error) {
	low := transport.OrNew(s).low
	return low.CompletePayin(ctx, id, options).ValueOrInDoubt(func(origin transport.Origin) (*Payin, error) {
		return low.with(origin).GetPayin(ctx, id, nil)
	})
}

// SetPayoutStatus sets the status of a payout, as a banking partner would report it. If the payout cannot change from
// its status to this one, it fails with *errors.Conflict.
func (s *Sandbox) SetPayoutStatus(
	ctx context.Context, id PayoutID, status PayoutStatus, options ...moneymovement.WriteOption,
) (*Payout, error) {
	low := transport.OrNew(s).low
	return low.MovePayout(ctx, id, &payoutStatusUpdate{Status: status}, options).
		ValueOrInDoubt(func(origin transport.Origin) (*Payout, error) {
			return low.with(origin).GetPayout(ctx, id, nil)
		})
}
