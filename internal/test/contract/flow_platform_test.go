package contract_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/target"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

const payee = "0x52908400098527886E0F7030069857D2E4169EE7"

// login logs in and refreshes by hand, and once more through the SDK when the host's clock has run past the access
// token.
func (w *world) login() {
	w.step("a challenge and a token, refreshed", func() {
		session := w.session()
		refreshed := session.came(session.caller().Renew(w.Context(),
			target.Session{Access: session.access, Refresh: session.refresh}))
		assert.Equal(w, 201, refreshed.Status, "%s", refreshed.Raw)
		assert.NotEmpty(w, refreshed.Text("accessToken"))
	})
	w.embedded("an expired token is refreshed", func() {
		w.host.Advance(61 * time.Minute)
		ok(w.platform.Self().Chains.List(w.Context(), dapi.ListChainsParams{}))(w)
	})
}

// clients makes one client, whose email is its natural key: the next run finds it again. Clients cannot be deleted.
func (w *world) clients() {
	var acme *dapi.Account
	w.step("create, and wait until ready", func() {
		asked := dapi.ClientCreate{Email: "contract-suite@example.com", Type: dapi.ClientTypeBusiness,
			EntityName: "Contract suite", Country: "DE"}
		client := ok(w.platform.Clients.Create(w.Context(), asked))(w)
		ok(w.platform.Clients.Get(w.Context(), client.ID))(w)
		w.pass()
		client = ok(w.platform.Clients.WaitReady(w.soon(), client.ID))(w)
		assert.NotEmpty(w, client.BaseSmartWallet)
		w.client, acme = client.ID, w.platform.For(client.ID)
	})
	w.step("the same email is the same client", func() {
		again := ok(w.platform.Clients.Create(w.Context(),
			dapi.ClientCreate{Email: "contract-suite@example.com", Type: dapi.ClientTypeBusiness,
				EntityName: "Contract suite", Country: "DE"}))(w)
		assert.Equal(w, w.client, again.ID)
	})
	w.step("inspect the verification", func() { ok(acme.Verification.Get(w.Context()))(w) })
	w.step("list rails", func() {
		assert.NotEmpty(w, ok(acme.Rails.List(w.Context(), dapi.ListRailsParams{Limit: 100}))(w).Items)
	})
	w.embedded("individuals are clients as well", func() {
		ok(w.platform.Clients.Create(w.Context(),
			dapi.ClientCreate{Email: "ann@example.com", Type: dapi.ClientTypeIndividual, FirstName: "Ann",
				LastName: "Roe"}))(w)
	})
	w.step("prepare a verification", func() { w.prepare(acme) })
	w.embedded("verify", func() { w.verify(acme) })
	w.embedded("open a rail, and pay in from a bank", func() { w.payInFromBank(acme) })
	w.embedded("rails of other countries, with their requisites", func() {
		for method, currency := range map[dapi.BankMethod]string{dapi.BankMethodACH: "USD", dapi.BankMethodPIX: "BRL",
			dapi.BankMethodSWIFT: "USD", dapi.BankMethodUKFPS: "GBP"} {
			ok(acme.Rails.Open(w.Context(), dapi.RailCreate{Method: method, Currency: currency}))(w)
		}
		w.pass()
		ok(acme.Rails.List(w.Context(), dapi.ListRailsParams{Limit: 100}))(w)
	})
	w.embedded("a rail whose channel is out of order", func() {
		w.configure(func(s *sandbox.Settings) { s.ChannelsUnavailable = []string{"sepa"} })
		ok(acme.Rails.List(w.Context(), dapi.ListRailsParams{}))(w)
		w.configure(func(s *sandbox.Settings) { s.ChannelsUnavailable = nil })
	})
}

