package dapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Most of these examples are compiled and not run: they would need a service.

// developer is loaded as in the example of the package.
var developer dapi.Developer

// An integrator creates a client, credits it in the sandbox, and pays a supplier in one call.
func Example() {
	ctx := context.Background()
	key, err := signing.LoadDeveloperKey("developer.pem")
	if err != nil {
		log.Fatal(err)
	}
	platform, err := dapi.NewIntegrator("https://sandbox.example", dapi.Developer{Email: "ops@example.com", Key: key})
	if err != nil {
		log.Fatal(err)
	}
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	if err != nil {
		log.Fatal(err)
	}
	if _, err = platform.Clients.WaitReady(ctx, client.ID); err != nil {
		log.Fatal(err)
	}
	acme := platform.For(client.ID)
	if _, err = acme.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: decimal.RequireFromString("100"),
		Currency: dapi.USDC}); err != nil {
		log.Fatal(err)
	}

	bob, err := acme.Contacts.Create(ctx, dapi.ContactCreate{
		Name: "Bob",
		Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
			AccountHolderName: "Bob Roe"}),
	})
	if err != nil {
		log.Fatal(err)
	}
	fee := decimal.NewFromInt(1)
	payment, err := acme.Payouts.Pay(ctx, dapi.PayoutCreate{
		ContactID: bob.ID, Amount: decimal.RequireFromString("25"), Currency: dapi.USDC, PaymentReference: "Invoice 42",
	}, "invoice-42", dapi.PayTerms{Bounds: dapi.Bounds{MaxFee: &fee}})
	if err != nil { // for the states of a payment, see the example of Payouts.Pay
		log.Fatal(err)
	}
	payout, err := acme.Payouts.Wait(ctx, payment.Payout.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(payout.Status, payout.Quote.DestinationAmount, payout.Quote.DestinationCurrency)
}

// A self-serve developer has no clients: all calls act for the developer's own account.
func ExampleNewSelfServe() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	entries, err := account.Transactions.List(context.Background(), dapi.ListTransactionsParams{Limit: 10})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(entries.Items), "entries in the ledger")
}

// A program that starts again uses the session of its last run and does not log in.
func ExampleNewFileTokenStore() {
	developer.Store = dapi.NewFileTokenStore("/var/lib/acme/session")
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = account.Chains.List(context.Background(), dapi.ListChainsParams{}); err != nil {
		log.Fatal(err)
	}
}

// A new client can hold and pay money when it is ready. It then has a wallet on the Base chain.
func ExampleClients_Create() {
	ctx := context.Background()
	platform, err := dapi.NewIntegrator("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{
		Email: "acme@example.com", EntityName: "Example Trading", Country: "DE",
	})
	if err != nil {
		log.Fatal(err)
	}
	if client, err = platform.Clients.WaitReady(ctx, client.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(client.Status, client.BaseSmartWallet)
}

