package appapi_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// A person sees the price first. The quote is then paid by its id, within two minutes.
func ExampleQuotes_Payout() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	landlord, err := app.Contacts.Create(ctx, appapi.ContactCreate{
		Name: "Landlord",
		Account: appapi.Onchain(model.OnchainAccount{
			WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "base", Currency: "USDC",
		}),
	})
	if err != nil {
		log.Fatal(err)
	}

	quote, err := app.Quotes.Payout(ctx, appapi.BalancePayoutQuote{
		ContactID: landlord.ID, Amount: decimal.NewFromInt(60),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("pay", quote.SourceAmount, quote.SourceCurrency, "with a fee of", quote.Fee)

	receipt, err := app.Transfers.Send(ctx, appapi.ToQuote{QuoteID: quote.QuoteID, Memo: "Rent"},
		moneymovement.DeriveKey("rent", "2026-11"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sent:", receipt.TxHash != "")
	// Output:
	// pay 60 USDC with a fee of 0
	// sent: true
}

// A bank transfer to the balance is priced first. SubmitPayin accepts the price.
func ExampleQuotes_SubmitPayin() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	app, err := appapi.New(server.URL, appapi.NewAPIKey(server.APIKey))
	if err != nil {
		log.Fatal(err)
	}
	banks, err := app.Banks.Activate(ctx, []string{"sepa"})
	if err != nil {
		log.Fatal(err)
	}
	account := slices.IndexFunc(banks, func(bank appapi.Bank) bool { return bank.BankAccountID != "" })
	if account < 0 {
		log.Fatal("no bank account is open yet")
	}

	quote, err := app.Quotes.PayinFromBank(ctx, appapi.BankPayinQuote{
		Amount: decimal.NewFromInt(50), BankAccountID: banks[account].BankAccountID,
	})
	if err != nil {
		log.Fatal(err)
	}
	payment, err := app.Quotes.SubmitPayin(ctx, quote.QuoteID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(payment.FromAmount, payment.FromCurrency, payment.Status)
	// Output: 50 EUR awaiting_funds
}
