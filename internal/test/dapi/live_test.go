package dapi_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// verified completes a client's verification, and answers the submission.
func verified(t *testing.T, client *dapi.Account) *dapi.KYBSubmission {
	t.Helper()
	_, err := client.Verification.Save(t.Context(), dapi.KYBInformation{
		Applicant: map[string]any{"legalName": "Acme Ltd", "country": "DE"}, DocumentIDs: []string{"doc_1"},
	})
	require.NoError(t, err)
	submitted, err := client.Verification.Complete(t.Context())
	require.NoError(t, err)
	return submitted
}

// Rule: verification.completed-explicitly, verification.snapshot, idempotency.verification
func TestVerificationLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newPayWorld(t).readyClient()
		before, err := client.Verification.Get(t.Context())
		require.NoError(t, err)
		assert.Equal(t, model.KYCStatusNotStarted, before.Status)
		assert.NotEmpty(t, before.Requirements, "what is outstanding")
		_, err = client.Verification.Complete(t.Context())
		as[*errors.Conflict](t, err)

		submitted := verified(t, client)
		assert.Equal(t, model.KYCStatusUnderReview, submitted.Status)
		decided, err := client.Verification.WaitDecided(t.Context())
		require.NoError(t, err)
		assert.Equal(t, model.KYCStatusApproved, decided.Status)
		assert.Equal(t, submitted.SnapshotID, verified(t, client).SnapshotID, "the same again is the same snapshot")

		_, err = client.Verification.Save(t.Context(),
			dapi.KYBInformation{Applicant: map[string]any{"legalName": "Acme International Ltd"}})
		require.NoError(t, err)
		edited, err := client.Verification.Get(t.Context())
		require.NoError(t, err)
		assert.Equal(t, model.KYCStatusApproved, edited.Status, "editing submits nothing")
		again, err := client.Verification.Complete(t.Context())
		require.NoError(t, err)
		assert.NotEqual(t, submitted.SnapshotID, again.SnapshotID)
	})
}

// Rule: rail.verification, rail.states, rail.agreement, rail.residency, rail.partner, idempotency.rail
func TestRailsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		client := w.readyClient()
		sepa := dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"}
		open := func(options ...moneymovement.CallOption) (*dapi.Rail, error) {
			return client.Rails.Open(t.Context(), sepa, options...)
		}
		_, err := open()
		assert.NotEmpty(t, as[*errors.RailRequirementsUnmet](t, err).Blockers)
		verified(t, client)
		_, err = client.Verification.WaitDecided(w.Context())
		require.NoError(t, err)

		w.Configure(func(s *sandbox.Settings) { s.RailsDisabled = []string{"sepa"} })
		_, err = open()
		as[*errors.RailNotAvailable](t, err)
		w.Configure(func(s *sandbox.Settings) { s.RailsDisabled, s.PartnerDown = nil, true })
		_, err = open()
		as[*errors.ProviderUnavailable](t, err)

		w.Configure(func(s *sandbox.Settings) { s.PartnerDown = false })
		opened, err := open()
		require.NoError(t, err)
		assert.Nil(t, opened.VirtualAccount)
		active, err := client.Rails.WaitActive(w.Context(), sepa.Method, sepa.Currency)
		require.NoError(t, err)
		assert.Regexp(t, "^bnk_", active.VirtualAccount.ID)
		assert.NotEmpty(t, active.VirtualAccount.Requisites.IBAN)
		var answer moneymovement.Response
		again, err := open(moneymovement.CaptureResponse(&answer))
		require.NoError(t, err)
		assert.Equal(t, active, again, "client and rail are the natural key")
		assert.True(t, answer.Replayed)

		w.Configure(func(s *sandbox.Settings) { s.ChannelsUnavailable = []string{"sepa"} })
		_, err = client.Rails.WaitActive(w.Context(), sepa.Method, sepa.Currency)
		as[*dapi.ChannelUnavailable](t, err)
		w.Configure(func(s *sandbox.Settings) { s.RailsHidden = []string{"ach"} })
		_, err = client.Rails.WaitActive(w.Context(), dapi.BankMethodACH, "USD")
		as[*dapi.RailNotListed](t, err)
	})
}

