package main

import (
	"context"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// backend onboards clients and makes their payments. All that it must not forget is in its rows.
type backend struct {
	platform *dapi.Integrator
	rows     *store
	maxFee   decimal.Decimal // of a payment, in USDC
	now      func() time.Time
}

// onboard creates a client and waits until it can move money. The email is the client's natural key: if the backend
// crashed before it stored the id, the same call returns the same client.
func (b *backend) onboard(ctx context.Context, email, name string) (*dapi.Client, error) {
	client, err := b.platform.Clients.Create(ctx,
		dapi.ClientCreate{Email: email, Type: dapi.ClientTypeBusiness, EntityName: name})
	if err != nil {
		return nil, err
	}
	return b.platform.Clients.WaitReady(ctx, client.ID)
}

// work takes each row as far as it goes now: it pays what is not paid, and follows what is. Call it again and again.
func (b *backend) work(ctx context.Context) error {
	paying, working := errgroup.WithContext(ctx) // no limit is needed: the SDK paces the payments
	for _, row := range b.rows.all() {
		if row.open() && !b.now().Before(row.NotBefore) {
			paying.Go(func() error { return b.pay(working, row) })
		}
	}
	if err := paying.Wait(); err != nil {
		return err
	}
	return b.follow(ctx)
}

// pay makes a payment, and stores its row before each signature and after the call. The error says that a row could not
// be stored.
func (b *backend) pay(ctx context.Context, row payment) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	made, err := b.platform.For(row.Client).Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: row.Contact, Amount: row.Amount, Currency: dapi.USDC, PaymentReference: row.ID},
		moneymovement.DeriveKey("smallbackend", row.ID),
		dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: &b.maxFee}, History: row.History,
			Journal: func(_ context.Context, history dapi.History) error {
				row.State, row.History = moneymovement.PaymentInDoubt, history // if the process ends now
				return b.rows.put(row)
			}})
	row.State, row.History, row.NotBefore, row.Note = made.State, made.History, made.RetryAt, ""
	if err != nil {
		row.Note = err.Error()
	}
	return b.rows.put(row)
}

// follow waits for the payments that have left, and stores which of them arrived, and which came back. Those that do
// not end in time stay as they are, and the next call follows them.
func (b *backend) follow(ctx context.Context) error {
	waiting := map[dapi.ClientID][]dapi.PayoutID{}
	rows := map[dapi.PayoutID]payment{}
	for _, row := range b.rows.all() {
		if id := row.History.PayoutID; row.State == moneymovement.PaymentPaid && !row.Arrived && id != "" {
			waiting[row.Client] = append(waiting[row.Client], id)
			rows[id] = row
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for client, ids := range waiting {
		for waited := range b.platform.For(client).Payouts.WaitAll(ctx, ids) {
			row := rows[waited.ID]
			switch ended, came := errors.AsType[*dapi.PayoutNotCompleted](waited.Err); {
			case waited.Err == nil:
				row.Arrived = true
			case came:
				row.State, row.Note = moneymovement.PaymentEnded, ended.Error()
			default:
				continue // it is still under way, or could not be read
			}
			if err := b.rows.put(row); err != nil {
				return err
			}
		}
	}
	return nil
}