// prepare saves what a verification asks for.
func (w *world) prepare(acme *dapi.Account) {
	applicant := map[string]any{}
	for _, missing := range ok(acme.Verification.Get(w.Context()))(w).Requirements {
		if missing.Field != "documentIds" {
			applicant[strings.TrimPrefix(missing.Field, "applicant.")] = "as asked"
		}
	}
	for name, value := range map[string]any{"legalName": "Contract suite", "registrationNumber": "HRB 1",
		"country": "DE"} {
		applicant[name] = value
	}
	ok(acme.Verification.Save(w.Context(),
		dapi.KYBInformation{Applicant: applicant, DocumentIDs: []string{"doc_1", "doc_2"}}))(w)
}

// verify completes what was prepared. This sends an immutable snapshot for review, so that no real host is bothered
// with it.
func (w *world) verify(acme *dapi.Account) {
	ok(acme.Verification.Complete(w.Context()))(w)
	w.host.Advance(24 * time.Hour)
	assert.Equal(w, model.KYCStatusApproved, ok(acme.Verification.WaitDecided(w.soon()))(w).Status)
}

func (w *world) payInFromBank(acme *dapi.Account) {
	ctx := w.Context()
	ok(acme.Rails.Open(ctx, dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"}))(w)
	w.pass()
	rail := ok(acme.Rails.WaitActive(w.soon(), dapi.BankMethodSEPA, "EUR"))(w)
	require.NotNil(w, rail.VirtualAccount)
	asked := dapi.PayinCreate{Amount: amount("50"), Currency: "EUR", BankID: rail.VirtualAccount.ID,
		MaxAmount: amount("60")}
	payin := ok(acme.Payins.Create(ctx, asked))(w)
	ok(acme.Payins.Instructions(ctx, payin.ID))(w)
	ok(acme.Sandbox.CompletePayin(ctx, payin.ID))(w)
	w.pass()
	assert.Equal(w, dapi.PayinStatusCompleted, ok(acme.Payins.Wait(w.soon(), payin.ID))(w).Status)
}

// payins price a transfer from another chain.
func (w *world) payins() {
	self := w.platform.Self()
	var payin *dapi.Payin
	w.step("quote, and ask for instructions", func() {
		payin = ok(self.Payins.Create(w.Context(),
			dapi.PayinCreate{Amount: w.sum(), Currency: "USDC", OriginChainID: 1}))(w)
		ok(self.Payins.Instructions(w.Context(), payin.ID))(w)
	})
	w.step("read, and complete", func() {
		ok(self.Payins.Get(w.Context(), payin.ID))(w)
		ok(self.Sandbox.CompletePayin(w.Context(), payin.ID))(w)
		ok(self.Payins.Wait(w.soon(), payin.ID))(w)
	})
	w.embedded("a price that nobody used", func() {
		unused := ok(self.Payins.Create(w.Context(),
			dapi.PayinCreate{Amount: w.sum(), Currency: "USDC", OriginChainID: 1}))(w)
		w.host.Advance(3 * time.Minute)
		assert.Equal(w, dapi.PayinStatusExpired, ok(self.Payins.Get(w.Context(), unused.ID))(w).Status)
	})
}

// payouts credit the account once, and pay out of it to a bank and to a wallet.
func (w *world) payouts() {
	self := w.platform.Self()
	to := map[string]dapi.ContactID{}
	w.step("credit the account", func() {
		credit := amount("12")
		if w.host != nil {
			credit = amount("100")
		}
		ok(self.Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: credit, Currency: dapi.USDC}))(w)
		for _, name := range []string{"iban", "wallet"} {
			to[name] = ok(self.Contacts.Create(w.Context(), w.destinations()[name]))(w).ID
		}
	})
	w.step("to a wallet", func() {
		asked := dapi.PayoutCreate{ContactID: to["wallet"], Amount: w.sum(), Currency: dapi.USDC, FromChainID: 8453,
			ToChainID: 8453, PaymentReference: "contract suite"}
		paid := ok(self.Payouts.Pay(w.Context(), asked, w.uniqueKey("payout"), dapi.PayTerms{}))(w).Payout
		w.pass()
		ok(self.Payouts.Get(w.Context(), paid.ID))(w)
		w.pass()
		ok(self.Payouts.Wait(w.soon(), paid.ID))(w)
	})
	w.step("to a bank account", func() {
		asked := dapi.PayoutCreate{ContactID: to["iban"], Amount: w.sum(), Currency: dapi.USDC, Purpose: "test"}
		paid := ok(self.Payouts.Pay(w.Context(), asked, w.uniqueKey("payout"), dapi.PayTerms{}))(w).Payout
		ok(self.Sandbox.SetPayoutStatus(w.Context(), paid.ID, dapi.PayoutStatusCompleted))(w)
		assert.Equal(w, dapi.PayoutStatusCompleted, ok(self.Payouts.Get(w.Context(), paid.ID))(w).Status)
	})
	w.step("the same key is the same payout", func() {
		asked, key := dapi.PayoutCreate{ContactID: to["wallet"], Amount: w.sum(),
			Currency: dapi.USDC}, moneymovement.IdempotencyKey(w.uniqueKey("payout"))
		booked := ok(self.Payouts.Book(w.Context(), asked, key))(w)
		assert.Equal(w, booked.ID, ok(self.Payouts.Book(w.Context(), asked, key))(w).ID)
	})
	w.embedded("that is under way", func() {
		paid := ok(self.Payouts.Pay(w.Context(),
			dapi.PayoutCreate{ContactID: to["iban"], Amount: w.sum(), Currency: dapi.USDC,
				DocumentIDs: []string{"doc_1"}}, w.uniqueKey("payout"), dapi.PayTerms{}))(w).Payout
		w.host.Advance(time.Duration(w.host.Settings().PayoutStepAfter))
		assert.Equal(w, dapi.PayoutStatusProcessing, ok(self.Payouts.Get(w.Context(), paid.ID))(w).Status)
	})
	for _, end := range []dapi.PayoutStatus{dapi.PayoutStatusFailed, dapi.PayoutStatusRefunded} {
		w.embedded("that is "+string(end), func() {
			paid := ok(self.Payouts.Pay(w.Context(),
				dapi.PayoutCreate{ContactID: to["iban"], Amount: w.sum(), Currency: dapi.USDC},
				w.uniqueKey("payout"), dapi.PayTerms{}))(w).Payout
			ok(self.Sandbox.SetPayoutStatus(w.Context(), paid.ID, end))(w)
		})
	}
	w.embedded("that nobody approved", func() {
		booked := ok(self.Payouts.Book(w.Context(),
			dapi.PayoutCreate{ContactID: to["iban"], Amount: w.sum(), Currency: dapi.USDC},
			moneymovement.IdempotencyKey(w.uniqueKey("payout"))))(w)
		w.host.Advance(3 * time.Minute)
		assert.Equal(w, dapi.PayoutStatusExpired, ok(self.Payouts.Get(w.Context(), booked.ID))(w).Status)
	})
}

