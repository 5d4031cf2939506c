package dapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// Save reports what is still missing. Complete sends what was saved to review.
func ExampleVerification_Save() {
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

	saved, err := acme.Verification.Save(ctx, dapi.KYBSave{
		Applicant: map[string]any{"legalName": "Example Trading", "country": "DE"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, missing := range saved.Requirements {
		fmt.Println("missing:", missing.Field)
	}

	_, err = acme.Verification.Save(ctx, dapi.KYBSave{
		Applicant:   map[string]any{"legalName": "Example Trading", "country": "DE"},
		DocumentIDs: []string{"doc_registration"},
	})
	if err != nil {
		log.Fatal(err)
	}
	submission, err := acme.Verification.Complete(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(submission.Status)
	// Output:
	// missing: documentIds
	// under_review
}

// A client needs an approved verification for a rail. An open rail has requisites: what a payer needs to send money.
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

	rail := dapi.RailOpen{Method: dapi.BankMethodSEPA, Currency: "EUR"}
	_, err = acme.Rails.Open(ctx, rail)
	var unmet *errors.RailRequirementsUnmet
	if errors.As(err, &unmet) {
		fmt.Println("not yet:", unmet.Blockers[0].Code)
	}

	_, err = acme.Verification.Save(ctx, dapi.KYBSave{
		Applicant:   map[string]any{"legalName": "Example Trading", "country": "DE"},
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
