package sandbox_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// refunds lists what came back: the payouts that it was attributed to, and the amounts, oldest first.
func (p *payer) refunds() (payoutIDs, amounts []string) {
	p.t.Helper()
	items, _ := p.must(http.StatusOK, "GET", "/transactions?type=refund", nil).body.at("items").([]any)
	for i := len(items) - 1; i >= 0; i-- {
		entry := object(items[i].(map[string]any))
		payoutIDs, amounts = append(payoutIDs, entry.text("payoutId")), append(amounts, entry.text("amount"))
	}
	return payoutIDs, amounts
}

// Two payouts are refunded, the later one first, and their money is on its way at the same time.
// Rule: sandbox.returned-money
func TestReturnedMoneyIsAttributedByItsAmount(t *testing.T) {
	for name, c := range map[string]struct {
		second, fee string
		swapped     bool
	}{
		"amounts that differ by more than the tolerance": {"20.200001", "0", false},
		"amounts that differ by the tolerance":           {"20.2", "0", true},
		"equal amounts":                                  {"20", "0", true},
		"after a fee, amounts apart":                     {"25", "0.2", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPayer(t, sandbox.WithSettings(func(s *sandbox.Settings) {
				s.ReturnAfter = sandbox.Duration(time.Minute)
				s.ReturnFee = decimal.RequireFromString(c.fee)
			}))
			first := p.book("first", "20")
			p.host.Advance(time.Second)
			second := p.book("second", c.second)
			for _, booked := range []reply{first, second} {
				require.Equal(t, http.StatusOK, p.confirm(booked).status)
			}
			for _, booked := range []reply{second, first} {
				require.Equal(t, "refunded", p.move("refund-"+booked.body.text("idempotencyKey"), booked, "refunded").
					body.text("status"))
				p.host.Advance(time.Second)
			}
			none, _ := p.refunds()
			assert.Empty(t, none, "it is on its way")

			p.host.Advance(time.Minute)
			attributed, _ := p.refunds()
			want := []string{second.body.text("id"), first.body.text("id")}
			if c.swapped {
				want[0], want[1] = want[1], want[0]
			}
			assert.Equal(t, want, attributed)
		})
	}
}

// Rule: sandbox.returned-money
func TestReturnedMoneyThatFitsNoPayoutIsAttributedToNone(t *testing.T) {
	for fee, fits := range map[string]bool{"0": true, "0.2": true, "0.200001": false} {
		t.Run(fee, func(t *testing.T) {
			kept := decimal.RequireFromString(fee)
			p := newPayer(t, sandbox.WithSettings(func(s *sandbox.Settings) { s.ReturnFee = kept }))
			booked := p.book("invoice-42", "20")
			require.Equal(t, http.StatusOK, p.confirm(booked).status)
			require.Equal(t, http.StatusOK, p.move("m1", booked, "refunded").status)

			attributed, amounts := p.refunds()
			want := ""
			if fits {
				want = booked.body.text("id")
			}
			assert.Equal(t, []string{want}, attributed)
			assert.Equal(t, []string{decimal.NewFromInt(20).Sub(kept).String()}, amounts)
			assert.Equal(t, decimal.NewFromInt(100).Sub(kept).String(), p.balance())
			for currency, sum := range p.host.Ledger().Sums {
				assert.True(t, sum.IsZero(), currency)
			}
		})
	}
}
