package dapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// verified completes a client's verification, and returns the submission.
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
		var response moneymovement.Response
		again, err := open(moneymovement.CaptureResponse(&response))
		require.NoError(t, err)
		assert.Equal(t, active, again, "client and rail are the natural key")
		assert.True(t, response.Replayed)

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
		opened, err := w.account.Escrows.Open(t.Context(), terms, "escrow-1", dapi.EscrowTerms{})
		require.NoError(t, err)
		assert.Equal(t, dapi.EscrowStatusActive, opened.Escrow.Status)
		assert.Equal(t, "escrow-1", opened.Escrow.IdempotencyKey)
		assert.Equal(t, time.Hour, opened.Escrow.ApproveBy.Sub(opened.Escrow.CreatedAt))
		assert.Equal(t, 14*24*time.Hour, opened.Escrow.HoldUntil.Sub(opened.Escrow.ApproveBy))
		assert.Equal(t, 90*24*time.Hour, opened.Escrow.RefundableUntil.Sub(opened.Escrow.HoldUntil))

		again, err := w.account.Escrows.Open(t.Context(), terms, "escrow-1", dapi.EscrowTerms{})
		require.NoError(t, err)
		assert.Equal(t, opened.Escrow.ID, again.Escrow.ID)
		terms.Amount = amount("41")
		_, err = w.integrator().Self().Escrows.Create(t.Context(), terms, moneymovement.IdempotencyKey("escrow-1"))
		assert.Equal(t, string(opened.Escrow.ID), as[*errors.IdempotencyKeyReused](t, refusalIn(err)).EscrowID)

		for _, step := range []struct {
			days int
			want []dapi.EscrowActionType
		}{{1, []dapi.EscrowActionType{"release"}}, {14, []dapi.EscrowActionType{"refund"}},
			{90, []dapi.EscrowActionType{}}} {
			time.Sleep(time.Duration(step.days) * 24 * time.Hour)
			escrow, err := w.account.Escrows.Sync(t.Context(), opened.Escrow.ID)
			require.NoError(t, err)
			assert.Equal(t, step.want, escrow.AvailableActions, "after %d more days", step.days)
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
		require.NoError(t, err, "the response was lost, and the call repeated")
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
// Rule: session.address, login.one-response
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
	w.Wire.Handler = http.HandlerFunc(func(response http.ResponseWriter, r *http.Request) {
		r.RemoteAddr = address
		next.ServeHTTP(response, r)
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

// Rule: contact.deduplicated, contact.response, idempotency.contacts, idempotency.replay
func TestContactsLive(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	var response moneymovement.Response
	first, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Bob", Account: sepa()},
		moneymovement.CaptureResponse(&response))
	require.NoError(t, err)
	assert.False(t, response.Replayed)
	again, err := account.Contacts.Create(t.Context(), dapi.ContactCreate{Name: "Robert", Account: sepa()},
		moneymovement.CaptureResponse(&response))
	require.NoError(t, err)
	assert.Equal(t, first.ID, again.ID, "deduplicated by its account details")
	assert.True(t, response.Replayed)

	capabilities, err := account.Contacts.Capabilities(t.Context(), first.ID)
	require.NoError(t, err)
	require.NotNil(t, capabilities.Payable)
	assert.True(t, *capabilities.Payable)
	assert.Empty(t, capabilities.Blockers)

	require.NoError(t, account.Contacts.Delete(t.Context(), first.ID))
	_, err = account.Contacts.Capabilities(t.Context(), first.ID)
	as[*errors.NotFound](t, err)
}

// Rule: idempotency.client
func TestClientsLive(t *testing.T) {
	w := newWorld(t)
	integrator := w.integrator()
	var response moneymovement.Response
	first, err := integrator.Clients.Create(t.Context(),
		dapi.ClientCreate{Email: "acme@example.com", Type: dapi.ClientTypeBusiness, EntityName: "Acme"})
	require.NoError(t, err)
	again, err := integrator.Clients.Create(t.Context(), dapi.ClientCreate{Email: "acme@example.com"},
		moneymovement.CaptureResponse(&response))
	require.NoError(t, err)
	assert.Equal(t, first.ID, again.ID, "the email is the natural key")
	assert.True(t, response.Replayed)

	_, err = integrator.For("cl_nobody").Contacts.Capabilities(t.Context(), "ct_1")
	as[*errors.NotFound](t, err)
}

// The host takes what an applicant says by the assumed names: only the document is outstanding then.
func TestTheHostKnowsTheNamesOfAnApplicant(t *testing.T) {
	w := newWorld(t)
	platform := w.integrator()
	for email, applicant := range map[string]dapi.Applicant{
		"business@example.com": {LegalName: "Example", Country: "DE"},
		"person@example.com":   {FirstName: "Bob", LastName: "Roe", Country: "DE"},
		"further@example.com":  {Country: "DE", Further: map[string]any{"entityName": "Example"}},
	} {
		client, err := platform.Clients.Create(t.Context(), dapi.ClientCreate{Email: email})
		require.NoError(t, err)
		saved, err := platform.For(client.ID).Verification.Save(t.Context(),
			dapi.KYBInformation{Applicant: applicant.Map()})
		require.NoError(t, err)
		require.Len(t, saved.Requirements, 1, email)
		assert.Equal(t, "documentIds", saved.Requirements[0].Field)
	}
}

// What the host was sent and what it returns, field by field.
// Rule: resource.payout, resource.payin, resource.decimals, resource.dates, resource.id-prefixes
// Rule: contact.linked-account
func TestResourcesCarryTheirFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newPayWorld(t)
		client := w.readyClient()

		quoted, err := client.Payins.Create(t.Context(), dapi.PayinCreate{
			Amount: amount("10.000001"), Currency: "USDC", OriginChainID: 1, MaxAmount: amount("12"),
		})
		require.NoError(t, err)
		assert.EqualValues(t, 1, quoted.OriginChainID)
		assert.Equal(t, "10.000001", quoted.Amount.String())
		assert.Equal(t, "12", quoted.MaxAmount.String())
		assert.Equal(t, "9.700001", quoted.Quote.DestinationAmount.String())

		linked, err := client.Contacts.Create(t.Context(), dapi.ContactCreate{Email: w.Developer().Email})
		require.NoError(t, err)
		assert.Regexp(t, "^ct_", linked.ID)
		assert.Regexp(t, "^[0-9a-f-]{36}$", linked.UserID)
		assert.Equal(t, linked.UserID, linked.User.ID)

		terms := dapi.PayoutCreate{
			ContactID: linked.ID, Amount: amount("1.000001"), Currency: dapi.USDC, PaymentReference: "Invoice 42",
			Purpose:     "goods",
			DocumentIDs: []string{"doc_1"}, FromChainID: 8453, ToChainID: 8453,
		}
		booked, err := client.Payouts.Book(t.Context(), terms)
		require.NoError(t, err)
		assert.Regexp(t, "^po_", booked.ID)
		carried := dapi.PayoutCreate{
			ContactID: booked.ContactID, Amount: booked.Amount, Currency: booked.Currency,
			PaymentReference: booked.PaymentReference,
			Purpose:          booked.Purpose, DocumentIDs: booked.DocumentIDs,
			FromChainID: booked.FromChainID, ToChainID: booked.ToChainID,
		}
		assert.Equal(t, terms, carried)
		assert.Equal(t, time.UTC, booked.CreatedAt.Location())
	})
}

