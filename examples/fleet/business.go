package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// business is the process that has invoices to pay. It submits payments, and makes none.
type business struct {
	program *program.Program
	fleet   *fleet
	clients []client
}

// client is a client that pays, and its contact.
type client struct {
	id      dapi.ClientID
	contact dapi.ContactID
}

// maxFee is the highest fee of a payment, in USDC.
var maxFee = decimal.NewFromInt(1)

// amount returns the amount of an invoice, 1.01 to 2.00 USDC.
func amount(number int) decimal.Decimal { return decimal.New(101+int64(number%100), -2) }

// openClients creates the clients, with enough money for their part of the payments.
func (b *business) openClients(ctx context.Context, clients, invoices int) error {
	most := amount(99).Add(maxFee).Mul(decimal.NewFromInt(int64(invoices/clients + 1)))
	for i := range clients {
		name := b.program.Name + "-" + strconv.Itoa(i+1)
		created, err := b.fleet.platform.Clients.Create(ctx, dapi.ClientCreate{Email: name + "@example.com",
			Type: dapi.ClientTypeBusiness, EntityName: "Example " + strconv.Itoa(i+1)})
		if err != nil {
			return err
		}
		if _, err := b.fleet.platform.Clients.WaitReady(ctx, created.ID); err != nil {
			return err
		}
		account := b.fleet.platform.For(created.ID)
		if err := program.Credit(ctx, account.Sandbox, most, dapi.USDC, name); err != nil {
			return err
		}
		contact, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
			Account: dapi.Onchain(dapi.OnchainAccount{
				WalletAddress: "0x1111111111111111111111111111111111111111", ChainID: "base", Currency: "USDC"})})
		if err != nil {
			return err
		}
		b.clients = append(b.clients, client{created.ID, contact.ID})
	}
	return nil
}

// submit stores an invoice and its payment in one transaction: either both are there, or neither is.
func (b *business) submit(ctx context.Context, number int) error {
	payer := b.clients[number%len(b.clients)]
	payment := payments.Payment{
		Key:     moneymovement.DeriveKey(b.program.Name, "invoice", strconv.Itoa(number)),
		Account: payer.id,
		Payout: dapi.PayoutCreate{ContactID: payer.contact, Amount: amount(number), Currency: dapi.USDC,
			PaymentReference: "Invoice " + strconv.Itoa(number)},
		Bounds: dapi.Bounds{MaxFee: &maxFee},
	}
	return pgx.BeginFunc(ctx, b.fleet.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO invoices (number, client, amount, payment) VALUES ($1, $2, $3, $4)",
			number, string(payer.id), payment.Payout.Amount.String(), string(payment.Key)); err != nil {
			return err
		}
		_, err := b.fleet.store.SubmitTx(ctx, tx, nil, payment)
		return err
	})
}

// pause is how often the store is read while the program waits.
const pause = 50 * time.Millisecond

// awaitCompleted waits until so many payments are completed, and returns how many are.
func (b *business) awaitCompleted(ctx context.Context, atLeast int) (int, error) {
	for {
		found, err := b.fleet.store.Summary(ctx)
		if err != nil {
			return 0, err
		}
		for _, state := range []moneymovement.PaymentState{moneymovement.PaymentNeedsDecision,
			moneymovement.PaymentRefused, moneymovement.PaymentCameBack} {
			if n := found.ByState[state]; n > 0 {
				return 0, fmt.Errorf("%d payments are %s", n, state)
			}
		}
		if n := found.ByState[moneymovement.PaymentCompleted]; n >= atLeast {
			return n, nil
		}
		if err := rest(ctx); err != nil {
			return 0, err
		}
	}
}

// await waits until a payment is completed.
func (b *business) await(ctx context.Context, key moneymovement.Key) error {
	for {
		row, err := b.fleet.store.Load(ctx, key)
		if err != nil || row.State == moneymovement.PaymentCompleted {
			return err
		}
		if row.State.Final() || row.State == moneymovement.PaymentNeedsDecision {
			return fmt.Errorf("payment %s is %s", key, row.State)
		}
		if err := rest(ctx); err != nil {
			return err
		}
	}
}

func rest(ctx context.Context) error {
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

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
