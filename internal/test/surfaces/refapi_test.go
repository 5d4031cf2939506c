package surfaces_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// referenceWorld is a host, a client of the reference endpoints, and one of the app API for what those only read.
type referenceWorld struct {
	*worlds.World
	client *refapi.Client
	app    *appapi.Client
}

func newReferenceWorld(t *testing.T, options ...moneymovement.Option) *referenceWorld {
	t.Helper()
	w := worlds.Serve(t, worlds.FrozenClock())
	return &referenceWorld{w, w.Reference(w.AccessToken(), options...), w.App(w.AppKey())}
}

func (w *referenceWorld) invoice() *model.Invoice {
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
	w := newReferenceWorld(t)
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
	w := newReferenceWorld(t)
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

func TestHostListsProducts(t *testing.T) {
	w := newReferenceWorld(t)
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
	w := newReferenceWorld(t, moneymovement.WithoutPacing())
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

func TestHostShowsTheStatusOfAQuote(t *testing.T) {
	w := newReferenceWorld(t)
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
	w := newReferenceWorld(t)
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
	w := newReferenceWorld(t)
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

// TestLostUpdateResponsesAreRepeated: an update whose response is lost was made, and sending it again makes it no
// other.
func TestLostUpdateResponsesAreRepeated(t *testing.T) {
	const path = "/api/v1/documents/contracts/invoices/{invoice_id}"
	w := newReferenceWorld(t, moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	invoice := w.invoice()
	lost := w.Host.Arm("PUT", path, sandbox.DropAfterCommit())
	_, err := w.client.Invoices.Update(t.Context(), invoice.ID, paid)
	var inDoubt *errors.InDoubt
	require.ErrorAs(t, err, &inDoubt)
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

const detailsJSON = `{"cardNumber":"4000000000000002","cvv":"123","expiryDate":"12/29"}`

// cardService reveals details to the wallet of its card, as the description and the assumed message say.
type cardService struct {
	wallet string
	now    func() time.Time
	nonces []int64
}

func (s *cardService) response(r *http.Request) (*http.Response, error) {
	var proof model.CardDetailsProof
	if err := json.NewDecoder(r.Body).Decode(&proof); err != nil {
		return nil, err
	}
	s.nonces = append(s.nonces, proof.Nonce)
	signer, err := wallet.RecoverAddress(fmt.Appendf(nil, "Reveal card card-1 at %d", proof.Nonce),
		proof.MessageSignature.Reveal())
	age := s.now().Sub(time.Unix(proof.Nonce, 0))
	got := response(http.StatusOK, detailsJSON)
	if err != nil || signer != s.wallet || age < 0 || age > 5*time.Minute {
		got = response(http.StatusForbidden, `{"error":{"code":"forbidden","message":"not the card's holder"}}`)
	}
	got.Header.Set("Date", s.now().UTC().Format(http.TimeFormat))
	return got, nil
}

// slow is a wallet that asks a person first.
type slow struct {
	*wallet.Key
	takes time.Duration
}

func (s slow) SignMessage(ctx context.Context, message []byte) (string, error) {
	select {
	case <-time.After(s.takes):
		return s.Key.SignMessage(ctx, message)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func newKey(t *testing.T) *wallet.Key {
	t.Helper()
	key, err := wallet.Generate()
	require.NoError(t, err)
	return key
}

func TestWalletRevealsCardDetails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		service := &cardService{wallet: key.Address(), now: time.Now}
		client := newClient(t, service.response)

		var got moneymovement.Response
		details, err := client.Cards.Details(t.Context(), "card-1", slow{key, 4 * time.Minute},
			moneymovement.CaptureResponse(&got))
		require.NoError(t, err)
		assert.Equal(t, "4000000000000002", details.CardNumber.Reveal())
		assert.Equal(t, "123", details.CVV.Reveal())
		assert.Equal(t, "12/29", details.ExpiryDate.Reveal())
		assert.Equal(t, http.StatusOK, got.Status)
		assert.Nil(t, got.Body, "it holds the number")
		assert.Equal(t, []int64{time.Now().Add(-4 * time.Minute).Unix()}, service.nonces)
	})
}

func TestCaptureBodyKeepsCardDetails(t *testing.T) {
	key := newKey(t)
	service := &cardService{wallet: key.Address(), now: time.Now}
	var plain, whole moneymovement.Response
	_, err := newClient(t, service.response).Cards.Details(t.Context(), "card-1", key,
		moneymovement.CaptureResponseWithSecrets(&whole), moneymovement.CaptureResponse(&plain))
	require.NoError(t, err)
	assert.Contains(t, string(whole.Body), "4000000000000002")
	assert.Nil(t, plain.Body)
	assert.Equal(t, http.StatusOK, plain.Status)
}

func TestAnotherWalletIsRefused(t *testing.T) {
	service := &cardService{wallet: newKey(t).Address(), now: time.Now}
	_, err := newClient(t, service.response).Cards.Details(t.Context(), "card-1", newKey(t))
	var forbidden *errors.Forbidden
	require.ErrorAs(t, err, &forbidden)
	assert.Equal(t, "RevealCardDetails", forbidden.Operation)
	assert.Len(t, service.nonces, 1)
}

func TestAStaleNonceIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		service := &cardService{wallet: key.Address(), now: time.Now}
		client := newClient(t, service.response)

		proof, err := model.SignCardDetails(t.Context(), key, "card-1", time.Now().Add(-301*time.Second))
		require.NoError(t, err)
		_, err = client.Cards.DetailsWithProof(t.Context(), "card-1", proof)
		require.True(t, is[*errors.Forbidden](err), "%v", err)

		// One that grew stale while it was signed is not even sent.
		_, err = client.Cards.Details(t.Context(), "card-1", slow{key, 5 * time.Minute})
		var invalid *errors.InvalidInput
		require.ErrorAs(t, err, &invalid)
		assert.Equal(t, "nonce", invalid.Fields[0].Field)
		assert.Equal(t, "stale", invalid.Fields[0].Code)
		assert.Len(t, service.nonces, 1)
	})
}

// TestNonceFollowsTheServiceClock: a machine whose clock is an hour off would otherwise never see a card.
func TestNonceFollowsTheServiceClock(t *testing.T) {
	for _, off := range []time.Duration{time.Hour, -time.Hour} {
		key := newKey(t)
		service := &cardService{wallet: key.Address(), now: func() time.Time { return time.Now().Add(off) }}
		client := newClient(t, service.response)
		_, err := client.Cards.Details(t.Context(), "card-1", key)
		require.True(t, is[*errors.Forbidden](err), "before the first response, there is only the machine's clock: %v",
			err)
		_, err = client.Cards.Details(t.Context(), "card-1", key)
		require.NoError(t, err, off)
	}
}

// TestEachRevealHasANonceOfItsOwn: also within one second, for the service need not take one twice.
func TestEachRevealHasANonceOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		service := &cardService{wallet: key.Address(), now: func() time.Time {
			return time.Now().Add(10 * time.Second)
		}}
		client := newClient(t, service.response)
		for range 5 {
			_, err := client.Cards.Details(t.Context(), "card-1", key)
			require.NoError(t, err)
		}
		slices.Sort(service.nonces)
		assert.Len(t, slices.Compact(service.nonces), 5)
	})
}

