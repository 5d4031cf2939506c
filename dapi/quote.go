package dapi

import (
	"fmt"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// QuoteTolerance lets [Payouts.Pay] accept a fresh quote that is worse than the first one by up to this fraction: 0.005 is half a percent.
// Without it, a fresh quote has to be as good as the first.
func QuoteTolerance(fraction decimal.Decimal) moneymovement.CallOption {
	return func(c *transport.Call) { c.QuoteTolerance = fraction }
}

// QuoteWorsened says that the first price expired before it was confirmed, and that the fresh one is worse than the caller's tolerance.
// Nothing was confirmed and no money moved. To accept the fresh price, confirm Payout. Calling [Payouts.Pay] again accepts it, too: that call's
// first price is the one that is booked then.
type QuoteWorsened struct {
	First, Fresh Quote
	// Payout is booked with the fresh quote and approval.
	Payout *Payout
}

func (e *QuoteWorsened) Error() string {
	return fmt.Sprintf("payout %s: fresh quote of %s %s for %s %s is worse than the first of %s %s for %s %s", e.Payout.ID,
		e.Fresh.DestinationAmount, e.Fresh.DestinationCurrency, e.Fresh.SourceAmount, e.Fresh.SourceCurrency,
		e.First.DestinationAmount, e.First.DestinationCurrency, e.First.SourceAmount, e.First.SourceCurrency)
}

// acceptable reports whether fresh is as good as first, but for the tolerance: not less may arrive, and not more may leave.
func acceptable(first, fresh *Quote, tolerance decimal.Decimal) bool {
	if first == nil || fresh == nil {
		return first == fresh
	}
	if first.DestinationCurrency != fresh.DestinationCurrency || first.SourceCurrency != fresh.SourceCurrency {
		return false
	}
	one := decimal.NewFromInt(1)
	least := first.DestinationAmount.Mul(one.Sub(tolerance))
	most := first.SourceAmount.Mul(one.Add(tolerance))
	return fresh.DestinationAmount.GreaterThanOrEqual(least) && fresh.SourceAmount.LessThanOrEqual(most)
}
