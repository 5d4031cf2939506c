package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
)

// grace is the time that payments under way have to finish after Ctrl-C.
const grace = 30 * time.Second

// maxFee is the highest fee of a payment that the program accepts, in USDC.
var maxFee = decimal.NewFromInt(1)

// payroll pays people from one account.
type payroll struct {
	processor *payments.Processor
	client    dapi.ClientID
	contacts  *dapi.Contacts
	run       string
	settle    time.Duration
	done      func() // called once for each person
}

// everybody pays until everybody is paid or ctx ends. If a payment fails, the others go on. It returns why people have
// no payment, by their ids.
func (p *payroll) everybody(ctx context.Context, people []person) (problems map[string]string, err error) {
	if _, err := p.processor.Resume(ctx); err != nil {
		return nil, err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err = errors.Join(err, p.processor.Stop(stopping))
	}()
	problems = map[string]string{}
	for _, next := range people {
		if err := p.submit(ctx, next, problems); err != nil {
			return problems, unlessEnded(ctx, err)
		}
	}
	tried := []moneymovement.PaymentState{moneymovement.PaymentInDoubt, moneymovement.PaymentNeedsDecision,
		moneymovement.PaymentPaid, moneymovement.PaymentCompleted, moneymovement.PaymentRefused,
		moneymovement.PaymentCameBack}
	for _, next := range people {
		if problems[next.id] == "" {
			if _, err := p.processor.Await(ctx, p.key(next.id), tried...); err != nil {
				return problems, unlessEnded(ctx, err)
			}
		}
		p.done()
	}
	// If the money takes longer to arrive, the next start looks again.
	waiting, cancel := context.WithTimeout(ctx, p.settle)
	defer cancel()
	for _, next := range people {
		if problems[next.id] == "" {
			if _, err := p.processor.Await(waiting, p.key(next.id)); err != nil {
				return problems, unlessEnded(waiting, err)
			}
		}
	}
	return problems, nil
}

func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

func (p *payroll) key(id string) moneymovement.Key {
	return moneymovement.DeriveKey("payroll", p.run, id)
}

// submit stores a person's payment, unless an earlier start has. What needed a decision is booked anew: who starts the
// program again has removed the cause. Only a key that may pay twice stays for a person.
func (p *payroll) submit(ctx context.Context, next person, problems map[string]string) error {
	bounds := dapi.Bounds{MaxFee: &maxFee}
	known, err := p.processor.Get(ctx, p.key(next.id))
	_, missing := errors.AsType[*payments.NotFound](err)
	switch {
	case err == nil && known.State == moneymovement.PaymentNeedsDecision && !tooOld(known):
		_, err = p.processor.Decide(ctx, known.Key, payments.NewBounds(bounds))
		return err
	case !missing:
		return err
	}
	contact, err := p.contacts.Create(ctx, dapi.ContactCreate{Name: next.name,
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: next.iban, Holder: dapi.AccountHolder{Name: next.name}})})
	if err != nil {
		problems[next.id] = err.Error()
		return ctx.Err()
	}
	_, err = p.processor.Submit(ctx, payments.Payment{Key: p.key(next.id), Account: p.client,
		Payout: dapi.PayoutCreate{ContactID: contact.ID, Amount: next.amount, Currency: dapi.USDC,
			PaymentReference: next.reference, Purpose: "salary"},
		Bounds: bounds, Metadata: map[string]string{"id": next.id, "iban": next.iban}})
	return err
}

func tooOld(known payments.Record) bool {
	return known.Reason != nil && known.Reason.Code == payments.ReasonKeyTooOld
}

// stored returns the payments of earlier starts, by the ids of the people. They must agree with the file: the error
// names each that does not.
func (p *payroll) stored(ctx context.Context, people []person) (map[string]payments.Record, error) {
	known := map[string]payments.Record{}
	var problems []error
	for was, err := range p.processor.List(ctx, payments.ListParams{}) {
		if err != nil {
			return nil, err
		}
		id, iban := was.Metadata["id"], was.Metadata["iban"]
		known[id] = was
		at := slices.IndexFunc(people, func(p person) bool { return p.id == id })
		switch {
		case was.Account != p.client || was.Key != p.key(id):
			return nil, fmt.Errorf("the store is about another run, or about the account %s, not %s", was.Account,
				p.client)
		case at < 0:
			problems = append(problems, fmt.Errorf("%s is already %s, and is no longer in the file", id, was.State))
		case people[at].iban != iban || !people[at].amount.Equal(was.Payout.Amount):
			problems = append(problems, fmt.Errorf("line %d: %s is already %s with %s to %s, and the file now says "+
				"something else", people[at].line, id, was.State, was.Payout.Amount, iban))
		}
	}
	return known, errors.Join(problems...)
}