// Rule: coverage.chains
func TestChainsAreListed(t *testing.T) {
	w := newWorld(t)
	codes := map[dapi.ChainCode]dapi.ChainID{}
	for chain, err := range w.integrator().Self().Chains.All(t.Context(), dapi.ListChainsParams{Limit: 2}) {
		require.NoError(t, err)
		require.NotEmpty(t, chain.Tokens)
		codes[chain.Code] = chain.ChainID
	}
	assert.Equal(t, dapi.ChainID(8453), codes["base"])
	assert.Greater(t, len(codes), 2)
	assert.Greater(t, w.Sent("ListChains"), 1)
}

// The host's ledger is walked as its pages come, and filtered as it was asked.
// Rule: page.next-cursor, page.cursor-of-its-query, ledger.whole-account
func TestPagesOfTheHostsLedger(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	for i := range 5 {
		w.Credit(account.Sandbox, fmt.Sprint(i+1), dapi.USDC)
		w.Host.Advance(time.Minute)
	}
	var all []dapi.Transaction
	for transaction, err := range account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 2}) {
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(5-len(all)), transaction.Amount.String())
		all = append(all, transaction)
	}
	assert.Len(t, all, 5)
	assert.Equal(t, 3, w.Sent("ListTransactions"))
	list := func(params dapi.ListTransactionsParams) (*dapi.TransactionPage, error) {
		return account.Transactions.List(t.Context(), params)
	}
	payouts, err := list(dapi.ListTransactionsParams{Type: dapi.TransactionTypePayout})
	require.NoError(t, err)
	assert.Empty(t, payouts.Items)
	since, err := list(dapi.ListTransactionsParams{Since: all[1].CreatedAt, Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, all[:1], since.Items)
	_, err = list(dapi.ListTransactionsParams{Limit: 1, Cursor: since.NextCursor, Type: dapi.TransactionTypePayout})
	as[*errors.InvalidCursor](t, err)
}

func TestLiveChainsAreAskedForOncePerLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		platform := w.integrator()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				chains, err := platform.Self().Chains.Live(t.Context())
				assert.NoError(t, err)
				assert.NotEmpty(t, chains)
			})
		}
		all.Wait()
		assert.Equal(t, 1, w.Sent("ListChains"))

		time.Sleep(10*time.Minute - 1)
		_, err := platform.Self().Chains.Live(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, w.Sent("ListChains"))
		time.Sleep(time.Nanosecond)
		_, err = platform.For("cl_1").Chains.Live(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2, w.Sent("ListChains"))
	})
}

// Who waits for the listing of another caller waits no longer than there is time.
func TestChainListingOfAnotherCallerIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		chains := w.integrator().Self().Chains
		w.Host.Arm("GET", "/chains", sandbox.Delay(5*time.Second))
		var first sync.WaitGroup
		first.Go(func() {
			_, err := chains.Live(t.Context())
			assert.NoError(t, err)
		})
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := chains.Live(ctx)
		undelivered := as[*errors.NotDelivered](t, err)
		assert.Equal(t, "ListChains", undelivered.Operation)
		assert.Empty(t, undelivered.IdempotencyKey)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		_, err = chains.Live(t.Context())
		require.NoError(t, err)
		first.Wait()
		assert.Equal(t, 1, w.Sent("ListChains"))
	})
}

// Balances are held on Base: what a token of the same name has on another chain does not count.
func TestDecimalsOfAnotherChain(t *testing.T) {
	w := newPayWorld(t)
	w.onSuccess("GET", "/chains", func(listing map[string]any) {
		for _, chain := range listing["items"].([]any) {
			if chain := chain.(map[string]any); chain["code"] != "base" {
				for _, token := range chain["tokens"].([]any) {
					token.(map[string]any)["decimals"] = 1
				}
			}
		}
	})
	chains, err := w.account.Chains.Live(t.Context())
	require.NoError(t, err)
	require.Greater(t, len(chains), 1)
	w.asked.Amount = amount("5.25")
	_, err = w.pay()
	require.NoError(t, err)
}