func TestCardMessageOption(t *testing.T) {
	key := newKey(t)
	var signature string
	client := newClient(t, func(r *http.Request) (*http.Response, error) {
		var proof model.CardDetailsProof
		if err := json.NewDecoder(r.Body).Decode(&proof); err != nil {
			return nil, err
		}
		signature = proof.MessageSignature.Reveal()
		return response(http.StatusOK, detailsJSON), nil
	})
	_, err := client.Cards.Details(t.Context(), "card-1",
		model.WithCardMessage(key, func(id string, _ int64) string { return "show me " + id }))
	require.NoError(t, err)
	signer, err := wallet.RecoverAddress([]byte("show me card-1"), signature)
	require.NoError(t, err)
	assert.Equal(t, key.Address(), signer)
}

func TestNothingIsSentIfTheWalletDoesNotSign(t *testing.T) {
	client := newClient(t, func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return response(http.StatusOK, detailsJSON), nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := client.Cards.Details(ctx, "card-1", slow{newKey(t), time.Hour})
	require.True(t, is[*errors.NotDelivered](err), "%v", err)
	require.ErrorIs(t, err, context.Canceled)

	for card, signer := range map[string]model.CardSigner{"card-1": nil, "card-2": &wallet.Key{}, "a\nb": newKey(t),
		"": newKey(t)} {
		_, err = client.Cards.Details(t.Context(), card, signer)
		assert.True(t, is[*errors.InvalidInput](err), "%q %v", card, err)
	}
}

func TestCardDetailsDoNotPrint(t *testing.T) {
	client := newClient(t, func(*http.Request) (*http.Response, error) {
		return response(http.StatusOK, detailsJSON), nil
	})
	details, err := client.Cards.Details(t.Context(), "card-1", newKey(t))
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d"} {
		assert.NotContains(t, fmt.Sprintf(verb, details), "40000000", verb)
		assert.NotContains(t, fmt.Sprintf(verb, *details), "123", verb)
	}
}

const baseURL = "https://service.example"

// newClient is a client whose requests get the responses of respond.
func newClient(t *testing.T, respond testkit.Connection) *refapi.Client {
	t.Helper()
	client, err := refapi.New(baseURL, refapi.Credential{AccessToken: refapi.NewAccessToken("token-1")},
		moneymovement.WithHTTPClient(&http.Client{Transport: respond}))
	require.NoError(t, err)
	return client
}

func response(status int, body string) *http.Response {
	got, _ := testkit.Page(status, "application/json", body)(nil) // it never fails
	return got
}