// Save returns the names of the fields that are still missing. Complete submits the saved information for review.
func ExampleVerification_Save() {
	ctx := context.Background()
	platform, err := dapi.NewIntegrator("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	acme := platform.For("cli_acme")
	saved, err := acme.Verification.Save(ctx, dapi.KYBInformation{
		Applicant:   dapi.Applicant{LegalName: "Example Trading", Country: "DE"}.Map(),
		DocumentIDs: []string{"doc_registration"},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, requirement := range saved.Requirements {
		fmt.Println("still missing:", requirement.Field)
	}
	if _, err = acme.Verification.Complete(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err = acme.Verification.WaitDecided(ctx); err != nil {
		log.Fatal(err)
	}
}

// A client needs an approved verification for a rail. An open rail has requisites: the account details for the payer.
func ExampleRails_Open() {
	ctx := context.Background()
	platform, err := dapi.NewIntegrator("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	acme := platform.For("cli_acme")
	_, err = acme.Rails.Open(ctx, dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
	var unmet *errors.RailRequirementsUnmet
	switch {
	case errors.As(err, &unmet):
		log.Fatal("not yet: ", unmet.Blockers[0].Code)
	case err != nil:
		log.Fatal(err)
	}
	rail, err := acme.Rails.WaitActive(ctx, dapi.BankMethodSEPA, "EUR")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rail.VirtualAccount.Requisites.IBAN)
}

// The list of chains says which tokens a payout or a payin can use, and how many decimals an amount may have.
func ExampleChains_Live() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	chains, err := account.Chains.Live(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, chain := range chains {
		for _, token := range chain.Tokens {
			fmt.Println(chain.Name, chain.ChainID, token.Symbol, token.Decimals)
		}
	}
}

// BankAccount takes the fields of any bank method. The most usual methods have a short form, such as SEPA.
func ExampleBankAccount() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	const bob = "Bob Roe"
	for _, to := range []dapi.ContactAccount{
		dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", AccountHolderName: bob}),
		dapi.ACH(dapi.BankFields{AccountNumber: "000123456789", RoutingNumber: "021000021", AccountHolderName: bob}),
		dapi.PIX(dapi.BankFields{PIXKey: "bob@example.com", PIXKeyType: dapi.PIXKeyTypeEmail, AccountHolderName: bob}),
		dapi.BankAccount(dapi.BankMethodPHPEwallet, dapi.BankFields{PhoneNumber: "+63 900 000 0000",
			AccountHolderName: bob}),
	} {
		contact, err := account.Contacts.Create(context.Background(), dapi.ContactCreate{Name: "Bob", Account: to})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(contact.ID)
	}
}

// Before a payout, Capabilities reports whether and how a contact can be paid.
func ExampleContacts_Capabilities() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	capabilities, err := account.Contacts.Capabilities(context.Background(), "ct_bob")
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

// An update changes the fields that are set, clears the fields that are null, and does not change the others.
func ExampleContacts_Update() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	changed, err := account.Contacts.Update(context.Background(), "ct_bob", dapi.ContactUpdate{
		IsExternal: model.Set(true),                  // set
		Address:    model.Null[dapi.PostalAddress](), // cleared
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(changed.Name, changed.IsExternal)
}

// MissingFields names what the method of a bank account probably needs besides. It refuses nothing.
func ExampleContactAccount_MissingFields() {
	to := dapi.ACH(dapi.BankFields{AccountNumber: "000123456789", AccountHolderName: "Bob Roe"})
	fmt.Println(to.MissingFields())
	fmt.Println(dapi.SWIFT(dapi.BankFields{}).MissingFields())
	// Output:
	// [routingNumber]
	// [bic accountNumber or iban]
}

// Journal stores the history of the key before Pay signs, and so the program knows after a restart what an earlier call
// may have done. One switch handles every state.
func ExamplePayouts_Pay() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	const key moneymovement.Key = "invoice-43"
	store := map[moneymovement.Key]dapi.History{} // stands for your database
	fee := decimal.NewFromInt(1)
	payment, err := account.Payouts.Pay(context.Background(),
		dapi.PayoutCreate{ContactID: "ct_bob", Amount: decimal.RequireFromString("25"), Currency: dapi.USDC}, key,
		dapi.PayTerms{
			Bounds:  dapi.Bounds{MaxFee: &fee},
			History: store[key],
			Journal: func(_ context.Context, history dapi.History) error {
				store[key] = history
				return nil
			},
		})
	store[key] = payment.History
	switch payment.State {
	case moneymovement.PaymentPaid:
		fmt.Println("paid by", payment.Payout.ID)
	case moneymovement.PaymentNotPaid:
		fmt.Println("later, call Pay again:", err)
	case moneymovement.PaymentNeedsDecision:
		var reused *errors.IdempotencyKeyReused
		if errors.As(payment.Refusal, &reused) {
			fmt.Println("the key was used for other terms, by", reused.PayoutID)
		}
		var blocked *errors.ContactNotPayable
		if errors.As(err, &blocked) {
			fmt.Println("a person has to look:", blocked.Blockers[0].Code, blocked.Blockers[0].Field)
		}
	case moneymovement.PaymentEnded:
		fmt.Println("to pay, use a new key:", err)
	default: // in doubt
		fmt.Println("later, call Pay again with the same key and terms:", err)
	}
}

// A person sees the price before the key signs. The price and the approval are valid for two minutes.
func ExamplePayouts_Confirm() {
	ctx := context.Background()
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	asked := dapi.PayoutCreate{ContactID: "ct_bob", Amount: decimal.RequireFromString("25"), Currency: dapi.USDC}
	booked, err := account.Payouts.Book(ctx, asked, moneymovement.IdempotencyKey("invoice-42"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Bob gets", booked.Quote.DestinationAmount, booked.Quote.DestinationCurrency, "for",
		booked.Quote.SourceAmount, booked.Quote.SourceCurrency, "with a fee of", booked.Quote.Fee)

	// The person said yes.
	confirmed, err := account.Payouts.Confirm(ctx, asked, booked)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(confirmed.Status)
}

// A wallet on another chain is paid by the same call. The price says how much arrives there.
func ExamplePayouts_Book_crossChain() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	payout, err := account.Payouts.Book(context.Background(), dapi.PayoutCreate{ContactID: "ct_wallet_on_arbitrum",
		Amount: decimal.RequireFromString("25"), Currency: dapi.USDC, FromChainID: 8453, ToChainID: 42161},
		moneymovement.IdempotencyKey("invoice-42"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(payout.Quote.DestinationAmount, payout.Quote.DestinationCurrency)
}

// OnProgress reports each read of a wait. If the context ends first, the error has the last status. Wait again later.
func ExamplePayouts_Wait() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	payout, err := account.Payouts.Wait(ctx, "po_42",
		moneymovement.PollEvery(time.Second, 30*time.Second),
		moneymovement.OnProgress(func(p moneymovement.Progress) { fmt.Println("read", p.Reads, "says", p.Status) }))
	var pending *moneymovement.StillPending
	switch {
	case errors.As(err, &pending):
		fmt.Println("still", pending.Status)
	case err != nil:
		log.Fatal(err) // *dapi.PayoutNotCompleted: the payout failed, was refunded or expired
	default:
		fmt.Println(payout.Status)
	}
}

// Open holds money for an escrow, and Act releases it to the payee. Both compare the approval with the escrow's terms
// before the key signs.
func ExampleEscrows_Open() {
	ctx := context.Background()
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	terms := dapi.EscrowCreate{
		Amount: decimal.RequireFromString("40"), Currency: dapi.USDC,
		Payee:   "0x52908400098527886E0F7030069857D2E4169EE7",
		HoldFor: dapi.EscrowDurationOf(7 * 24 * time.Hour),
	}
	escrow, err := account.Escrows.Open(ctx, terms, "order-7", dapi.EscrowTerms{})
	if err != nil {
		log.Fatal(err)
	}
	escrow, err = account.Escrows.Act(ctx, terms, escrow.Escrow.ID, dapi.EscrowActionTypeRelease, "order-7-release",
		dapi.EscrowTerms{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(escrow.State) // the chain is read at most once in 15 seconds: see Escrows.Wait
}

// A payin has a price for money from another chain. The payer gets instructions, and Wait polls until the money has
// arrived.
func ExamplePayins_Create() {
	ctx := context.Background()
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	payin, err := account.Payins.Create(ctx, dapi.PayinCreate{Amount: decimal.RequireFromString("40"), Currency: "USDC",
		OriginChainID: 1})
	if err != nil {
		log.Fatal(err)
	}
	instructions, err := account.Payins.Instructions(ctx, payin.ID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("send", payin.Quote.SourceAmount, "to", instructions.Requisites.WalletAddress)
	if payin, err = account.Payins.Wait(ctx, payin.ID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(payin.Status)
}

// A sandbox host credits an account. With an idempotency key, a repeated call does not credit it again.
func ExampleSandbox_Deposit() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	_, err = account.Sandbox.Deposit(context.Background(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(200), Currency: dapi.USDC},
		moneymovement.IdempotencyKey("first-deposit"))
	var above *errors.AmountAboveMaximum
	if errors.As(err, &above) {
		fmt.Println("one call credits at most", above.MaxCredit)
	}
}

// All reads the ledger page by page, the newest entry first.
func ExampleTransactions_All() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	for entry, err := range account.Transactions.All(context.Background(), dapi.ListTransactionsParams{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Direction, entry.Amount, entry.Currency, entry.Type)
	}
}

// stored is the position in the ledger. It stands for a row of your database.
var stored []byte

// A job reads the changes of the ledger from time to time. It stores the position with its own data, so it gets each
// change once. A payout is one entry: first it is pending, later it is completed.
func ExampleTransactions_Changes() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	var position dapi.LedgerPosition // the zero value is the beginning of the ledger
	if stored != nil {
		if err := json.Unmarshal(stored, &position); err != nil {
			log.Fatal(err)
		}
	}
	for change, err := range account.Transactions.Changes(context.Background(),
		dapi.ChangesParams{Position: position}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(change.Transaction.Type, change.Transaction.Amount, change.Transaction.Status)
		if stored, err = json.Marshal(change.Position); err != nil {
			log.Fatal(err)
		}
	}
}

// A program follows the ledger until its context ends.
func ExampleTransactions_Follow() {
	account, err := dapi.NewSelfServe("https://sandbox.example", developer)
	if err != nil {
		log.Fatal(err)
	}
	since := dapi.ChangesParams{Position: dapi.LedgerPositionAt(time.Now().Add(-24 * time.Hour))}
	for change, err := range account.Transactions.Follow(context.Background(), since,
		moneymovement.PollEvery(time.Second, time.Minute)) {
		if err != nil {
			log.Fatal(err)
		}
		if change.Transaction.Type == dapi.TransactionTypeRefund {
			fmt.Println("the money came back:", change.Transaction.PayoutID)
		}
	}
}

// Signed amounts can be added up: money that left counts as negative.
func ExampleTransaction_Signed() {
	sum := decimal.Zero
	for _, entry := range []dapi.Transaction{
		{Direction: dapi.TransactionDirectionIn, Amount: decimal.NewFromInt(100)},
		{Direction: dapi.TransactionDirectionOut, Amount: decimal.NewFromInt(25)},
	} {
		amount, known := entry.Signed()
		if !known {
			log.Fatal("a direction that this version does not know: ", entry.Direction)
		}
		sum = sum.Add(amount)
	}
	fmt.Println(sum)
	// Output: 75
}
