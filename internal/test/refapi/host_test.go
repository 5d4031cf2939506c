package refapi_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// world is a host, a client of the reference endpoints, and one of the app API for what those only read.
type world struct {
	*worlds.World
	client *refapi.Client
	app    *appapi.Client
}

func newWorld(t *testing.T, options ...moneymovement.Option) *world {
	t.Helper()
	w := worlds.Serve(t, worlds.Standing())
	return &world{w, w.Reference(w.AccessToken(), options...), w.App(w.AppKey())}
}

func (w *world) invoice() *model.Invoice {
	w.Helper()
	invoice, err := w.app.Invoices.Create(w.Context(), appapi.InvoiceCreate{
		Currency: model.InvoiceCurrencyEUR, ClientEmail: "client@example.com",
		Items: []model.LineItem{{Name: "Tea", Quantity: model.NewNumber(decimal.NewFromInt(3)),
			Price: decimal.RequireFromString("4.20")}},
	})
	require.NoError(w, err)
	return invoice
}

func TestHostInvoicesArePaidOffline(t *testing.T) {
	w := newWorld(t)
	for name, update := range map[string]func(string, model.InvoiceUpdate) (*model.Invoice, error){
		"path": func(id string, change model.InvoiceUpdate) (*model.Invoice, error) {
			return w.client.Invoices.Update(t.Context(), id, change)
		},
		"other path": func(id string, change model.InvoiceUpdate) (*model.Invoice, error) {
			return w.client.Invoices.UpdateOnInvoicesPath(t.Context(), id, change)
		},
	} {
		t.Run(name, func(t *testing.T) {
			now, err := update(w.invoice().ID, paid)
			require.NoError(t, err)
			assert.Equal(t, model.InvoiceStatusPaid, now.Status)
			assert.WithinDuration(t, w.Host.Now(), now.PaidAt, time.Minute)
			assert.Nil(t, now.Transaction)
			assert.Empty(t, now.OnchainTransactionID)

			lastWeek := w.Host.Now().Add(-7 * 24 * time.Hour).UTC().Truncate(time.Millisecond)
			backdated, err := update(w.invoice().ID, model.InvoiceUpdate{
				Status: model.InvoiceStatusPaid, PaidAt: model.Set(lastWeek),
				OnchainTransactionID: model.Set("statement " + name),
			})
			require.NoError(t, err)
			assert.True(t, lastWeek.Equal(backdated.PaidAt), "%s", backdated.PaidAt)
			assert.Equal(t, "statement "+name, backdated.OnchainTransactionID)

			_, err = update("0b1f7d3e-58a4-4c8e-9d55-3f1f0f0c9a11", paid)
			assert.True(t, is[*errors.NotFound](err), "%v", err)
			_, err = update(w.invoice().ID, model.InvoiceUpdate{Status: "settled"})
			var failed *errors.DetailErrors
			require.ErrorAs(t, err, &failed)
			require.Len(t, failed.Items, 1)
			assert.Equal(t, "body.status", failed.Items[0].Path)
		})
	}
}

func TestHostContractsAreRead(t *testing.T) {
	w := newWorld(t)
	amount := decimal.RequireFromString("1200.50")
	made, err := w.app.Contracts.Create(t.Context(), appapi.ContractCreate{
		ContractorEmail: "contractor@example.com", Type: model.ContractTypeService, Period: "monthly", Label: "Design",
		Fields: appapi.ContractFields{Amount: amount, Currency: model.FiatCurrencyEUR, JobTitle: "Designer"},
	})
	require.NoError(t, err)
	read, err := w.client.Contracts.Get(t.Context(), made.ID)
	require.NoError(t, err)
	assert.Equal(t, made, read)
	assert.True(t, amount.Equal(*read.Amount))
	assert.False(t, read.Contractor.IsBusiness)
	assert.Equal(t, "Designer", read.Fields["jobTitle"])
	_, err = w.client.Contracts.Get(t.Context(), "5d0c2a64-0c6e-4f0a-8a53-6e4a4f9f1c22")
	assert.True(t, is[*errors.NotFound](err), "%v", err)
}