// An amount is held to what the listing says, once it is known. Before that, and for a token that is not in it, the
// service decides.
// Rule: error.amount-precision
func TestAmountsWithTooManyDecimalsForTheirTokenAreRefused(t *testing.T) {
	w := newPayWorld(t)
	book := func(asset dapi.Asset, value string) error {
		asked := w.asked
		asked.Currency, asked.Amount = asset, amount(value)
		_, err := w.account.Payouts.Book(t.Context(), asked)
		return err
	}
	said := as[*errors.ValidationFailed](t, book(dapi.USDC, "1.0000001"))
	assert.Equal(t, "amount_precision", said.Fields[0].Code)
	require.ErrorContains(t, said, "amount (amount_precision): The currency has 6 decimals")
	assert.Zero(t, w.Sent("ListChains"), "a payment does not wait for the listing")

	_, err := w.account.Chains.Live(t.Context())
	require.NoError(t, err)
	sent := w.Sent("BookPayout")
	refused := as[*errors.InvalidInput](t, book(dapi.USDC, "1.0000001"))
	assert.Equal(t,
		[]errors.Field{{Field: "amount", Code: "amount_precision",
			Message: "has 7 decimals, but USDC allows at most 6"}},
		refused.Fields)
	_, err = w.account.Payouts.Pay(t.Context(),
		dapi.PayoutCreate{ContactID: w.asked.ContactID, Amount: amount("1.0000001"), Currency: dapi.USDC}, "fine",
		dapi.PayTerms{})
	assert.Equal(t, refused.Fields, as[*errors.InvalidInput](t, err).Fields)
	_, err = w.account.Escrows.Create(t.Context(), dapi.EscrowCreate{Payee: payee, Amount: amount("1.0000001"),
		Currency: dapi.USDC})
	assert.Equal(t, refused.Fields, as[*errors.InvalidInput](t, err).Fields)
	_, err = w.account.Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: amount("1.0000001"), Currency: dapi.USDC})
	assert.Equal(t, refused.Fields, as[*errors.InvalidInput](t, err).Fields)
	assert.Equal(t, sent, w.Sent("BookPayout"))

	said = as[*errors.ValidationFailed](t, book("DAI", "1.0000001"))
	assert.Equal(t, "currency", said.Fields[0].Field)
	assert.Equal(t, 1, w.Sent("ListChains"))
}

// Payments ask for the listing, which must not walk without end.
func TestChainListingWithoutEndFails(t *testing.T) {
	w := newPayWorld(t)
	pages := 0
	w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
		if strings.HasSuffix(r.URL.Path, "/chains") {
			pages++
			inprocess.SetBody(response, fmt.Appendf(nil, `{"items":[],"nextCursor":"page-%d"}`, pages))
			response.StatusCode = http.StatusOK
		}
	})
	_, err := w.account.Chains.Live(t.Context())
	endless := as[*errors.UnexpectedResponse](t, err)
	assert.Equal(t, "ListChains", endless.Operation)
	assert.Empty(t, endless.IdempotencyKey)
	assert.Equal(t, 10, pages)
}

// A write of which the description does not say what it returns is done when the service takes it. The resource is read
// where it can be.
func TestSuccessWithoutAResource(t *testing.T) {
	w := newPayWorld(t)
	client := w.readyClient()
	payin, err := client.Payins.Create(t.Context(),
		dapi.PayinCreate{Amount: amount("5"), Currency: "USDC", OriginChainID: 1})
	require.NoError(t, err)
	_, err = client.Payins.Instructions(t.Context(), payin.ID)
	require.NoError(t, err)
	paid, err := w.pay()
	require.NoError(t, err)
	contact := w.Contact(w.account.Contacts, sepa())
	for name, c := range map[string]struct {
		method, path string
		call         func(...moneymovement.CallOption) (any, error)
		read         bool // shows what was read
	}{
		"SaveKYB": {"PUT", "/client/kyb", func(o ...moneymovement.CallOption) (any, error) {
			kyb, err := client.Verification.Save(t.Context(),
				dapi.KYBInformation{Applicant: map[string]any{"country": "DE"}},
				o...)
			return kyb.Status, err
		}, true},
		"OpenRail": {"POST", "/banks", func(o ...moneymovement.CallOption) (any, error) {
			rail, err := client.Rails.Open(t.Context(), dapi.RailCreate{Method: dapi.BankMethodSEPA, Currency: "EUR"},
				o...)
			return rail.Method, err
		}, true},
		"UpdateContact": {"PATCH", "/contacts/*", func(o ...moneymovement.CallOption) (any, error) {
			updated, err := w.account.Contacts.Update(t.Context(), contact, dapi.ContactUpdate{}, o...)
			return updated.ID, err
		}, false},
		"CompletePayin": {"POST", "/sandbox/payins/*/complete", func(o ...moneymovement.CallOption) (any, error) {
			done, err := client.Sandbox.CompletePayin(t.Context(), payin.ID, forWrite(o)...)
			return done.ID, err
		}, true},
		"MovePayout": {"POST", "/sandbox/payouts/*/status", func(o ...moneymovement.CallOption) (any, error) {
			moved, err := w.account.Sandbox.SetPayoutStatus(t.Context(), paid.Payout.ID, dapi.PayoutStatusCompleted,
				forWrite(o)...)
			return moved.ID, err
		}, true},
	} {
		for _, body := range []string{"", `{"ok":true}`} {
			t.Run(name+" "+body, func(t *testing.T) {
				status := http.StatusOK
				if body == "" {
					status = http.StatusNoContent
				}
				w.Host.Arm(c.method, c.path, sandbox.Respond(status, "").WithBody(body).AfterCommit())
				var response moneymovement.Response
				shown, err := c.call(moneymovement.CaptureResponse(&response))
				require.NoError(t, err)
				assert.Equal(t, c.read, shown != nil && shown != dapi.ContactID(""), "%v", shown)
				assert.Equal(t, status, response.Status, "the response is the write's")
				assert.Equal(t, body, string(response.Body))
			})
		}
	}
}

