package contrary_test

import (
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// flow is what a program does with the SDK.
type flow struct {
	name  string
	run   func(*world)
	money bool // it moves some
}

// flows are in the order in which a case prefers them: those that move money first.
var flows = []flow{
	{"pay", (*world).pay, true},
	{"book and confirm", (*world).bookAndConfirm, true},
	{"pay in doubt", (*world).payInDoubt, true},
	{"escrow", (*world).escrow, true},
	{"escrow refund", (*world).escrowRefund, true},
	{"payin from a chain", (*world).payinFromChain, true},
	{"payin from a bank", (*world).payinFromBank, true},
	{"transfer", (*world).transfer, true},
	{"ledger", (*world).ledger, true},
	{"app payin from a bank", (*world).appPayin, false},
	{"login", (*world).login, false},
	{"client", (*world).client, false},
	{"verification", (*world).verification, false},
	{"contacts", (*world).contacts, false},
	{"invoice", (*world).invoices, false},
	{"contract", (*world).contracts, false},
	{"card", (*world).cards, false},
	{"account", (*world).account, false},
	{"app contacts", (*world).appContacts, false},
	{"reference", (*world).referenceEndpoints, false},
	{"public", (*world).publicUtilities, false},
}

// funded credits the account, past the contrary host, and saves a contact of each kind.
func (w *world) funded() (wallet, bank dapi.ContactID) {
	w.Helper()
	must(w.plain.self.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("100"), Currency: dapi.USDC}))(w)
	return w.saved(toWallet()), w.saved(toBank())
}

func (w *world) saved(account dapi.ContactAccount) dapi.ContactID {
	w.Helper()
	return must(w.plain.self.Contacts.Create(w.Context(), dapi.ContactCreate{Name: "Bob", Account: account}))(w).ID
}

func toWallet() dapi.ContactAccount {
	return dapi.Onchain(dapi.OnchainAccount{WalletAddress: payee, ChainID: "base", Currency: "USDC"})
}

func toBank() dapi.ContactAccount {
	return dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", AccountHolderName: "Bob Roe"})
}

const fundings = "payout_funding"

func (w *world) pay() {
	wallet, bank := w.funded()
	for i, key := range []moneymovement.Key{"wallet", "bank"} {
		to := []dapi.ContactID{wallet, bank}[i]
		asked := dapi.PayoutCreate{ContactID: to, Amount: amount("5"), Currency: dapi.USDC,
			DocumentIDs: []string{"doc_1"}}
		var paid dapi.Payment
		if !w.once(fundings, func() (err error) {
			paid, err = w.self.Payouts.Pay(w.Context(), asked, key, dapi.PayTerms{})
			return err
		}) {
			return
		}
		if _, err := w.self.Payouts.Get(w.Context(), paid.Payout.ID); !w.ok(err) {
			return
		}
		if _, err := w.self.Payouts.Wait(w.Context(), paid.Payout.ID); !w.waited(err) {
			return
		}
	}
}

func (w *world) bookAndConfirm() {
	wallet, _ := w.funded()
	asked := dapi.PayoutCreate{ContactID: wallet, Amount: amount("5"), Currency: dapi.USDC, FromChainID: 8453,
		ToChainID: 8453}
	var paid *dapi.Payout
	if !w.once(fundings, func() error {
		booked, err := w.self.Payouts.Book(w.Context(), asked, moneymovement.IdempotencyKey("book"))
		if err != nil {
			return err
		}
		if paid = booked; w.movements(fundings) > 0 {
			return nil // the replayed booking is of the payout that is funded
		}
		paid, err = w.self.Payouts.Confirm(w.Context(), asked, booked)
		return err
	}) {
		return
	}
	id := must(w.plain.self.Payouts.Get(w.Context(), paid.ID))(w).ID
	_, err := w.self.Sandbox.SetPayoutStatus(w.Context(), id, dapi.PayoutStatusCompleted)
	w.ok(err)
}

// payInDoubt loses the response to the confirm, so that the payment has to be settled.
func (w *world) payInDoubt() {
	wallet, _ := w.funded()
	asked := dapi.PayoutCreate{ContactID: wallet, Amount: amount("5"), Currency: dapi.USDC}
	w.host.Arm("POST", "/dapi/v1/payouts/*/confirm", sandbox.DropAfterCommit().Times(4))
	w.once(fundings, func() error {
		_, err := w.self.Payouts.Pay(w.Context(), asked, "doubt", dapi.PayTerms{})
		return err
	})
}

