package dapi_test

import (
	"context"
	"fmt"
	"log"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
)

// Each bank method has a constructor, which takes the fields that the method probably uses.
func ExampleContacts_Create_bankAccounts() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	account := platform.Self()

	bob := dapi.AccountHolder{Name: "Bob Roe"}
	for _, to := range []dapi.ContactAccount{
		dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000", Holder: bob}),
		dapi.ACH(dapi.RoutingAccount{AccountNumber: "000123456789", RoutingNumber: "021000021", Holder: bob}),
		dapi.PIX(dapi.PIXAccount{PIXKey: "bob@example.com", PIXKeyType: dapi.PIXKeyTypeEmail, Holder: bob}),
		dapi.PHPEwallet(dapi.PhoneWallet{PhoneNumber: "+63 900 000 0000", Holder: bob}),
		dapi.INRUPI(dapi.KeyAccount{Holder: bob}), // the key is missing
	} {
		contact, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob", Account: to})
		if err != nil {
			log.Fatal(err)
		}
		capabilities, err := account.Contacts.Capabilities(ctx, contact.ID) // the service decides
		if err != nil {
			log.Fatal(err)
		}
		for _, method := range capabilities.Methods {
			fmt.Println("paid by", method.Method, "in", method.Currency)
		}
		for _, blocker := range capabilities.Blockers {
			fmt.Println("not yet:", blocker.Code, blocker.Field)
		}
	}
	// Output:
	// paid by sepa in EUR
	// paid by ach in USD
	// paid by pix in BRL
	// paid by php_ewallet in PHP
	// not yet: account_detail_missing paymentKey
}

// To set a field that an account type lacks, convert it to a BankAccount, which has the fields of all methods.
func ExampleBank() {
	account := dapi.RoutingAccount{AccountNumber: "000123456789", RoutingNumber: "021000021"}.BankAccount()
	account.HolderIDNumber = "X0000000"
	account.Currency = "USD"
	to := dapi.Bank(dapi.BankMethodFedwire, account)
	fmt.Println(to.Variant().(dapi.BankAccount).AccountType)
	// Output: fedwire
}

// A self-serve developer has no clients: all calls act for the developer's own account.
func ExampleNewSelfServe() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	entries, err := account.Transactions.List(context.Background(), dapi.ListTransactionsParams{Limit: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(entries.Items), "entries in the ledger")
	// Output: 0 entries in the ledger
}
