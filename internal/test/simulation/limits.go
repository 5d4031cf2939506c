package simulation

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// limits allow about half of the payments of a run on one day. A day ends during the faults.
func limits() *payments.Limits {
	most := func(text string) *decimal.Decimal { return new(decimal.RequireFromString(text)) }
	return &payments.Limits{
		TimeZone: "America/Sao_Paulo", // where it is 22:00 when a run begins
		Assets: map[dapi.Asset]payments.Caps{
			dapi.USDC: {Payment: most("31"), Day: most("120"), PayeeDay: most("75")},
		},
	}
}

// dayOf returns the day of a time, in the zone of the limits.
func (w *World) dayOf(at time.Time) string {
	zone, err := time.LoadLocation(w.plan.Limits.TimeZone)
	if err != nil {
		panic(err) // the zone is constant
	}
	return at.In(zone).Format(time.DateOnly)
}

// judgeCaps adds up what the stored payments count, and compares it with the caps of each day. An older copy of the
// store does not know what was paid since, so its sums say nothing.
func (m *processor) judgeCaps() {
	w := m.world
	if w.plan.Limits == nil || m.older {
		return
	}
	sums := map[string]decimal.Decimal{}
	caps := w.plan.Limits.Assets[dapi.USDC]
	for _, record := range m.records() {
		s := record.Spending
		if s == nil || s.Unchecked { // which nobody has signed since it counts
			continue
		}
		day := w.dayOf(s.At)
		for name, most := range map[string]*decimal.Decimal{
			"all on " + day: caps.Day, fmt.Sprintf("%q on %s", s.Payee, day): caps.PayeeDay,
			string(record.Key): caps.Payment,
		} {
			if sums[name] = sums[name].Add(s.Amount); sums[name].GreaterThan(*most) {
				w.network.books.note("%s would be paid to %s, and the cap is %s", sums[name], name, most)
			}
		}
	}
}

// judgeCounted checks that a payment counted when it was signed: with its amount, and from a time before that on.
func (m *processor) judgeCounted(o *order, at time.Time) {
	w := m.world
	if w.plan.Limits == nil || m.older || o.Action == dapi.EscrowActionTypeRefund ||
		o.Action == dapi.EscrowActionTypeRelease {
		return
	}
	record, err := m.store.Load(context.Background(), o.Key)
	if err != nil || record.Spending == nil || record.Spending.Unchecked {
		w.network.books.note("%s was signed, and does not count: %v", o.ID, err)
		return
	}
	if !record.Spending.Amount.Equal(o.Amount) || record.Spending.At.After(at) {
		w.network.books.note("%s was signed at %v, and counts %s at %v", o.ID, at, record.Spending.Amount,
			record.Spending.At)
	}
}

// notCounting is a store that forgets to count.
type notCounting struct{ payments.Store }

// Insert implements payments.Store.
func (s *notCounting) Insert(ctx context.Context, record payments.Record) (payments.Record, bool, error) {
	record.Count = nil
	return s.Store.Insert(ctx, record)
}

// Save implements payments.Store.
func (s *notCounting) Save(ctx context.Context, claimed payments.Claimed, release bool) (payments.Position, error) {
	claimed.Count = nil
	return s.Store.Save(ctx, claimed, release)
}

// freeingInDoubt is a store that takes a payment in doubt for one that was not paid.
type freeingInDoubt struct{ payments.Store }

// Save implements payments.Store.
func (s *freeingInDoubt) Save(ctx context.Context, claimed payments.Claimed, release bool) (payments.Position, error) {
	if claimed.State == moneymovement.PaymentInDoubt && claimed.Spending != nil {
		claimed.Spending, claimed.Count = nil, new(payments.Count)
	}
	return s.Store.Save(ctx, claimed, release)
}

// limitVariants break the rules of what payments count.
func limitVariants() []variant {
	store := func(name string, broken func(payments.Store) payments.Store) variant {
		return variant{name: name, on: "payments", limits: limits(), broke: Break{Store: broken}}
	}
	return []variant{
		store("nothing is counted", func(next payments.Store) payments.Store { return &notCounting{next} }),
		store("payments in doubt do not count", func(next payments.Store) payments.Store {
			return &freeingInDoubt{next}
		}),
		{name: "the process that starts last has no limits", on: "payments", limits: limits(), broke: Break{
			Config: func(config *payments.Config) {
				if config.Owner != "p1" {
					config.Limits = nil
				}
			}}},
	}
}