// Rule: payin.needs-ready, lifetime.payin-price, idempotency.payin, client.balance, sandbox.settlement-routes
func TestPayinsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		integrator := w.integrator()
		created, err := integrator.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
		require.NoError(t, err)
		client := integrator.For(created.ID)
		asked := dapi.PayinCreate{Amount: amount("50"), Currency: "USDC", OriginChainID: 1}
		_, err = client.Payins.Create(t.Context(), asked)
		as[*errors.WalletNotLinked](t, err)
		_, err = integrator.Clients.WaitReady(w.Context(), created.ID)
		require.NoError(t, err)

		quoted, err := client.Payins.Create(t.Context(), asked)
		require.NoError(t, err, "nobody is verified")
		again, err := client.Payins.Create(t.Context(), asked)
		require.NoError(t, err)
		assert.Equal(t, quoted.ID, again.ID)
		_, err = client.Sandbox.CompletePayin(t.Context(), quoted.ID)
		as[*errors.QuoteNotSubmitted](t, err)
		instructions, err := client.Payins.Instructions(t.Context(), quoted.ID)
		require.NoError(t, err)
		assert.Equal(t, quoted.DepositAddress, instructions.Requisites.WalletAddress)
		_, err = client.Sandbox.CompletePayin(t.Context(), quoted.ID)
		require.NoError(t, err)
		completed, err := client.Payins.Wait(w.Context(), quoted.ID)
		require.NoError(t, err)
		assert.Equal(t, dapi.PayinStatusCompleted, completed.Status)

		ready, err := integrator.Clients.Get(t.Context(), created.ID)
		require.NoError(t, err)
		assert.Regexp(t, "^0x[0-9a-fA-F]{40}$", ready.BaseSmartWallet)
		require.Len(t, ready.Balances, 2)
		assert.Equal(t, dapi.USDC, ready.Balances[0].Currency)
		assert.True(t, ready.Balances[0].Available.Equal(completed.Quote.DestinationAmount))

		late, err := client.Payins.Create(t.Context(), asked)
		require.NoError(t, err)
		w.Host.Advance(2*time.Minute + time.Second)
		_, err = client.Payins.Instructions(t.Context(), late.ID)
		as[*errors.QuoteExpired](t, err)
	})
}

// Rule: idempotency.escrow, idempotency.escrow-action, lifetime.escrow-windows, lifetime.escrow-actions
// Rule: lifetime.escrow-approval
func TestEscrowLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		terms := dapi.EscrowCreate{Amount: amount("40"), Currency: dapi.USDC, Payee: payee}
		w.waitBeforeSigning(61*time.Second, 1) // the first approval is too late, and the action prepared once more
		opened, err := w.account.Escrows.Open(t.Context(), terms, "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
		assert.Equal(t, "deal-1", opened.Escrow.IdempotencyKey)
		assert.Equal(t, time.Hour, opened.Escrow.ApproveBy.Sub(opened.Escrow.CreatedAt))
		assert.Equal(t, 14*24*time.Hour, opened.Escrow.HoldUntil.Sub(opened.Escrow.ApproveBy))
		assert.Equal(t, 90*24*time.Hour, opened.Escrow.RefundableUntil.Sub(opened.Escrow.HoldUntil))

		again, err := w.account.Escrows.Open(t.Context(), terms, "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		assert.Equal(t, opened.Escrow.ID, again.Escrow.ID)
		terms.Amount = amount("41")
		_, err = w.integrator().Self().Escrows.Create(t.Context(), terms, moneymovement.IdempotencyKey("deal-1"))
		assert.Equal(t, string(opened.Escrow.ID), as[*errors.IdempotencyKeyReused](t, refusalIn(err)).EscrowID)

		for _, step := range []struct {
			days int
			want []dapi.EscrowActionType
		}{{1, []dapi.EscrowActionType{"release"}}, {14, []dapi.EscrowActionType{"refund"}},
			{90, []dapi.EscrowActionType{}}} {
			time.Sleep(time.Duration(step.days) * 24 * time.Hour)
			deal, err := w.account.Escrows.Sync(t.Context(), opened.Escrow.ID)
			require.NoError(t, err)
			assert.Equal(t, step.want, deal.AvailableActions, "after %d more days", step.days)
		}
	})
}

