package main

import (
	"context"
	"fmt"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/sync/errgroup"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// grace is the time that a payment under way has to finish after Ctrl-C.
const grace = 30 * time.Second

// maxFee is the highest fee of a payment that the program accepts, in USDC.
var maxFee = decimal.NewFromInt(1)

// payroll pays people, several at the same time.
type payroll struct {
	account *dapi.Account
	run     string
	results *results
	workers int
	settle  time.Duration
	done    func() // called once for each person
}

// everybody pays until everybody is paid or ctx ends. If a payment fails, that is its result, and the others go on.
// Only a results file that cannot be written ends the run: without it, the next start does not know enough.
func (p *payroll) everybody(ctx context.Context, people []person) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.workers)
	for _, next := range people {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil
			}
			defer p.done()
			return p.one(ctx, next)
		})
	}
	return group.Wait()
}

// one pays one person. It goes on from where an earlier start ended.
func (p *payroll) one(ctx context.Context, next person) error {
	known, _ := p.results.of(next.id)
	switch known.Status {
	case completed, failed, check:
		return nil
	case funded:
		return p.follow(ctx, next, known.Payout)
	}

	// Either no earlier start can have paid this person, or one of them sent the payment.
	history, contactRefused := dapi.FirstUse(), notPaid
	if first, sent := p.results.firstSent(next.id); sent {
		history, contactRefused = dapi.FirstUsedAt(first), unknown
	}
	contact, err := p.account.Contacts.Create(ctx, dapi.ContactCreate{Name: next.name,
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: next.iban, Holder: dapi.AccountHolder{Name: next.name}})})
	if err != nil {
		return p.results.record(next, contactRefused, nil, err.Error())
	}
	if err := p.results.record(next, started, nil, ""); err != nil {
		return err
	}
	// From here on, Ctrl-C does not cancel the payment: it ends soon, and then its result is known.
	paying, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	payout, err := p.account.Payouts.Pay(paying,
		dapi.PayoutCreate{ContactID: contact.ID, Amount: next.amount, Currency: dapi.USDC,
			PaymentReference: next.reference, Purpose: "salary"},
		moneymovement.DeriveKey("payroll", p.run, next.id), history, dapi.MaxFee(maxFee))
	note := ""
	if err != nil {
		note = err.Error()
	}
	state := statuses[dapi.PaymentStateOf(payout, err)]
	if !dapi.MayHavePaid(payout, err) { // also if a person must decide about the price
		state = notPaid
	}
	if err := p.results.record(next, state, payout, note); err != nil || state != funded || payout == nil {
		return err
	}
	return p.follow(ctx, next, payout.ID)
}

// statuses are the states of a payment as the results file names them. A refused call says nothing about the calls
// before it: if an earlier start may have paid, the payment stays unknown until a call succeeds, or shows how the
// payout ended.
var statuses = map[dapi.PaymentState]status{
	dapi.PaymentPaid:          funded,
	dapi.PaymentNotPaid:       notPaid,
	dapi.PaymentEnded:         failed,
	dapi.PaymentUnknown:       unknown,
	dapi.PaymentNeedsDecision: check,
}

// follow waits until the money arrives. If that takes too long, the next start looks again.
func (p *payroll) follow(ctx context.Context, next person, id dapi.PayoutID) error {
	waiting, cancel := context.WithTimeout(ctx, p.settle)
	defer cancel()
	payout, err := p.account.Payouts.Wait(waiting, id)
	switch _, ended := errors.AsType[*dapi.PayoutNotCompleted](err); {
	case err == nil:
		return p.results.record(next, completed, payout, "")
	case ended:
		return p.results.record(next, failed, payout, fmt.Sprintf("the payout is %s", payout.Status))
	}
	return nil
}
