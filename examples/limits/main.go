// Limits keeps payments within what a person has reviewed: go run ./examples/limits
//
// limits.json has a cap for a payment and caps for a day. Invoices that would pass a cap are stored, and need a
// decision; nothing is sent for them. Raising a cap releases nothing by itself: somebody decides about each payment
// that waits.
package main

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"strconv"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/payments"
)

//go:embed limits.json
var reviewed []byte

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("limits", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	account, err := p.OpenFunded(ctx, platform, decimal.NewFromInt(200), dapi.USDC)
	if err != nil {
		return err
	}
	client, err := p.CreateClient(ctx, platform) // which is there
	if err != nil {
		return err
	}
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", AccountHolderName: "Example supplier"})})
	if err != nil {
		return err
	}
	limits, err := payments.ParseLimits(reviewed)
	if err != nil {
		return err // the program does not start with limits that nobody can read
	}
	b := &backend{Program: p, platform: platform, store: payments.NewMemoryStore()}
	var waiting moneymovement.Key
	err = b.pays(ctx, limits, func(processor *payments.Processor) error {
		for number, amount := range []int64{25, 30, 45, 20} {
			invoice := payments.Payment{Key: moneymovement.DeriveKey(p.Name, "invoice", strconv.Itoa(number), "1"),
				Account: client.ID, Payout: dapi.PayoutCreate{ContactID: supplier.ID,
					Amount: decimal.NewFromInt(amount), Currency: dapi.USDC}}
			if _, err := processor.Submit(ctx, invoice); err != nil {
				return err
			}
			waiting = invoice.Key // the last one in the end
			if err := b.show(ctx, processor, invoice.Key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.Step("a person raises the cap of the day to 100 USDC, and the backend starts again")
	day := decimal.NewFromInt(100)
	limits.Assets[dapi.USDC] = payments.Caps{Payment: limits.Assets[dapi.USDC].Payment, Day: &day}
	return b.pays(ctx, limits, func(processor *payments.Processor) error {
		if err := b.show(ctx, processor, waiting); err != nil {
			return err
		}
		if _, err := processor.Decide(ctx, waiting, payments.Retry()); err != nil {
			return err
		}
		p.Step("the person decides that the last invoice is paid")
		return b.show(ctx, processor, waiting)
	})
}

type backend struct {
	*program.Program

	platform *dapi.Integrator
	store    payments.Store
}

// pays runs a processor with limits while work runs.
func (b *backend) pays(ctx context.Context, limits *payments.Limits, work func(*payments.Processor) error) error {
	processor, err := payments.New(b.store, payments.IntegratorServices(b.platform), payments.Config{Limits: limits})
	if err != nil {
		return err
	}
	if _, err := processor.Resume(ctx); err != nil {
		return err
	}
	return errors.Join(work(processor), processor.Stop(ctx))
}

// show prints what has become of a payment.
func (b *backend) show(ctx context.Context, processor *payments.Processor, key moneymovement.Key) error {
	record, err := processor.Await(ctx, key, moneymovement.PaymentCompleted, moneymovement.PaymentNeedsDecision)
	if err != nil {
		return err
	}
	b.Step("%s USDC: %s", record.Payout.Amount, record.State)
	if record.State == moneymovement.PaymentNeedsDecision {
		b.Detail("%s: %s", record.Reason.Code, record.Reason.Message)
	}
	return nil
}
