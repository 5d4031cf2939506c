package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

// maxFee is the highest fee of a payment, in USDC.
var maxFee = decimal.NewFromInt(1)

// payInvoices pays all invoices, whatever an earlier start has done.
func (s *settings) payInvoices(ctx context.Context, p *program.Program, platform *dapi.Integrator) (err error) {
	store, err := sqlite.Open(ctx, s.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	processor, err := payments.New(store, payments.Integrator(platform), payments.Config{})
	if err != nil {
		return err
	}
	found, err := processor.Resume(ctx)
	if err != nil {
		return err
	}
	p.Step("the file has %s", states(found))
	defer func() { err = errors.Join(err, stop(ctx, processor)) }()

	for invoice := 1; invoice <= s.invoices; invoice++ {
		// the same key and terms at each start: a payment that is stored already is not stored again
		if _, err := processor.Submit(ctx, s.payment(invoice)); err != nil {
			return err
		}
	}
	for invoice := 1; invoice <= s.invoices; invoice++ {
		record, err := processor.Await(ctx, s.payment(invoice).Key)
		if err != nil {
			return err
		}
		p.Detail("invoice %d: %s", invoice, ending(record))
	}
	return nil
}

// recall takes the client and the contact from the payments of an earlier start, unless the flags name them.
func (s *settings) recall(ctx context.Context) (err error) {
	if s.store == "" || s.client != "" || s.contact != "" {
		return nil
	}
	store, err := sqlite.Open(ctx, s.store, sqlite.MustExist())
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the first start
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	records, err := store.List(ctx, payments.List{Limit: 1})
	if err != nil || len(records) == 0 {
		return err
	}
	first := records[0]
	if err := first.Err(); err != nil {
		return err
	}
	s.client, s.contact = string(first.Account), string(first.Payout.ContactID)
	return nil
}

func (s *settings) payment(invoice int) payments.Payment {
	return payments.Payment{
		Key:     moneymovement.DeriveKey("example", s.client, "invoice", strconv.Itoa(invoice)),
		Account: dapi.ClientID(s.client),
		Payout: dapi.PayoutCreate{ContactID: dapi.ContactID(s.contact), Amount: amount(invoice), Currency: dapi.USDC,
			PaymentReference: "Invoice " + strconv.Itoa(invoice)},
		Bounds: dapi.Bounds{MaxFee: &maxFee},
	}
}

// stop lets the calls under way finish. What does not finish is stored, and the next start goes on with it.
func stop(ctx context.Context, processor *payments.Processor) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return processor.Stop(ctx)
}

// states says how many payments are in which state.
func states(found payments.Summary) string {
	var parts []string
	for _, state := range moneymovement.StoredPaymentStates() {
		if n := found.ByState[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	if parts == nil {
		return "no payments"
	}
	return strings.Join(parts, ", ")
}

// ending says how a payment ended.
func ending(record payments.Record) string {
	text := string(record.State)
	if record.PayoutID != "" {
		text += ", payout " + string(record.PayoutID)
	}
	if record.Reason != nil {
		text += ": " + record.Reason.Message
	}
	return text
}
