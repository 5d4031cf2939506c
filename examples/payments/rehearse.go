package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// killAt is the payment whose response is lost. After it, the first start is killed.
const killAt = 5

// rehearse has invoices paid by a start that is killed, and by another one.
func (s *settings) rehearse(ctx context.Context, p *program.Program, platform *dapi.Integrator) error {
	account, err := p.OpenFunded(ctx, platform, decimal.NewFromInt(300), dapi.USDC)
	if err != nil {
		return err
	}
	client, err := p.CreateClient(ctx, platform)
	if err != nil {
		return err
	}
	contact, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Example supplier",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Example supplier"})})
	if err != nil {
		return err
	}
	s.client, s.listen = string(client.ID), "127.0.0.1:0"
	var invoices []payment
	for number := range 12 {
		invoices = append(invoices, payment{ID: "invoice-" + strconv.Itoa(number+1), ContactID: contact.ID,
			Amount: decimal.New(1025+25*int64(number), -2)})
	}
	if p.Host != nil {
		if err := s.crash(ctx, p, invoices); err != nil {
			return err
		}
	}
	p.Step("a start with this file; all invoices are submitted, again or for the first time")
	changes := &told{program: p, open: len(invoices), done: make(chan struct{})}
	rehearsal := func(ctx context.Context, url string, processor *payments.Processor) error {
		if err := submit(ctx, url, invoices); err != nil {
			return err
		}
		select {
		case <-changes.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		differences := 0
		for _, day := range []int{0, 1} { // yesterday, because midnight may just have passed, and today
			found, err := reconcileDay(ctx, processor, []dapi.ClientID{client.ID}, time.Now().AddDate(0, 0, day))
			if err != nil {
				return err
			}
			differences += found
		}
		p.Step("compared %d invoices with the ledger: %d differences", len(invoices), differences)
		return nil
	}
	return s.start(ctx, p, platform, changes, rehearsal)
}

// crash starts the backend in another process, and kills it when a payment has left whose response is lost.
func (s *settings) crash(ctx context.Context, p *program.Program, invoices []payment) error {
	first, err := p.Again(ctx, "-listen", s.listen, "-store", s.store, "-client", s.client)
	if err != nil {
		return err
	}
	output, err := first.StdoutPipe()
	if err != nil {
		return err
	}
	p.Step("the first start is another process, which is killed when payment %d has left", killAt)
	if err := first.Start(); err != nil {
		return err
	}
	var confirms atomic.Int32
	defer p.Host.Intercept(func(r sandbox.Request) sandbox.Fault {
		if r.Operation == "ConfirmPayout" {
			switch number := confirms.Add(1); {
			case number == killAt:
				return sandbox.DropAfterCommit()
			case number > killAt: // it asks again, or pays the next one
				_ = first.Process.Kill()
			}
		}
		return sandbox.Fault{}
	}).End()
	for lines := bufio.NewScanner(output); lines.Scan(); {
		p.Detail("%s", strings.TrimSpace(lines.Text()))
		if _, url, serving := strings.Cut(lines.Text(), "serving on "); serving {
			_ = submit(ctx, url, invoices) // the process may be killed while it is asked
		}
	}
	if _, killed := errors.AsType[*exec.ExitError](first.Wait()); !killed {
		return errors.New("the first start ended before it was killed")
	}
	p.Step("killed")
	return nil
}

// submit asks the backend to pay.
func submit(ctx context.Context, url string, invoices []payment) error {
	client := &http.Client{Timeout: time.Minute}
	for _, invoice := range invoices {
		body, err := json.Marshal(invoice)
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusAccepted {
			return fmt.Errorf("%s: %s", invoice.ID, response.Status)
		}
	}
	return nil
}