func TestHostListsWhatIsOnSale(t *testing.T) {
	w := newWorld(t)
	onSale, err := w.client.Products.List(t.Context(), refapi.ListMerchantProductsParams{})
	require.NoError(t, err)
	same, err := w.client.Products.List(t.Context(), refapi.ListMerchantProductsParams{ActiveOnly: new(true)})
	require.NoError(t, err)
	all, err := w.client.Products.List(t.Context(), refapi.ListMerchantProductsParams{ActiveOnly: new(false)})
	require.NoError(t, err)
	assert.Equal(t, onSale, same, "the default is what is on sale")
	assert.Greater(t, len(all), len(onSale))
	require.NotEmpty(t, onSale)
	for _, product := range onSale {
		assert.True(t, product.Active)
	}
}

func TestHostRevealsACardToItsWalletOnly(t *testing.T) {
	w := newWorld(t, moneymovement.WithoutPacing())
	none, err := w.client.Cards.List(t.Context())
	require.NoError(t, err)
	assert.Empty(t, none.Cards)
	assert.Equal(t, model.KYCStatusNotStarted, none.KYCStatus)

	_, err = w.app.Cards.Create(t.Context(), appapi.CardCreate{Format: "virtual"})
	require.NoError(t, err)
	w.Host.Advance(time.Hour) // the client's clock is far behind the service's now
	list, err := w.client.Cards.List(t.Context())
	require.NoError(t, err)
	require.Len(t, list.Cards, 1)
	card, key := list.Cards[0], w.Host.Credentials().Wallet
	assert.Equal(t, key.Address(), card.WalletAddress)
	assert.Equal(t, model.CardStatusActive, card.Status)

	for range 3 { // within one second, and each with a nonce of its own
		details, err := w.client.Cards.Details(t.Context(), card.ID, key)
		require.NoError(t, err)
		assert.Regexp(t, `^\d{12}`+card.CardData.LastFour+`$`, details.CardNumber.Reveal())
		assert.NotEmpty(t, details.CVV.Reveal())
		assert.NotEmpty(t, details.ExpiryDate.Reveal())
	}

	_, err = w.client.Cards.Details(t.Context(), card.ID, newKey(t))
	assert.True(t, is[*errors.SignatureInvalid](err), "another wallet: %v", err)
	_, err = w.client.Cards.Details(t.Context(), card.ID,
		model.WithCardMessage(key, func(string, int64) string { return "Show me" }))
	assert.True(t, is[*errors.SignatureInvalid](err), "another message: %v", err)

	stale, err := model.SignCardDetails(t.Context(), key, card.ID, w.Host.Now().Add(-6*time.Minute))
	require.NoError(t, err)
	_, err = w.client.Cards.DetailsWithProof(t.Context(), card.ID, stale)
	var failed *errors.DetailErrors
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "body.nonce", failed.Items[0].Path)

	fresh, err := model.SignCardDetails(t.Context(), key, card.ID, w.Host.Now().Add(-time.Minute))
	require.NoError(t, err)
	_, err = w.client.Cards.DetailsWithProof(t.Context(), card.ID, fresh)
	require.NoError(t, err)
	_, err = w.client.Cards.DetailsWithProof(t.Context(), card.ID, fresh)
	assert.True(t, is[*errors.Conflict](err), "a nonce reveals once: %v", err)
}

func TestHostTellsHowFarAQuotedPaymentHasCome(t *testing.T) {
	w := newWorld(t)
	quote, err := w.app.Quotes.PayinFromChain(t.Context(),
		appapi.BalancePayinQuote{Amount: decimal.RequireFromString("25.10"), Currency: "USDC", OriginChainID: 1})
	require.NoError(t, err)
	status, err := w.client.Quotes.Status(t.Context(), quote.QuoteID)
	require.NoError(t, err)
	assert.Equal(t, quote.QuoteID, status.QuoteID)
	assert.Equal(t, "25.1", status.FromAmount.String())
	assert.False(t, refapi.Settled(status), status.Status)

	// Nobody pays, and the price expires while it is waited for.
	reads := 0
	status, err = w.client.Quotes.Wait(t.Context(), quote.QuoteID, refapi.Settled,
		moneymovement.PollEvery(time.Millisecond, time.Millisecond),
		moneymovement.OnProgress(func(moneymovement.Progress) {
			if reads++; reads == 2 {
				w.Host.Advance(10 * time.Minute)
			}
		}))
	require.NoError(t, err)
	assert.Equal(t, "expired", status.Status)
	assert.NotEmpty(t, status.ErrorMessage)
	_, err = w.client.Quotes.Wait(t.Context(), "q_of_nobody", refapi.Settled)
	assert.True(t, is[*errors.NotFound](err), "%v", err)
}

