// Onboarding creates a client and opens an account that payers can send money to: go run ./examples/onboarding
//
// An integrator creates the client, saves the information for its verification until no requirement is left, completes
// the verification, opens a rail, and gives the requisites to the payer.
package main

import (
	"context"
	"io"
	"time"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

func main() { program.Main(run) }

func run(ctx context.Context, args []string, out io.Writer) error {
	p, err := program.Open("onboarding", args, out)
	if err != nil {
		return err
	}
	defer p.Close()
	platform, err := dapi.NewIntegrator(p.BaseURL, p.Developer(), p.Options()...)
	if err != nil {
		return err
	}
	account, err := p.OpenAccount(ctx, platform)
	if err != nil {
		return err
	}
	if err := verify(ctx, p, account); err != nil {
		return err
	}
	return openRail(ctx, p, account)
}

// verify saves the information in two steps, like a form of two pages, and prints which requirements are left.
func verify(ctx context.Context, p *program.Program, account *dapi.Account) error {
	for _, page := range []dapi.KYBInformation{
		{Applicant: dapi.Applicant{LegalName: "Example"}.Map()},
		{Applicant: dapi.Applicant{Country: "DE"}.Map(), DocumentIDs: []string{"doc_registration"}},
	} {
		saved, err := account.Verification.Save(ctx, page)
		if err != nil {
			return err
		}
		p.Step("saved the information; %d requirements are outstanding", len(saved.Requirements))
		for _, requirement := range saved.Requirements {
			p.Detail("%s: %s", requirement.Field, requirement.Message)
		}
	}
	submission, err := account.Verification.Complete(ctx)
	if err != nil {
		return err
	}
	p.Step("completed the verification: snapshot %s is %s", submission.SnapshotID, submission.Status)

	// A review by people may take days. A backend does not wait for it: it calls Verification.Get later.
	waiting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	decided, err := account.Verification.WaitDecided(waiting, p.Waiting()...)
	if err != nil {
		return err
	}
	p.Step("the verification is %s", decided.Status)
	return nil
}

// openRail lists the client's rails and opens one. The list is authoritative: it depends on the client's residency and
// verification, on the integrator's agreement, and on the banking partner.
func openRail(ctx context.Context, p *program.Program, account *dapi.Account) error {
	p.Step("payers can send money to the client over these rails:")
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
	p.Step("requested the rail %s %s, which is %s", opened.Method, opened.Currency, opened.Status)
	active, err := account.Rails.WaitActive(ctx, opened.Method, opened.Currency, p.Waiting()...)
	if err != nil {
		return err
	}
	p.Step("virtual account %s is open; a payer needs this:", active.VirtualAccount.ID)
	return p.Requisites(active.VirtualAccount.Requisites)
}