// Text that is not valid JSON fails neither a page nor a payment: all else is read. What proves nothing without it
// stays no proof.
func TestTextThatJSONDoesNotAllow(t *testing.T) {
	w := newPayWorld(t)
	damage := func(method, pattern, member string) {
		w.Wire.OnResponse(func(r *http.Request, response *http.Response) {
			is, err := path.Match(method+" "+pattern, r.Method+" "+r.URL.Path)
			assert.NoError(t, err)
			if !is || response.StatusCode >= 300 {
				return
			}
			body, err := io.ReadAll(response.Body)
			assert.NoError(w, err)
			inprocess.SetBody(response, bytes.Replace(body, []byte(`"`+member+`":"`), []byte(`"`+member+`":"\ud83d`), 1))
		})
	}
	damage("POST", "/dapi/v1/payouts", "createdAt")
	paid, err := w.pay(journaled())
	require.NoError(t, err)
	assert.Equal(t, 1, w.Fundings())

	damage("GET", "/dapi/v1/transactions", "status")
	var response moneymovement.Response
	page, err := w.account.Transactions.List(t.Context(), dapi.ListTransactionsParams{},
		moneymovement.CaptureResponse(&response))
	require.NoError(t, err)
	assert.Greater(t, len(page.Items), 1)
	require.Len(t, response.Unread, 1)
	assert.Equal(t, "/items/0/status", response.Unread[0].Pointer)
	assert.NotEmpty(t, page.Items[0].ID)

	damage("GET", "/dapi/v1/payouts/*", "id")
	_, err = w.account.Payouts.Get(t.Context(), paid.Payout.ID)
	require.ErrorContains(t, err, "cannot be read")
	require.ErrorContains(t, as[*errors.UnexpectedResponse](t, err).Err, "/id is text that JSON does not allow")
}

// A login needs two things from the service: the bytes to sign, and the access token. All other members are assumed,
// and may be missing.
func TestLoginWithMinimalResponses(t *testing.T) {
	w := newWorld(t)
	w.onSuccess("POST", "/auth/challenge", func(challenge map[string]any) { delete(challenge, "expiresAt") })
	w.onSuccess("POST", "/auth/token", func(grant map[string]any) {
		for member := range grant {
			if member != "accessToken" {
				delete(grant, member)
			}
		}
	})
	_, err := w.integrator().Self().Transactions.List(t.Context(), dapi.ListTransactionsParams{})
	require.NoError(t, err)
}

// forWrite are options of any call as those of a write that a key anchors.
func forWrite(options []moneymovement.CallOption) []moneymovement.WriteOption {
	var write []moneymovement.WriteOption
	for _, option := range options {
		write = append(write, option)
	}
	return write
}