func (w *world) newEscrow() dapi.EscrowCreate {
	w.Helper()
	must(w.plain.self.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("100"), Currency: dapi.USDC}))(w)
	return dapi.EscrowCreate{Amount: amount("5"), Currency: dapi.USDC, Payee: payee, HoldFor: "1d", Memo: "an escrow"}
}

// openEscrow opens an escrow, and gives its id as the host knows it.
func (w *world) openEscrow(terms dapi.EscrowCreate) (id dapi.EscrowID, opened bool) {
	opened = w.once("escrow_active", func() error {
		escrow, err := w.self.Escrows.Open(w.Context(), terms, "open", dapi.EscrowTerms{})
		if err == nil {
			id = escrow.Escrow.ID
		}
		return err
	})
	return id, opened
}

func (w *world) escrow() {
	terms := w.newEscrow()
	id, opened := w.openEscrow(terms)
	if !opened || !w.once("escrow_released", func() error {
		_, err := w.self.Escrows.Act(w.Context(), terms, id, dapi.EscrowActionTypeRelease, "release",
			dapi.EscrowTerms{})
		return err
	}) {
		return
	}
	_, err := w.self.Escrows.Sync(w.Context(), id)
	w.ok(err)
}

func (w *world) escrowRefund() {
	terms := w.newEscrow()
	id, opened := w.openEscrow(terms)
	if !opened {
		return
	}
	w.pass(25 * time.Hour)
	w.once("escrow_refunded", func() error {
		_, err := w.self.Escrows.Act(w.Context(), terms, id, dapi.EscrowActionTypeRefund, "refund",
			dapi.EscrowTerms{})
		return err
	})
}

func (w *world) payinFromChain() {
	payin, err := w.self.Payins.Create(w.Context(),
		dapi.PayinCreate{Amount: amount("5"), Currency: "USDC", OriginChainID: 1, MaxAmount: amount("6")})
	if w.ok(err) {
		w.payIn(w.self, payin.ID)
	}
}

// payIn follows a payin to its end.
func (w *world) payIn(account *dapi.Account, id dapi.PayinID) {
	w.Helper()
	_, err := account.Payins.Instructions(w.Context(), id)
	if !w.ok(err) || !w.once("payin", func() error {
		_, err := account.Sandbox.CompletePayin(w.Context(), id, moneymovement.IdempotencyKey("complete"))
		return err
	}) {
		return
	}
	_, err = account.Payins.Get(w.Context(), id)
	w.ok(err)
}

// ready is a client that was created and verified past the contrary host.
func (w *world) ready() dapi.ClientID {
	w.Helper()
	client := must(w.plain.platform.Clients.Create(w.Context(),
		dapi.ClientCreate{Email: "acme@example.com", Type: dapi.ClientTypeBusiness, EntityName: "Acme"}))(w)
	must(w.plain.platform.Clients.WaitReady(w.Context(), client.ID))(w)
	return client.ID
}

// applicant is what the verification asks for.
func (w *world) applicant(id dapi.ClientID) map[string]any {
	w.Helper()
	applicant := map[string]any{}
	for _, missing := range must(w.plain.platform.For(id).Verification.Get(w.Context()))(w).Requirements {
		if missing.Field != "documentIds" {
			applicant[strings.TrimPrefix(missing.Field, "applicant.")] = "as asked"
		}
	}
	applicant["legalName"], applicant["registrationNumber"], applicant["country"] = "Acme", "HRB 1", "DE"
	return applicant
}

func (w *world) verification() {
	id := w.ready()
	acme, information := w.platform.For(id), dapi.KYBInformation{Applicant: w.applicant(id),
		DocumentIDs: []string{"doc_1", "doc_2"}}
	_, err := acme.Verification.Get(w.Context())
	if !w.ok(err) {
		return
	}
	if _, err = acme.Verification.Save(w.Context(), information); !w.ok(err) {
		return
	}
	if _, err = acme.Verification.Complete(w.Context()); !w.ok(err) {
		return
	}
	w.pass(24 * time.Hour)
	_, err = acme.Verification.WaitDecided(w.Context())
	w.waited(err)
}

