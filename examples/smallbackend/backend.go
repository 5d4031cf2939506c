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

// pay makes a payment and stores its state, before and after. The error says that a row could not be stored.
func (b *backend) pay(ctx context.Context, row payment) error {
	history := dapi.FirstUse()
	if row.FirstUsed.IsZero() {
		row.FirstUsed = time.Now().UTC()
	} else { // an earlier call may have paid
		history = dapi.FirstUsedAt(row.FirstUsed)
	}
	row.State = dapi.PaymentUnknown // this is what it is if the process ends now
	if err := b.rows.put(row); err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	booked := dapi.BeforeSigning(func(_ context.Context, booked *dapi.Payout) error {
		row.PayoutID = booked.ID
		return b.rows.put(row)
	})
	payout, err := b.platform.For(row.Client).Payouts.Pay(ctx,
		dapi.PayoutCreate{ContactID: row.Contact, Amount: row.Amount, Currency: dapi.USDC, PaymentReference: row.ID},
		moneymovement.DeriveKey("smallbackend", row.ID), history, dapi.BookedBefore(row.PayoutID),
		booked, dapi.MaxFee(b.maxFee))
	row.State, row.Note, row.NotBefore = dapi.PaymentStateOf(payout, err), "", time.Time{}
	if payout != nil {
		row.PayoutID = payout.ID
	}
	if !dapi.MayHavePaid(payout, err) {
		row.FirstUsed = time.Time{} // the next call is a first use again
	}
	if err != nil {
		row.Note = err.Error()
		if call, ok := errors.CallInfoOf(err); ok {
			row.NotBefore = call.RetryAt
		}
	}
	return b.rows.put(row)
}

// follow waits for the payments that have left, and stores which of them arrived, and which came back. Those that do
// not end in time stay as they are, and the next call follows them.
func (b *backend) follow(ctx context.Context) error {
	waiting := map[dapi.ClientID][]dapi.PayoutID{}
	rows := map[dapi.PayoutID]payment{}
	for _, row := range b.rows.all() {
		if row.State == dapi.PaymentPaid && !row.Arrived && row.PayoutID != "" {
			waiting[row.Client] = append(waiting[row.Client], row.PayoutID)
			rows[row.PayoutID] = row
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
				row.State, row.Note = dapi.PaymentEnded, ended.Error()
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