// Rule: idempotency.sandbox, sandbox.faucet-covers, sandbox.minimum, sandbox.maximum
func TestSandboxMoneyLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		deposit := func(value, key string) (*dapi.Transaction, error) {
			return w.account.Sandbox.Deposit(t.Context(),
				dapi.DepositCreate{Amount: amount(value), Currency: dapi.USDC},
				moneymovement.IdempotencyKey(moneymovement.Key(key)))
		}
		w.Host.Arm("POST", "/sandbox/deposits", sandbox.DropAfterCommit())
		first, err := deposit("0.1", "credit-1")
		require.NoError(t, err, "the answer was lost, and the call repeated")
		again, err := deposit("0.10", "credit-1")
		require.NoError(t, err)
		assert.Equal(t, first.ID, again.ID)
		page, err := w.account.Transactions.List(t.Context(), dapi.ListTransactionsParams{})
		require.NoError(t, err)
		assert.Len(t, page.Items, 2+1, "one credit, besides the two that the account began with")

		_, err = deposit("0.099999", "credit-2")
		as[*errors.AmountBelowMinimum](t, err)
		w.Configure(func(s *sandbox.Settings) { s.MaxCredit = amount("7.5") })
		_, err = deposit("7.500001", "credit-3")
		assert.Equal(t, "7.5", as[*errors.AmountAboveMaximum](t, err).MaxCredit.String())
		w.Configure(func(s *sandbox.Settings) { s.FaucetBalance = amount("5") })
		_, err = deposit("6", "credit-4")
		as[*errors.ProviderUnavailable](t, err)
	})
}

// A session that moves off the key's allowlist is told so, without a reason, and does not log in again.
// Rule: session.address, login.one-answer
func TestAddressesOffTheAllowlist(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	require.NoError(t, w.Host.DeleteKey(w.Host.Credentials().KeyID))
	key := w.Host.Credentials().Key
	_, err := w.Host.RegisterKey(sandbox.KeyRegistration{
		Email: w.Host.Credentials().Email, PublicKey: key.PublicKey(), Allowlist: []string{"198.51.100.0/24"},
	})
	require.NoError(t, err)
	address, next := "198.51.100.7:4000", w.Wire.Handler
	w.Wire.Handler = http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = address
		next.ServeHTTP(answer, r)
	})
	require.NoError(t, read(t.Context(), account))

	address = "203.0.113.7:4000"
	assert.Empty(t, as[*errors.Forbidden](t, read(t.Context(), account)).Details)
	assert.Equal(t, 1, w.Sent("CreateToken"))
	as[*errors.InvalidCredentials](t, read(t.Context(), w.integrator().Self()))
}

// The login's window is 10 in 5 minutes, and refreshes are none of it.
// Rule: rate.refresh
func TestRefreshesArePacedAsWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		paced := w.Integrator(w.Developer())
		require.NoError(t, read(t.Context(), paced.Self()))
		started := time.Now()
		for range 30 {
			w.Host.Arm("GET", "/chains", sandbox.ExpireToken())
			require.NoError(t, read(t.Context(), paced.Self()))
		}
		assert.Equal(t, 30, w.Sent("RefreshToken"))
		assert.Zero(t, time.Since(started), "nobody waited")
	})
}

// Rule: contact.crypto, contact.email
func TestDestinationsThatAreRefusedBeforeTheyAreSent(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	for name, c := range map[string]struct {
		asked dapi.ContactCreate
		field string
	}{
		"no chain": {dapi.ContactCreate{Crypto: &dapi.CryptoDestination{Token: "USDC", Address: payee}},
			"crypto.chain"},
		"no token": {dapi.ContactCreate{Crypto: &dapi.CryptoDestination{Chain: "base", Address: payee}},
			"crypto.token"},
		"no address": {dapi.ContactCreate{Crypto: &dapi.CryptoDestination{Chain: "base", Token: "USDC"}},
			"crypto.address"},
	} {
		_, err := account.Contacts.Create(t.Context(), c.asked)
		assert.Equal(t, c.field, as[*errors.InvalidInput](t, err).Fields[0].Field, name)
	}
	assert.Empty(t, w.Host.Requests())

	resolved, err := account.Contacts.Create(t.Context(),
		dapi.ContactCreate{Account: dapi.EmailContact(w.Host.Credentials().Email)})
	require.NoError(t, err)
	assert.Equal(t, w.Host.Credentials().Email, resolved.Email)
	_, err = account.Contacts.Create(t.Context(), dapi.ContactCreate{Email: "nobody@example.com"})
	as[*errors.NotFound](t, err)
}
