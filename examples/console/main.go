// Console serves a page on which a person decides about payments: go run ./examples/console
//
// It starts a sandbox host, and a processor that makes three payments. One is made. The others wait for a person: the
// fee of one is too high, and for the last one there is too little money. Open the address that the program prints, log
// in with any name, and decide. The program prints each change of a payment, until Ctrl-C.
//
// login.go is a login of the example's own. Yours is what your company has: package payments/console asks it for the
// name of the person, and stores that name with the decision.
package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/console"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	var address string
	p, err := program.Open("console", args, out, func(flags *flag.FlagSet) {
		flags.StringVar(&address, "listen", "127.0.0.1:0", "`address` to serve the page on, for this machine alone")
	})
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	account, err := p.OpenFunded(ctx, platform, decimal.NewFromInt(100), dapi.USDC)
	if err != nil {
		return err
	}
	processor, err := payments.New(payments.NewMemoryStore(), payments.IntegratorServices(platform),
		payments.Config{PollEvery: 50 * time.Millisecond})
	if err != nil {
		return err
	}
	if _, err := processor.Resume(ctx); err != nil {
		return err
	}
	defer func() { _ = processor.Stop(context.WithoutCancel(ctx)) }()
	if err := submit(ctx, p, platform, account, processor); err != nil {
		return err
	}
	return serve(ctx, p, address, processor)
}

// submit submits the payments, and waits until nothing more happens without a person.
func submit(
	ctx context.Context, p *program.Program, platform *dapi.Integrator, account *dapi.Account,
	processor *payments.Processor,
) error {
	client, err := p.CreateClient(ctx, platform) // the one that there is
	if err != nil {
		return err
	}
	supplier, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", AccountHolderName: "Example supplier"})})
	if err != nil {
		return err
	}
	noFee := decimal.Zero
	for _, payment := range []payments.Payment{
		{Key: moneymovement.DeriveKey(p.Name, "invoice", "40"), Payout: dapi.PayoutCreate{
			Amount: decimal.NewFromInt(25)}},
		{Key: moneymovement.DeriveKey(p.Name, "invoice", "41"), Payout: dapi.PayoutCreate{
			Amount: decimal.NewFromInt(25)}, Bounds: dapi.Bounds{MaxFee: &noFee}},
		{Key: moneymovement.DeriveKey(p.Name, "invoice", "42"), Payout: dapi.PayoutCreate{
			Amount: decimal.NewFromInt(5000)}},
	} {
		payment.Account = client.ID
		payment.Payout.ContactID, payment.Payout.Currency = supplier.ID, dapi.USDC
		if _, err := processor.Submit(ctx, payment); err != nil {
			return err
		}
		if _, err := processor.Await(ctx, payment.Key); err != nil {
			return err
		}
	}
	return nil
}

// serve serves the page, and prints what changes, until ctx ends.
func serve(ctx context.Context, p *program.Program, address string, processor *payments.Processor) error {
	page, err := console.New(console.Config{Processor: processor, Author: personOf})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/login", logIn)
	mux.Handle("/payments/", http.StripPrefix("/payments", page))
	mux.Handle("/{$}", http.RedirectHandler("/login", http.StatusSeeOther))

	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	p.Step("open http://%s/login, and decide; Ctrl-C ends the program", listener.Addr())

	decisions := map[moneymovement.Key]int{} // those that were printed
	for record, err := range processor.Watch(ctx, "") {
		switch {
		case errors.Is(err, context.Canceled): // Ctrl-C
			p.Step("stopped")
			return nil
		case err != nil:
			return err
		}
		p.Detail("%s is %s", record.Key, record.State)
		for _, decision := range record.Decisions[decisions[record.Key]:] {
			p.Detail("  after %s decided: %s", decision.By, decision.What)
		}
		decisions[record.Key] = len(record.Decisions)
	}
	return nil
}