func TestHostTakesLoginsAndWebhooks(t *testing.T) {
	w := newWorld(t)
	key := w.Host.Credentials().Wallet
	signature, err := key.SignMessage(t.Context(), []byte("log me in"))
	require.NoError(t, err)
	result, err := w.client.Wallet.LogIn(t.Context(),
		refapi.WalletLogin{Message: "log me in",
			Signatures: []moneymovement.Secret{moneymovement.NewSecret(signature)}}, refapi.LogInWalletParams{})
	require.NoError(t, err)
	assert.NotEmpty(t, result.Status)

	ok, err := w.client.Webhooks.Send(t.Context(), "acme", refapi.WebhookEvent{
		EventType: "approved", EntityType: "applicant", EntityID: "a_7", CreatedAt: "2026-01-02T03:04:05Z",
		EventPayload: model.OpenObject{"amount": model.NewNumber(decimal.RequireFromString("0.1"))},
	})
	require.NoError(t, err)
	assert.True(t, ok)
}

// TestHostKeepsCredentialsApart: what opens one surface opens no other.
func TestHostKeepsCredentialsApart(t *testing.T) {
	w := newWorld(t)
	credentials := w.Host.Credentials()
	withAppKey := w.Reference(refapi.Credential{AccessToken: refapi.NewAccessToken(credentials.APIKey.Reveal())})
	_, err := withAppKey.Cards.List(t.Context())
	assert.True(t, is[*errors.Unauthenticated](err) || is[*errors.Forbidden](err), "%v", err)

	withToken := w.App(appapi.NewAPIKey(credentials.AccessToken.Reveal()))
	_, err = withToken.Cards.List(t.Context())
	assert.True(t, is[*errors.Unauthenticated](err) || is[*errors.Forbidden](err), "%v", err)

	both := w.AccessToken()
	both.APIKey = refapi.NewAPIKey(credentials.APIKey.Reveal())
	_, err = w.Reference(both).Cards.List(t.Context())
	require.NoError(t, err)

	_, err = w.Public().Rates.Get(t.Context(), "EUR")
	require.NoError(t, err)
}

// TestHostLostAnswers: an update whose answer is lost was made, and sending it again makes it no other.
func TestHostLostAnswers(t *testing.T) {
	const path = "/api/v1/documents/contracts/invoices/{invoice_id}"
	w := newWorld(t, moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	invoice := w.invoice()
	lost := w.Host.Arm("PUT", path, sandbox.DropAfterCommit())
	_, err := w.client.Invoices.Update(t.Context(), invoice.ID, paid)
	var unknown *errors.InDoubt
	require.ErrorAs(t, err, &unknown)
	assert.Equal(t, 1, lost.Consumed())
	read, err := w.app.Invoices.Get(t.Context(), invoice.ID)
	require.NoError(t, err)
	assert.Equal(t, model.InvoiceStatusPaid, read.Status)
	again, err := w.client.Invoices.Update(t.Context(), invoice.ID, paid)
	require.NoError(t, err)
	assert.Equal(t, read.PaidAt, again.PaidAt)
}

var paid = model.InvoiceUpdate{Status: model.InvoiceStatusPaid}

func is[E error](err error) bool { _, ok := errors.AsType[E](err); return ok }

// A credential of another surface is refused with 401. The error says what it looks like.
func TestACredentialOfAnotherSurface(t *testing.T) {
	w := worlds.New(t)
	credentials := w.Host.Credentials()
	_, err := w.App(appapi.NewAPIKey(credentials.AccessToken.Reveal())).Account.Balances(t.Context())
	assert.ErrorContains(t, err, "looks like an access token of the reference endpoints, which package refapi takes")
	app := credentials.APIKey.Reveal()
	_, err = w.Reference(refapi.Credential{AccessToken: refapi.NewAccessToken(app)}).Cards.List(t.Context())
	assert.ErrorContains(t, err, "looks like an app key, which package appapi takes")
	_, err = w.App(appapi.NewAPIKey("ak_of-nobody")).Account.Balances(t.Context())
	assert.ErrorContains(t, err, "401 unauthenticated")
	assert.NotContains(t, err.Error(), "looks like", "it has the form of this surface")
}
