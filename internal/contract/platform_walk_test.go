package contract_test

import (
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

const payee = "0x52908400098527886E0F7030069857D2E4169EE7"

// walkClients opens a client, verifies it, and opens a rail.
func (w *world) walkClients() {
	ctx := w.Context()
	client := ok(w.platform.Clients.Create(ctx, dapi.ClientCreate{Email: "acme@example.com", Type: dapi.ClientTypeBusiness, EntityName: "Acme", Country: "DE"}))(w)
	w.pass()
	client = ok(w.platform.Clients.WaitReady(ctx, client.ID))(w)
	assert.NotEmpty(w, client.BaseSmartWallet)

	acme := w.platform.For(client.ID)
	kyb := ok(acme.Verification.Get(ctx))(w)
	applicant := map[string]any{}
	var documents []string
	for _, missing := range kyb.Requirements {
		if missing.Field == "documentIds" {
			documents = append(documents, "doc_1")
		} else {
			applicant[missing.Field] = "as asked"
		}
	}
	for name, value := range map[string]any{"legalName": "Acme GmbH", "registrationNumber": "HRB 1", "country": "DE"} {
		applicant[name] = value
	}
	ok(acme.Verification.Save(ctx, dapi.KYBSave{Applicant: applicant, DocumentIDs: append(documents, "doc_2")}))(w)
	ok(acme.Verification.Complete(ctx))(w)
	w.pass()
	w.host.Advance(24 * time.Hour)
	assert.Equal(w, dapi.KYBStatusApproved, ok(acme.Verification.WaitDecided(ctx))(w).Status)

	rails := ok(acme.Rails.List(ctx, dapi.ListRailsParams{}))(w)
	require.NotEmpty(w, rails.Items)
	ok(acme.Rails.Open(ctx, dapi.RailOpen{Method: dapi.BankMethodSEPA, Currency: "EUR"}))(w)
	w.pass()
	rail := ok(acme.Rails.WaitActive(ctx, dapi.BankMethodSEPA, "EUR"))(w)

	payin := ok(acme.Payins.Create(ctx, dapi.PayinCreate{Amount: amount("50"), Currency: "EUR", BankID: rail.VirtualAccount.ID}))(w)
	ok(acme.Payins.Instructions(ctx, payin.ID))(w)
	ok(acme.Sandbox.CompletePayin(ctx, payin.ID))(w)
	assert.Equal(w, dapi.PayinStatusCompleted, ok(acme.Payins.Get(ctx, payin.ID))(w).Status)
}

// walkMoney credits the integrator's own account, which the app spends from, and pays out of it.
func (w *world) walkMoney() {
	ctx, self := w.Context(), w.platform.Self()
	ok(self.Sandbox.Treasury(ctx))(w)
	for range 10 {
		ok(self.Sandbox.Deposit(ctx, dapi.DepositCreate{Amount: amount("100"), Currency: dapi.USDC}))(w)
	}
	ok(self.Chains.List(ctx, dapi.ListChainsParams{}))(w)

	contact := ok(self.Contacts.Create(ctx, dapi.ContactCreate{Name: "Bob", Account: dapi.SEPA(dapi.BankAccount{IBAN: "DE89370400440532013000", AccountHolderName: "Bob Roe"})}))(w)
	ok(self.Contacts.Update(ctx, contact.ID, dapi.ContactUpdate{}))(w)
	capabilities := ok(self.Contacts.Capabilities(ctx, contact.ID))(w)
	assert.True(w, capabilities.Payable)
	payout := ok(self.Payouts.Pay(ctx, dapi.PayoutCreate{ContactID: contact.ID, Amount: amount("25"), Currency: dapi.USDC}, moneymovement.IdempotencyKey("coverage")))(w)
	ok(self.Sandbox.MovePayout(ctx, payout.ID, dapi.PayoutStatusCompleted))(w)
	assert.Equal(w, dapi.PayoutStatusCompleted, ok(self.Payouts.Get(ctx, payout.ID))(w).Status)
	assert.NotEmpty(w, ok(self.Transactions.List(ctx, dapi.ListTransactionsParams{}))(w).Items)
	require.NoError(w, self.Contacts.Delete(ctx, contact.ID))
}

// walkEscrow opens a deal, which confirms its approve action, and releases it.
func (w *world) walkEscrow() {
	ctx, self := w.Context(), w.platform.Self()
	terms := dapi.EscrowCreate{Amount: amount("10"), Currency: dapi.USDC, Payee: payee}
	deal := ok(self.Escrows.Open(ctx, terms))(w)
	deal = ok(self.Escrows.Act(ctx, terms, deal.ID, dapi.EscrowActionTypeRelease))(w)
	w.pass() // so that the chain is read again
	assert.Equal(w, dapi.EscrowStatusReleased, ok(self.Escrows.Sync(ctx, deal.ID))(w).Status)
}

// walkRefresh lets the access token expire, so that the next call refreshes it.
func (w *world) walkRefresh() {
	w.host.Advance(61 * time.Minute)
	ok(w.platform.Self().Chains.List(w.Context(), dapi.ListChainsParams{}))(w)
}
