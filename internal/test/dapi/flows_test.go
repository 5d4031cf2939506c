package dapi_test

import (
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

// A client is created, verified, and given a virtual account that a payer can wire to.
func TestOnboardingOfAClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		platform := w.integrator()
		client, err := platform.Clients.Create(t.Context(),
			dapi.ClientCreate{Email: "acme@example.com", Type: dapi.ClientTypeBusiness, Country: "DE"})
		require.NoError(t, err)
		client, err = platform.Clients.WaitReady(t.Context(), client.ID)
		require.NoError(t, err)
		assert.NotEmpty(t, client.BaseSmartWallet)
		acme := platform.For(client.ID)

		_, err = acme.Rails.Open(t.Context(), dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
		assert.NotEmpty(t, as[*errors.RailRequirementsUnmet](t, err).Blockers, "not before verification")
		_, err = acme.Verification.Complete(t.Context())
		as[*errors.Conflict](t, err)

		verification := complete(t, acme)
		assert.Equal(t, model.KYCStatusApproved, verification.Status)

		_, err = acme.Rails.Open(t.Context(), dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
		require.NoError(t, err)
		var seen []string
		rail, err := acme.Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "EUR",
			moneymovement.OnProgress(func(p moneymovement.Progress) { seen = append(seen, p.Status) }))
		require.NoError(t, err)
		assert.Regexp(t, "^bnk_", rail.VirtualAccount.ID)
		assert.NotEmpty(t, rail.VirtualAccount.Requisites.IBAN)
		assert.Equal(t, "active", seen[len(seen)-1])

		var answer moneymovement.Response
		_, err = acme.Rails.Open(t.Context(), dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"},
			moneymovement.CaptureResponse(&answer))
		require.NoError(t, err)
		assert.True(t, answer.Replayed, "client and rail are the natural key")
	})
}

// complete gives the verification what it asks for, field by field, and waits for its decision.
func complete(t *testing.T, account *dapi.Account) *dapi.KYB {
	t.Helper()
	applicant := map[string]any{}
	for range 20 {
		saved, err := account.Verification.Save(t.Context(),
			dapi.KYBInformation{Applicant: applicant, DocumentIDs: []string{"doc_1"}})
		require.NoError(t, err)
		if len(saved.Requirements) == 0 {
			break
		}
		for _, requirement := range saved.Requirements {
			applicant[lastOf(requirement.Field)] = "DE"
		}
	}
	_, err := account.Verification.Complete(t.Context())
	require.NoError(t, err)
	decided, err := account.Verification.WaitDecided(t.Context())
	require.NoError(t, err)
	return decided
}

// lastOf is the last step of a field's path.
func lastOf(field string) string {
	for i := len(field) - 1; i >= 0; i-- {
		if field[i] == '.' {
			return field[i+1:]
		}
	}
	return field
}

func TestRailsThatCannotBeHad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		platform := w.integrator()
		client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"})
		require.NoError(t, err)
		_, err = platform.Clients.WaitReady(t.Context(), client.ID)
		require.NoError(t, err)
		acme := platform.For(client.ID)
		complete(t, acme)

		_, err = acme.Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "USD")
		var unlisted *dapi.RailNotListed
		require.ErrorAs(t, err, &unlisted)

		_, err = acme.Rails.Open(t.Context(), dapi.RailCreate{Method: dapi.BankMethodPIX, Currency: "BRL"})
		require.NoError(t, err)
		w.Configure(func(s *sandbox.Settings) { s.ChannelsUnavailable = []string{"pix"} })
		_, err = acme.Rails.WaitActive(t.Context(), dapi.BankMethodPIX, "BRL")
		var down *dapi.ChannelUnavailable
		require.ErrorAs(t, err, &down)

		w.Configure(func(s *sandbox.Settings) { s.RailsDisabled = []string{"ach"} })
		_, err = acme.Rails.Open(t.Context(), dapi.RailCreate{Method: dapi.BankMethodACH, Currency: "USD"})
		as[*errors.RailNotAvailable](t, err)
		w.Configure(func(s *sandbox.Settings) { s.PartnerDown = true })
		_, err = acme.Rails.Open(t.Context(), dapi.RailCreate{Method: dapi.BankMethodSPEI, Currency: "MXN"})
		as[*errors.ProviderUnavailable](t, err)
	})
}

func TestPayinFromAnotherChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		self := w.integrator().Self()
		payin, err := self.Payins.Create(t.Context(),
			dapi.PayinCreate{Amount: amount("10"), Currency: "USDC", OriginChainID: 1, MaxAmount: amount("12")})
		require.NoError(t, err)
		assert.Equal(t, dapi.PayinStatusQuoted, payin.Status)
		assert.Equal(t, "10", payin.Quote.SourceAmount.String())

		_, err = self.Sandbox.CompletePayin(t.Context(), payin.ID)
		as[*errors.QuoteNotSubmitted](t, err)
		instructions, err := self.Payins.Instructions(t.Context(), payin.ID)
		require.NoError(t, err)
		assert.NotEmpty(t, instructions.Requisites)

		_, err = self.Sandbox.CompletePayin(t.Context(), payin.ID)
		require.NoError(t, err)
		payin, err = self.Payins.Wait(t.Context(), payin.ID)
		require.NoError(t, err)
		assert.Equal(t, dapi.PayinStatusCompleted, payin.Status)

		late, err := self.Payins.Create(t.Context(),
			dapi.PayinCreate{Amount: amount("11"), Currency: "USDC", OriginChainID: 1})
		require.NoError(t, err)
		time.Sleep(3 * time.Minute)
		_, err = self.Payins.Instructions(t.Context(), late.ID)
		as[*errors.QuoteExpired](t, err)
		_, err = self.Payins.Wait(t.Context(), late.ID)
		var ended *dapi.PayinNotCompleted
		require.ErrorAs(t, err, &ended)
	})
}

func TestEscrowLifeOnTheHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		terms := dapi.EscrowCreate{Amount: amount("30"), Currency: dapi.USDC, Payee: payee,
			HoldFor: dapi.EscrowDurationOf(48 * time.Hour)}

		deal, err := account.Escrows.Open(t.Context(), terms, "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, deal.Escrow.Status)
		assert.True(t, deal.Escrow.Can(dapi.EscrowActionTypeRelease))

		again, err := account.Escrows.Open(t.Context(), terms, "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		assert.Equal(t, deal.Escrow.ID, again.Escrow.ID)

		_, err = account.Escrows.Act(t.Context(), terms, deal.Escrow.ID, dapi.EscrowActionTypeRefund, "deal-Refund",
			dealTerms(journaled()))
		as[*errors.Conflict](t, err)
		released, err := account.Escrows.Act(t.Context(), terms, deal.Escrow.ID, dapi.EscrowActionTypeRelease,
			"deal-Release", dapi.DealTerms{})
		require.NoError(t, err)
		if released.Escrow.Status != dapi.EscrowStatusReleased { // the projection is read from chain every 15 seconds
			released.Escrow, err = account.Escrows.Wait(t.Context(), deal.Escrow.ID,
				[]dapi.EscrowStatus{dapi.EscrowStatusReleased})
			require.NoError(t, err)
		}
		assert.Equal(t, dapi.EscrowStatusReleased, released.Escrow.Status)

		time.Sleep(10 * time.Minute) // the first answer's approval is long closed
		again, err = account.Escrows.Open(t.Context(), terms, "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusReleased, again.Escrow.Status, "opened once, and released since")
		assert.True(t, w.Host.Ledger().Sums["USDC"].IsZero())
	})
}

func TestEscrowRefundAfterTheHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		terms := dapi.EscrowCreate{Amount: amount("30"), Currency: dapi.USDC, Payee: payee, HoldFor: "2h",
			RefundableFor: "1d"}
		deal, err := account.Escrows.Open(t.Context(), terms, "deal-2", dapi.DealTerms{})
		require.NoError(t, err)
		time.Sleep(4 * time.Hour)
		refunded, err := account.Escrows.Act(t.Context(), terms, deal.Escrow.ID, dapi.EscrowActionTypeRefund,
			"deal-Refund", dapi.DealTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusRefunded, refunded.Escrow.Status)
	})
}

func TestEscrowWhoseConfirmIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		w.Host.Arm("POST", "/escrow/*/actions/*/confirm", sandbox.DropAfterCommit())
		terms := dapi.EscrowCreate{Amount: amount("30"), Currency: dapi.USDC, Payee: payee}
		deal, err := account.Escrows.Open(t.Context(), terms, "deal-1", dapi.DealTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, deal.Escrow.Status)
	})
}

func TestEscrowThatWasNeverApproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		account := w.account()
		terms := dapi.EscrowCreate{Amount: amount("30"), Currency: dapi.USDC, Payee: payee}
		key := moneymovement.IdempotencyKey("deal-1")
		_, err := account.Escrows.Create(t.Context(), terms, key)
		require.NoError(t, err)
		time.Sleep(2 * time.Hour)
		_, err = account.Escrows.Open(t.Context(), terms, "deal-1", dapi.DealTerms{})
		require.Error(t, err, "the approve window is one hour")
	})
}
