package dapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// A client needs an approved verification for a rail. An open rail has requisites: the account details for the payer.
func ExampleRails_Open() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: "acme@example.com"})
	if err != nil {
		log.Fatal(err)
	}
	acme := platform.For(client.ID)

	rail := dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"}
	_, err = acme.Rails.Open(ctx, rail)
	var unmet *errors.RailRequirementsUnmet
	if errors.As(err, &unmet) {
		fmt.Println("not yet:", unmet.Blockers[0].Code)
	}

	_, err = acme.Verification.Save(ctx, dapi.KYBInformation{
		Applicant:   dapi.Applicant{LegalName: "Example Trading", Country: "DE"}.Map(),
		DocumentIDs: []string{"doc_registration"},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = acme.Verification.Complete(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err = acme.Verification.WaitDecided(ctx); err != nil {
		log.Fatal(err)
	}

	if _, err = acme.Rails.Open(ctx, rail); err != nil {
		log.Fatal(err)
	}
	active, err := acme.Rails.WaitActive(ctx, rail.Method, rail.Currency)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(active.Status, active.VirtualAccount.Requisites.IBAN != "")
	// Output:
	// not yet: verification_not_completed
	// active true
}

// Save returns the names of the fields that are still missing. Complete submits the saved information for review.
func ExampleVerification_Save() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	client, err := platform.Clients.Create(ctx,
		dapi.ClientCreate{Email: "acme@example.com", EntityName: "Example Trading"})
	if err != nil {
		log.Fatal(err)
	}
	acme := platform.For(client.ID)

	for _, information := range []dapi.KYBInformation{
		{Applicant: dapi.Applicant{LegalName: "Example Trading"}.Map()},
		{Applicant: dapi.Applicant{Country: "DE"}.Map(), DocumentIDs: []string{"doc_registration"}},
	} {
		saved, err := acme.Verification.Save(ctx, information)
		if err != nil {
			log.Fatal(err)
		}
		for _, requirement := range saved.Requirements {
			fmt.Println("still missing:", requirement.Field)
		}
	}
	submitted, err := acme.Verification.Complete(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(submitted.Status)
	// Output:
	// still missing: applicant.country
	// still missing: documentIds
	// under_review
}
