package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// audit compares the invoices with the host's books, and reads the host's log.
func (b *business) audit(ctx context.Context) error {
	host := b.program.Host
	if host == nil {
		return nil // nobody can read the books of another host
	}
	seen := readLog(host.Requests(), b.fleet.settings.minute)
	b.program.Step("the host's log: %d login, %d calls refused with 429, %.1f %% of the write window used", seen.logins,
		seen.limited, 100*seen.used)

	invoices, sum, err := b.paidOnce(ctx, host)
	if err != nil {
		return err
	}
	paid := 0
	for range host.Audit() {
		paid++
	}
	if paid != invoices {
		return fmt.Errorf("the host's books have %d payments for %d invoices", paid, invoices)
	}
	b.program.Step("the host's books: %d payments for %d invoices, %s USDC in all; no invoice was paid twice", paid,
		invoices, sum.StringFixed(2))
	return nil
}

// paidOnce returns how many invoices there are, and their sum. The error names an invoice that was not paid exactly
// once.
func (b *business) paidOnce(ctx context.Context, host *sandbox.Host) (count int, sum decimal.Decimal, err error) {
	rows, err := b.fleet.pool.Query(ctx, "SELECT number, client, amount::text, payment FROM invoices")
	if err != nil {
		return 0, sum, err
	}
	var number int
	var client, owed, key string
	_, err = pgx.ForEachRow(rows, []any{&number, &client, &owed, &key}, func() error {
		amount, err := decimal.NewFromString(owed)
		if err != nil {
			return err
		}
		paid, found := host.AuditOf(client, key)
		if !found || paid.Fundings != 1 || paid.Returns != 0 || len(paid.PayoutIDs) != 1 || !paid.Paid.Equal(amount) {
			return fmt.Errorf("invoice %d of %s USDC: the host's books have %d payments of %s USDC in all", number,
				amount, paid.Fundings, paid.Paid)
		}
		count, sum = count+1, sum.Add(amount)
		return nil
	})
	return count, sum, err
}

// calls is what the host's log shows.
type calls struct {
	logins, limited int
	used            float64 // the part of the write window that was used, 0 to 1
}

// readLog counts the writes in whole windows, from the first write until the last payment was booked. The rest of the
// run is not full.
func readLog(requests []sandbox.Request, minute time.Duration) (seen calls) {
	var writes []time.Time
	var last time.Time
	for _, r := range requests {
		switch {
		case r.Status == http.StatusTooManyRequests:
			seen.limited++
		case r.Operation == "CreateToken":
			seen.logins++
		case r.Method == http.MethodPost && !strings.Contains(r.Path, "/auth/"): // logins have windows of their own
			writes = append(writes, r.Time)
		}
		if r.Operation == "BookPayout" {
			last = r.Time
		}
	}
	if len(writes) == 0 {
		return seen
	}
	window := moneymovement.StatedWindows()[moneymovement.WindowWrites]
	window.Per = minute
	whole := int(last.Sub(writes[0]) / window.Span())
	end, used := writes[0].Add(time.Duration(whole)*window.Span()), 0
	for _, at := range writes {
		if at.Before(end) {
			used++
		}
	}
	if whole > 0 {
		seen.used = float64(used) / float64(whole*window.Calls)
	}
	return seen
}