// escrow opens an escrow, which confirms its approve action, and releases it; a second one is refunded once its hold is
// over.
func (w *world) escrow() {
	self := w.platform.Self()
	open := func() (dapi.EscrowCreate, dapi.EscrowID) {
		terms := dapi.EscrowCreate{Amount: w.sum(), Currency: dapi.USDC, Payee: payee, ApproveWithin: "1h",
			HoldFor: "1d", RefundableFor: "7d", Memo: "contract suite"}
		return terms, ok(self.Escrows.Open(w.Context(), terms, w.uniqueKey("escrow"), dapi.EscrowTerms{}))(w).Escrow.ID
	}
	w.step("open and release", func() {
		terms, escrow := open()
		ok(self.Escrows.Act(w.Context(), terms, escrow, dapi.EscrowActionTypeRelease, w.uniqueKey("action"),
			dapi.EscrowTerms{}))(w)
		w.pass() // so that the chain is read again
		ok(self.Escrows.Sync(w.Context(), escrow))(w)
	})
	w.embedded("open and refund", func() {
		terms, escrow := open()
		w.host.Advance(25 * time.Hour)
		ok(self.Escrows.Act(w.Context(), terms, escrow, dapi.EscrowActionTypeRefund, w.uniqueKey("action"),
			dapi.EscrowTerms{}))(w)
		w.pass()
		assert.Equal(w, dapi.EscrowStatusRefunded, ok(self.Escrows.Sync(w.Context(), escrow))(w).Status)
	})
	w.embedded("that nobody approved", func() {
		escrow := ok(self.Escrows.Create(w.Context(),
			dapi.EscrowCreate{Amount: w.sum(), Currency: dapi.USDC, Payee: payee}))(w)
		w.host.Advance(2 * time.Hour)
		ok(self.Escrows.Sync(w.Context(), escrow.ID))(w)
	})
}

