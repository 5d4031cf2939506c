package platform

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/shopspring/decimal"
)

// chance returns a number of 0 or more that looks random. The seed of the settings, the payout's key, a purpose and a
// count decide it, so that it does not depend on the order of requests.
func (t *turn) chance(p *payout, purpose string, count int) int64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d/%s/%d/%s", t.settings.Seed, purpose, count, p.Key))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1) //gosec:disable G115 -- the top bit is zero
}

// chosen reports whether a payout is one in so many, or has an amount that the settings name.
func (t *turn) chosen(p *payout, purpose string, oneIn int, amount decimal.Decimal) bool {
	return oneIn > 0 && t.chance(p, purpose, 0)%int64(oneIn) == 0 ||
		amount.IsPositive() && amount.Equal(p.Terms.Amount)
}

// fails reports whether a funded payout fails.
func (t *turn) fails(p *payout) bool {
	return t.chosen(p, "fail", t.settings.FailOneIn, t.settings.FailAmount)
}

// refundLater makes a completed payout come back later, if the settings choose it. Until then it is not finished, so
// that it is not forgotten before.
func (t *turn) refundLater(p *payout, at time.Time) {
	if p.receiver != nil || !t.chosen(p, "refund", t.settings.RefundOneIn, t.settings.RefundAmount) {
		return
	}
	p.Due, p.FinishedAt, p.FinishNumber = at.Add(time.Duration(t.settings.RefundAfter)), time.Time{}, 0
	t.kept.payouts.Put(p)
}

// driftSteps is how many different drifts there are on either side.
const driftSteps = 1000

// drift returns how far the next price of a payout is from the host's own, as a fraction.
func (t *turn) drift(p *payout) decimal.Decimal {
	if t.settings.PriceDrift.IsZero() {
		return decimal.Zero
	}
	prices := len(p.Earlier)
	if p.Approval.ID != "" {
		prices++
	}
	step := t.chance(p, "price", prices)%(2*driftSteps+1) - driftSteps
	return t.settings.PriceDrift.Mul(decimal.NewFromInt(step)).Shift(-3)
}