func (w *world) payinFromBank() {
	id := w.ready()
	plain := w.plain.platform.For(id)
	must(plain.Verification.Save(w.Context(),
		dapi.KYBInformation{Applicant: w.applicant(id), DocumentIDs: []string{"doc_1", "doc_2"}}))(w)
	must(plain.Verification.Complete(w.Context()))(w)
	w.pass(24 * time.Hour)
	must(plain.Verification.WaitDecided(w.Context()))(w)
	acme := w.platform.For(id)
	_, err := acme.Rails.List(w.Context(), dapi.ListRailsParams{})
	if !w.ok(err) {
		return
	}
	if _, err = acme.Rails.Open(w.Context(),
		dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"}); !w.ok(err) {
		return
	}
	if _, err = acme.Rails.WaitActive(w.Context(), dapi.BankMethodSEPA, "EUR"); !w.waited(err) {
		return
	}
	rail := must(plain.Rails.WaitActive(w.Context(), dapi.BankMethodSEPA, "EUR"))(w)
	payin, err := acme.Payins.Create(w.Context(),
		dapi.PayinCreate{Amount: amount("50"), Currency: "EUR", BankID: rail.VirtualAccount.ID})
	if w.ok(err) {
		w.payIn(acme, payin.ID)
	}
}

func (w *world) ledger() {
	_, err := w.self.Sandbox.Treasury(w.Context())
	if !w.ok(err) || !w.once("deposit", func() error {
		_, err := w.self.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("5"), Currency: dapi.USDC},
			moneymovement.IdempotencyKey("credit"))
		return err
	}) {
		return
	}
	for _, err := range w.self.Transactions.All(w.Context(),
		dapi.ListTransactionsParams{Type: dapi.TransactionTypeDeposit, Since: time.Now().Add(-time.Hour)}) {
		if !w.ok(err) {
			return
		}
	}
	for _, err := range w.self.Chains.All(w.Context(), dapi.ListChainsParams{}) {
		if !w.ok(err) {
			return
		}
	}
}

// login logs in anew, and refreshes when the access token has expired.
func (w *world) login() {
	w.key.Store = nil
	fresh := w.open(&inprocess.Transport{Handler: w.contrary}, w.key)
	for range 2 {
		if _, err := fresh.self.Chains.List(w.Context(), dapi.ListChainsParams{}); !w.ok(err) {
			return
		}
		w.pass(61 * time.Minute)
	}
}

func (w *world) client() {
	for _, asked := range []dapi.ClientCreate{
		{Email: "acme@example.com", Type: dapi.ClientTypeBusiness, EntityName: "Acme", Country: "DE"},
		{Email: "ann@example.com", Type: dapi.ClientTypeIndividual, FirstName: "Ann", LastName: "Roe"},
	} {
		client, err := w.platform.Clients.Create(w.Context(), asked)
		if !w.ok(err) {
			return
		}
		if _, err = w.platform.Clients.WaitReady(w.Context(), client.ID); !w.waited(err) {
			return
		}
	}
}

func (w *world) contacts() {
	for _, asked := range []dapi.ContactCreate{
		{Name: "Bob", Account: toWallet(), Address: &dapi.PostalAddress{StreetAddress: "Main Street 1",
			AddressLine2: "Floor 2", City: "Berlin", State: "BE", Country: "DE", Zip: "10115"}},
		{Name: "Bob", Account: toBank()},
		{Name: "Bob", Account: dapi.EmailContact(w.key.Email)},
		{Name: "Bob",
			Account: dapi.PIX(dapi.BankFields{PIXKey: "bob@example.com", PIXKeyType: dapi.PIXKeyTypeEmail,
				AccountHolderName: "Bob Roe"})},
		// with blockers
		{Name: "Bob", Account: dapi.SEPA(dapi.BankFields{AccountHolderName: "Bob Roe"})},
	} {
		contact, err := w.self.Contacts.Create(w.Context(), asked)
		if !w.ok(err) {
			return
		}
		if _, err = w.self.Contacts.Update(w.Context(), contact.ID,
			from[dapi.ContactUpdate](w, `{"isExternal":true}`)); !w.ok(err) {
			return
		}
		if _, err = w.self.Contacts.Capabilities(w.Context(), contact.ID); !w.ok(err) {
			return
		}
		if !w.ok(w.self.Contacts.Delete(w.Context(), contact.ID)) {
			return
		}
	}
}