func (w *world) ledger() {
	self := w.platform.Self()
	w.step("chains", func() {
		for _, err := range self.Chains.All(w.Context(), dapi.ListChainsParams{}) {
			w.succeeds(err)
		}
	})
	w.step("every entry, a page at a time", func() {
		count := 0
		for _, err := range self.Transactions.All(w.Context(), dapi.ListTransactionsParams{Limit: 5}) {
			w.succeeds(err)
			if count++; count == 30 {
				break
			}
		}
		assert.Positive(w, count)
	})
	w.step("filtered", func() {
		page := ok(self.Transactions.List(w.Context(), dapi.ListTransactionsParams{Type: dapi.TransactionTypeDeposit,
			Since: time.Now().Add(-time.Hour)}))(w)
		for _, entry := range page.Items {
			assert.Equal(w, dapi.TransactionTypeDeposit, entry.Type)
		}
	})
	w.step("treasury", func() { assert.True(w, ok(self.Sandbox.Treasury(w.Context()))(w).MaxCredit.IsPositive()) })
}

func postal() *dapi.PostalAddress {
	return &dapi.PostalAddress{StreetAddress: "Main Street 1", AddressLine2: "Floor 2", City: "Berlin", State: "BE",
		Country: "DE", Zip: "10115"}
}

// destinations are one contact of each variant; those of a bank differ in their fields.
func (w *world) destinations() map[string]dapi.ContactCreate {
	return map[string]dapi.ContactCreate{
		"iban": {Name: "Contract suite",
			Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000", BIC: "TESTDEFF",
				BankName: "Licensed bank",
				BankAddress: &dapi.InstitutionAddress{AddressLine1: "Main Street 1", City: "Berlin",
					Country: "DE"},
				AccountHolderName: "Bob Roe", AccountHolderType: model.AccountHolderTypeIndividual})},
		"pix key": {Name: "Contract suite", Account: dapi.PIX(dapi.BankFields{
			PIXKey: "bob@example.com", PIXKeyType: dapi.PIXKeyTypeEmail,
			AccountHolderName: "Bob Roe", AccountHolderType: model.AccountHolderTypeBusiness,
		})},
		"account number": {Name: "Contract suite", Account: dapi.ACH(dapi.BankFields{
			AccountNumber: "000123456789", RoutingNumber: "021000021",
			AccountKind: dapi.AccountKindChecking, AccountHolderName: "Bob Roe",
		})},
		"account abroad": {Name: "Contract suite", Account: dapi.SWIFT(dapi.BankFields{
			AccountNumber: "000123456790", BIC: "TESTDEFF", AccountKind: dapi.AccountKindSavings,
			AccountHolderName: "Bob Roe",
			IntermediaryBank: &dapi.IntermediaryBank{
				BankName: "Licensed bank", BIC: "TESTDEFF", AccountNumber: "000123456791",
				BankAddress: &dapi.InstitutionAddress{AddressLine1: "Main Street 1", AddressLine2: "Floor 2",
					City: "Berlin", State: "BE", PostalCode: "10115", Country: "DE"},
			},
		})},
		"legacy wallet": {Name: "Contract suite", Crypto: &dapi.CryptoDestination{Chain: "ethereum", Token: "USDC",
			Address: payee}},
		"legacy account": {Name: "Contract suite", Bank: &dapi.BankDestination{
			Method: "sepa", Currency: "EUR", Fields: map[string]any{"iban": "DE89370400440532013000"},
			Holder:   map[string]any{"name": "Bob Roe"},
			BankName: "Licensed bank", BankAddress: &dapi.InstitutionAddress{City: "Berlin", Country: "DE"},
		}},
		"address": {Name: "Contract suite",
			Account: dapi.SEPA(dapi.BankFields{IBAN: "DE89370400440532013000",
				AccountHolderName: "Bob Roe"}),
			Address: postal()},
		"wallet": {Name: "Contract suite",
			Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: payee, ChainID: "base", Currency: "USDC"})},
		"email":                {Name: "Contract suite", Account: dapi.EmailContact(w.email)},
		"email of the contact": {Name: "Contract suite", Email: w.email},
		"owner": {Name: "Contract suite",
			Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: w.address(), ChainID: "base", Currency: "USDC",
				Email: w.email})},
		"identifier": {Name: "Contract suite", Account: dapi.PIX(dapi.BankFields{
			PIXKey: "52998224725", PIXKeyType: dapi.PIXKeyTypeCPF,
			AccountHolderName: "Bob Roe", HolderIDType: "passport", HolderIDNumber: "X0000000",
		})},
	}
}

