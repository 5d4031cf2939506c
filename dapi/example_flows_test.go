package dapi_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/recorded"
	"github.com/moneymovement/moneymovement-go/model"
)

// OnProgress reports each read of a wait. If the context ends first, the error has the last status. Wait again later.
func ExamplePayouts_Wait() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	payment, err := payBob(ctx, account)
	if err != nil {
		log.Fatal(err)
	}

	impatient, cancel := context.WithCancel(ctx)
	defer cancel()
	// one read is enough for now
	_, err = account.Payouts.Wait(impatient, payment.Payout.ID,
		moneymovement.OnProgress(func(moneymovement.Progress) { cancel() }))
	var pending *moneymovement.StillPending
	if errors.As(err, &pending) {
		fmt.Println("still", pending.Status)
	}

	server.Advance(2 * time.Hour)
	payout, err := account.Payouts.Wait(ctx, payment.Payout.ID,
		moneymovement.PollEvery(time.Second, 30*time.Second),
		moneymovement.OnProgress(func(p moneymovement.Progress) { fmt.Println("read", p.Reads, "says", p.Status) }))
	if err != nil {
		log.Fatal(err) // *dapi.PayoutNotCompleted: the payout failed, was refunded or expired
	}
	fmt.Println(payout.Status)
	// Output:
	// still funding
	// read 1 says completed
	// completed
}

// A wallet on another chain is paid by the same call. The price says how much arrives there.
func ExamplePayouts_Book_crossChain() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	bob, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob", Account: dapi.Onchain(dapi.OnchainAccount{
		WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7", ChainID: "arbitrum", Currency: "USDT",
	})})
	if err != nil {
		log.Fatal(err)
	}
	payout, err := account.Payouts.Book(ctx, dapi.PayoutCreate{ContactID: bob.ID,
		Amount: decimal.RequireFromString("25"), Currency: dapi.USDC, FromChainID: 8453, ToChainID: 42161},
		moneymovement.IdempotencyKey("invoice-42"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(payout.Quote.DestinationAmount, payout.Quote.DestinationCurrency)
	// Output: 24.7 USDT
}

func payBob(ctx context.Context, account *dapi.SelfServe) (dapi.Payment, error) {
	if _, err := account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.RequireFromString("100"),
		Currency: dapi.USDC}); err != nil {
		return dapi.Payment{}, err
	}
	bob, err := account.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob",
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Bob Roe"}})})
	if err != nil {
		return dapi.Payment{}, err
	}
	return account.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: bob.ID, Amount: decimal.RequireFromString("25"),
		Currency: dapi.USDC}, "invoice-42", dapi.PayTerms{})
}

// An update changes the fields that are set, clears the fields that are null, and does not change the others.
func ExampleContacts_Update() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	bob, err := account.Contacts.Create(ctx, dapi.ContactCreate{
		Name: "Bob", Currency: "EUR", Address: &dapi.PostalAddress{City: "Berlin", Country: "DE"},
		Account: dapi.SEPA(dapi.IBANAccount{IBAN: "DE89370400440532013000",
			Holder: dapi.AccountHolder{Name: "Bob Roe"}}),
	})
	if err != nil {
		log.Fatal(err)
	}

	changed, err := account.Contacts.Update(ctx, bob.ID, dapi.ContactUpdate{
		IsExternal: model.Set(true),                  // set
		Address:    model.Null[dapi.PostalAddress](), // cleared
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(changed.Name, changed.IsExternal, changed.Address)
	// Output: Bob true <nil>
}

// Open holds money for a deal, and Act releases it to the payee. Both compare the approval with the deal's terms before
// the key signs.
func ExampleEscrows_Open() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = account.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.RequireFromString("100"),
		Currency: dapi.USDC}); err != nil {
		log.Fatal(err)
	}

	terms := dapi.EscrowCreate{
		Amount: decimal.RequireFromString("40"), Currency: dapi.USDC,
		Payee:   "0x52908400098527886E0F7030069857D2E4169EE7",
		HoldFor: dapi.EscrowDurationOf(7 * 24 * time.Hour),
	}
	deal, err := account.Escrows.Open(ctx, terms, "order-7", dapi.DealTerms{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(deal.State, deal.Escrow.Status, deal.Escrow.AvailableActions)

	deal, err = account.Escrows.Act(ctx, terms, deal.Escrow.ID, dapi.EscrowActionTypeRelease, "order-7-release",
		dapi.DealTerms{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(deal.State) // the chain is read at most once in 15 seconds: see Escrows.Wait
	// Output:
	// paid active [release]
	// paid
}

// A payin has a price for money from another chain. The payer gets instructions, and Wait polls until the money has
// arrived.
func ExamplePayins_Create() {
	server := recorded.Serve() // stands for the service
	defer server.Close()
	ctx := context.Background()
	account, err := dapi.NewSelfServe(server.URL, dapi.Developer{Email: server.Email, Key: server.Key})
	if err != nil {
		log.Fatal(err)
	}
	payin, err := account.Payins.Create(ctx, dapi.PayinCreate{Amount: decimal.RequireFromString("40"), Currency: "USDC",
		OriginChainID: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(payin.Quote.SourceAmount, payin.Quote.SourceCurrency, "arrive as", payin.Quote.DestinationAmount,
		payin.Quote.DestinationCurrency)
	instructions, err := account.Payins.Instructions(ctx, payin.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the payer sends them to a wallet:", instructions.Requisites.WalletAddress != "")

	if _, err = account.Sandbox.CompletePayin(ctx, payin.ID); err != nil { // in a sandbox, no payer sends the money
		log.Fatal(err)
	}
	if payin, err = account.Payins.Wait(ctx, payin.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(payin.Status)
	// Output:
	// 40 USDC arrive as 39.7 USDC
	// the payer sends them to a wallet: true
	// completed
}
