package dapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

var key42 = moneymovement.IdempotencyKey("invoice-42")

// booked is a payout that waits for its confirm.
func (w *payWorld) booked() *dapi.Payout {
	booked, err := w.account.Payouts.Book(w.Context(), w.asked, key42)
	require.NoError(w, err)
	return booked
}

func (w *payWorld) confirm(booked *dapi.Payout) error {
	_, err := w.account.Payouts.Confirm(w.Context(), w.asked, booked)
	return err
}

// confirmed is a payout that is funding.
func (w *payWorld) confirmed() *dapi.Payout {
	booked := w.booked()
	require.NoError(w, w.confirm(booked))
	return booked
}

// late confirms when so much time has passed on the host since the key was asked to sign.
func (w *payWorld) late(d time.Duration) error {
	booked := w.booked()
	w.waitBeforeSigning(d, 1)
	return w.confirm(booked)
}

func (w *payWorld) openSEPA() error {
	_, err := w.readyClient().Rails.Open(w.Context(), dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"})
	return err
}

var moneySlugs = map[errors.Code]provocation{
	errors.CodeSignerNotAttached: {func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.SignerDetached = true })
		_, err := w.account.Payouts.Book(w.Context(), w.asked)
		return err
	}, yields[*errors.SignerNotAttached]()},
	errors.CodeWalletNotLinked: {func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.ClientReadyAfter = sandbox.Duration(time.Hour) })
		_, err := w.client().Sandbox.Deposit(w.Context(), dapi.DepositCreate{Amount: amount("1"), Currency: dapi.USDC})
		return err
	}, yields[*errors.WalletNotLinked]()},
	errors.CodeApprovalConsumed: {func(w *payWorld) error {
		funded := w.confirmed()
		_, err := w.account.Sandbox.SetPayoutStatus(w.Context(), funded.ID, dapi.PayoutStatusFailed)
		require.NoError(w, err)
		return w.confirm(funded)
	}, yields[*errors.ApprovalConsumed]()},
	errors.CodeApprovalExpired: {func(w *payWorld) error {
		created, err := w.account.Escrows.Create(w.Context(), deal())
		require.NoError(w, err)
		w.waitBeforeSigning(time.Minute, 1)
		_, err = w.account.Escrows.Confirm(w.Context(), deal(), created.ID, dapi.EscrowActionTypeApprove,
			created.Action)
		return err
	}, yields[*errors.ApprovalExpired]()},
	errors.CodeApprovalMismatch: {func(w *payWorld) error {
		booked := w.booked()
		other, err := w.account.Payouts.Book(w.Context(), w.asked, moneymovement.IdempotencyKey("invoice-43"))
		require.NoError(w, err)
		w.spoil("/payouts/"+string(booked.ID), func(r *http.Request) {
			r.URL.Path = "/dapi/v1/payouts/" + string(other.ID) + "/confirm"
		})
		return w.confirm(booked)
	}, yields[*errors.ApprovalMismatch]()},
	errors.CodeSigningPolicyRefused: {func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.SigningPolicy = sandbox.SigningPolicyRefuse })
		return w.confirm(w.booked())
	}, yields[*errors.SigningPolicyRefused]()},
	errors.CodeRailNotAvailable: {func(w *payWorld) error {
		w.Configure(func(s *sandbox.Settings) { s.RailsDisabled = []string{"sepa"} })
		return w.openSEPA()
	}, yields[*errors.RailNotAvailable]()},
	errors.CodeRailRequirementsUnmet: {func(w *payWorld) error { return w.openSEPA() },
		yields(func(t *testing.T, e *errors.RailRequirementsUnmet) {
			require.NotEmpty(t, e.Blockers)
			assert.NotEmpty(t, e.Blockers[0].Code)
			assert.NotEmpty(t, e.Blockers[0].Message)
		})},
	errors.CodeQuoteExpired: {func(w *payWorld) error {
		return w.late(31 * time.Second)
	}, yields[*errors.QuoteExpired]()},
	errors.CodeFundingAttemptExpired: {func(w *payWorld) error {
		return w.late(2 * time.Minute)
	}, yields[*errors.FundingAttemptExpired]()},
	errors.CodeFundingInProgress: {func(w *payWorld) error {
		return w.confirm(w.confirmed())
	}, yields[*errors.FundingInProgress]()},
	errors.CodeAlreadyFunded: {func(w *payWorld) error {
		funded := w.confirmed()
		w.Host.Advance(time.Duration(w.Host.Settings().PayoutStepAfter))
		return w.confirm(funded)
	}, yields(func(t *testing.T, e *errors.AlreadyFunded) {
		assert.Regexp(t, "^po_", e.PayoutID)
		assert.Regexp(t, "^0x[0-9a-f]{64}$", e.TransactionHash)
		assert.Equal(t, errors.Moved, e.MovedByCall())
	})},
	errors.CodeContactNotPayable: {func(w *payWorld) error {
		w.asked.ContactID = w.Contact(w.account.Contacts,
			dapi.SEPA(dapi.IBANAccount{Holder: dapi.AccountHolder{Name: "Eve Roe"}}))
		_, err := w.account.Payouts.Book(w.Context(), w.asked)
		return err
	}, yields(func(t *testing.T, e *errors.ContactNotPayable) {
		require.Len(t, e.Blockers, 1)
		assert.Equal(t, "iban", e.Blockers[0].Field)
	})},
	errors.CodePayoutNotFundable: {func(w *payWorld) error {
		w.asked.Amount = amount("100.01")
		return w.confirm(w.booked())
	}, yields(func(t *testing.T, e *errors.PayoutNotFundable) {
		assert.Contains(t, string(e.Details), `"available":"100"`)
	})},
	errors.CodeQuoteNotSubmitted: {func(w *payWorld) error {
		_, err := w.account.Sandbox.SetPayoutStatus(w.Context(), w.booked().ID, dapi.PayoutStatusCompleted)
		return err
	}, yields[*errors.QuoteNotSubmitted]()},
	errors.CodeAmountBelowMinimum: {func(w *payWorld) error {
		return w.deposit("0.09")
	}, yields[*errors.AmountBelowMinimum]()},
	errors.CodeAmountAboveMaximum: {func(w *payWorld) error { return w.deposit("100.01") },
		yields(func(t *testing.T, e *errors.AmountAboveMaximum) { assert.Equal(t, "100", e.MaxCredit.String()) })},
}
