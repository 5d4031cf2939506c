package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

const (
	// keyProtects is how long asking again with a key is relied upon: a day less than the service keeps it.
	keyProtects = 6 * 24 * time.Hour
	// grace is how long a payment that is under way may take to finish after Ctrl-C.
	grace = 30 * time.Second
)

// payroll pays people, some at a time.
type payroll struct {
	account *dapi.Account
	run     string
	results *results
	workers int
	settle  time.Duration
	done    func() // called once for each person
}

// everybody pays until all are done or ctx ends. What goes wrong with one payment is a result; only results that cannot be written end the
// run, for without them the next start knows too little.
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
	case completed, failed, tooOld:
		return nil
	case funded:
		return p.follow(ctx, next, known.Payout)
	case started, unknown:
		if p.results.age(next.id) > keyProtects {
			return p.results.record(next, tooOld, nil, "sent more than 6 days ago, and nobody saw what came of it: look for it in the ledger")
		}
	}

	inDoubt := known.Status == started || known.Status == unknown
	contact, err := p.account.Contacts.Create(ctx, dapi.ContactCreate{Name: next.name,
		Account: dapi.SEPA(dapi.BankAccount{Currency: "EUR", IBAN: next.iban, AccountHolderName: next.name})})
	if err != nil {
		return p.results.record(next, judge(err, inDoubt), nil, err.Error())
	}
	if err := p.results.record(next, started, nil, ""); err != nil {
		return err
	}
	// From here on Ctrl-C does not cut the payment off: it is over in a moment, and then its result is known.
	paying, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	payout, err := p.account.Payouts.Pay(paying,
		dapi.PayoutCreate{ContactID: contact.ID, Amount: next.amount, Currency: dapi.USDC, PaymentReference: next.reference, Purpose: "salary"},
		moneymovement.IdempotencyKey(moneymovement.DeriveKey("payroll", p.run, next.id)))
	if err != nil {
		return p.results.record(next, judge(err, inDoubt), payout, err.Error())
	}
	if err := p.results.record(next, funded, payout, ""); err != nil {
		return err
	}
	return p.follow(ctx, next, payout.ID)
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

// judge says what an error means for the money. A refusal speaks for its own request only: if an earlier start may have paid, it settles
// nothing.
func judge(err error, inDoubt bool) status {
	if _, ended := errors.AsType[*dapi.PayoutNotCompleted](err); ended {
		return failed
	}
	_, unsigned := errors.AsType[*signing.ApprovalRefused](err)
	_, dearer := errors.AsType[*dapi.QuoteWorsened](err)
	failure, ok := errors.AsType[errors.Failure](err)
	unmoved := unsigned || dearer || ok && failure.MovedByCall() == errors.NotMoved
	if unmoved && !inDoubt {
		return notPaid
	}
	return unknown
}
