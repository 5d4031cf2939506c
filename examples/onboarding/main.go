// Onboarding takes a customer from a name to an account that can be wired to: go run ./examples/onboarding
//
// An integrator creates the client, saves what its verification needs until nothing is outstanding, completes it, opens
// a rail, and hands the payer the requisites.
package main

import (
	"context"
	"io"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/customer"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("onboarding", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer())
	if err != nil {
		return err
	}
	account, err := customer.Open(ctx, p, platform)
	if err != nil {
		return err
	}
	if err := verify(ctx, p, account); err != nil {
		return err
	}
	return openRail(ctx, p, account)
}

// verify saves in two goes, as a form with several pages would, and looks in between at what is still outstanding.
func verify(ctx context.Context, p *program.Program, account *dapi.Account) error {
	for _, page := range []dapi.KYBInformation{
		{Applicant: dapi.Applicant{LegalName: "Example"}.Map()},
		{Applicant: dapi.Applicant{Country: "DE"}.Map(), DocumentIDs: []string{"doc_registration"}},
	} {
		saved, err := account.Verification.Save(ctx, page)
		if err != nil {
			return err
		}
		p.Step("saved; %d requirements are outstanding", len(saved.Requirements))
		for _, requirement := range saved.Requirements {
			p.Detail("%s: %s", requirement.Field, requirement.Message)
		}
	}
	submission, err := account.Verification.Complete(ctx)
	if err != nil {
		return err
	}
	p.Step("completed: snapshot %s is %s", submission.SnapshotID, submission.Status)

	// People may take days over a review. A program that cannot wait comes back later with Verification.Get.
	patience, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	decided, err := account.Verification.WaitDecided(patience, p.Waiting()...)
	if err != nil {
		return err
	}
	p.Step("the verification is %s", decided.Status)
	return nil
}

// openRail lists what the client can have, and opens one. The list is authoritative: it knows the client's residency,
// its verification, the integrator's agreement, and whether the partner is up.
func openRail(ctx context.Context, p *program.Program, account *dapi.Account) error {
	p.Step("the client can be wired to over these rails:")
	for rail, err := range account.Rails.All(ctx, dapi.ListRailsParams{}) {
		if err != nil {
			return err
		}
		p.Detail("%s %s is %s", rail.Method, rail.Currency, rail.Status)
	}
	opened, err := account.Rails.Open(ctx, dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
	var unmet *errors.RailRequirementsUnmet
	if errors.As(err, &unmet) {
		for _, blocker := range unmet.Blockers {
			p.Detail("%s: %s", blocker.Code, blocker.Message)
		}
	}
	if err != nil {
		return err
	}
	p.Step("asked for %s %s: %s", opened.Method, opened.Currency, opened.Status)
	active, err := account.Rails.WaitActive(ctx, opened.Method, opened.Currency, p.Waiting()...)
	if err != nil {
		return err
	}
	p.Step("virtual account %s is open; a payer needs this:", active.VirtualAccount.ID)
	return p.Requisites(active.VirtualAccount.Requisites)
}