func (w *world) contacts() {
	self := w.platform.Self()
	destinations := w.destinations()
	for _, name := range slices.Sorted(maps.Keys(destinations)) { // the same order in each report
		asked := destinations[name]
		w.step("with an "+name, func() {
			contact := ok(self.Contacts.Create(w.Context(), asked))(w)
			ok(self.Contacts.Update(w.Context(), contact.ID, dapi.ContactUpdate{}))(w)
			ok(self.Contacts.Capabilities(w.Context(), contact.ID))(w)
			w.succeeds(self.Contacts.Delete(w.Context(), contact.ID))
		})
	}
	w.embedded("with each type of PIX key", func() {
		for kind, key := range map[dapi.PIXKeyType]string{
			dapi.PIXKeyTypeCPF: "52998224725", dapi.PIXKeyTypeCNPJ: "11222333000181",
			dapi.PIXKeyTypePhone: "+5511999990000", dapi.PIXKeyTypeEVP: "123e4567-e89b-42d3-a456-426614174000",
		} {
			ok(self.Contacts.Create(w.Context(),
				dapi.ContactCreate{Account: dapi.PIX(dapi.BankFields{PIXKey: key, PIXKeyType: kind,
					AccountHolderName: "Bob Roe"})}))(w)
		}
	})
	w.step("that is changed", func() {
		contact := ok(self.Contacts.Create(w.Context(), w.destinations()["account number"]))(w)
		ok(self.Contacts.Update(w.Context(), contact.ID, dapi.ContactUpdate{
			Name: model.Set("Contract suite, changed"), Currency: model.Set("USD"), IsExternal: model.Set(true),
			Email:   model.Set(w.email),
			Address: model.Set(*postal()),
		}))(w)
		w.succeeds(self.Contacts.Delete(w.Context(), contact.ID))
	})
	w.step("that cannot be paid", func() {
		contact := ok(self.Contacts.Create(w.Context(),
			dapi.ContactCreate{Name: "Contract suite",
				Account: dapi.SEPA(dapi.BankFields{AccountHolderName: "Bob Roe"})}))(w)
		assert.NotEmpty(w, ok(self.Contacts.Capabilities(w.Context(), contact.ID))(w).Blockers)
		w.succeeds(self.Contacts.Delete(w.Context(), contact.ID))
	})
}
