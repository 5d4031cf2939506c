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

// grace is how long a payment that is under way may take to finish after Ctrl-C.
const grace = 30 * time.Second

// maxFee is what a payment may cost, in USDC.
var maxFee = decimal.NewFromInt(1)

// payroll pays people, some at a time.
type payroll struct {
	account *dapi.Account
	run     string
	results *results
	workers int
	settle  time.Duration
	done    func() // called once for each person
}

// everybody pays until all are done or ctx ends. What goes wrong with one payment is a result; only results that cannot
// be written end the run, for without them the next start knows too little.
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

// one takes somebody's payment from wherever it stands as far as it goes.
func (p *payroll) one(ctx context.Context, next person) error {
	known, _ := p.results.of(next.id)
	switch known.Status {
	case completed, failed, check:
		return nil
	case funded:
		return p.follow(ctx, next, known.Payout)
	}

	// What earlier starts left: nothing that can have been paid, or a payment that was sent once.
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
	// From here on Ctrl-C does not cut the payment off: it is over in a moment, and then its result is known.
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
	if err := p.results.record(next, state, payout, note); err != nil || state != funded || payout == nil {
		return err
	}
	return p.follow(ctx, next, payout.ID)
}

// statuses are the states of a payment as the results file names them. A refusal speaks for its call; only success,
// already funded, or the payout's own end settles a payment that was in doubt: what an earlier start may have paid
// stays unknown until then.
var statuses = map[dapi.PaymentState]status{
	dapi.PaymentPaid:          funded,
	dapi.PaymentNotPaid:       notPaid,
	dapi.PaymentEnded:         failed,
	dapi.PaymentUnknown:       unknown,
	dapi.PaymentNeedsDecision: check,
}

// follow waits for the money to arrive. If that takes too long, the next start looks again.
func (p *payroll) follow(ctx context.Context, next person, id dapi.PayoutID) error {
	patience, cancel := context.WithTimeout(ctx, p.settle)
	defer cancel()
	payout, err := p.account.Payouts.Wait(patience, id, dapi.PollEvery(200*time.Millisecond, 15*time.Second))
	switch _, ended := errors.AsType[*dapi.PayoutNotCompleted](err); {
	case err == nil:
		return p.results.record(next, completed, payout, "")
	case ended:
		return p.results.record(next, failed, payout, fmt.Sprintf("the payout ended %s", payout.Status))
	}
	return nil
}
