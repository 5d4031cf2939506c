package account_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/account"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/platform"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/session"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/appwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// invoices is paperwork with one invoice of each amount in dollars.
type invoices map[string]struct {
	amount decimal.Decimal
	hash   string
}

func (i invoices) Settle(id string, pay func(decimal.Decimal, string, string) (string, error)) error {
	due, ok := i[id]
	switch {
	case !ok:
		return wire.NotFound()
	case due.hash != "":
		return wire.Conflict("The invoice is paid.")
	}
	var err error
	due.hash, err = pay(due.amount, "USD", "friend@example.com")
	if err == nil {
		i[id] = due
	}
	return err
}

// world is the account service on a platform, without a gate.
type world struct {
	*account.Service
	platform *platform.Platform
	keys     *session.AppKeys
	clock    *clock.Clock
	settings deployment.Settings
	invoices invoices
	ctx      context.Context
	key      session.AppKey
	config   account.Config
	kept     *storetest.Encoded
}

func newWorld(t require.TestingT, limit string) *world {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := &world{kept: new(storetest.Encoded)}
	w.clock, w.settings, w.invoices = clock.New(func() time.Time {
		return start
	}), deployment.DefaultSettings(), invoices{}
	settings := func() *deployment.Settings { return &w.settings }
	w.platform = platform.New(w.clock, settings, func(string) (string, bool) { return "", false }, w.kept)
	w.keys = session.NewAppKeys(w.clock, w.kept)
	w.config = account.Config{
		Clock: w.clock, Settings: settings, Platform: w.platform, Keys: w.keys, Invoices: w.invoices, Store: w.kept,
	}
	w.Service = account.New(w.config)
	spend := decimal.RequireFromString(limit)
	var err error
	w.key, err = w.keys.Register(session.AppAccount{ID: "acc_1", Email: "ops@example.com"},
		session.AppRegistration{SpendLimit: &spend})
	require.NoError(t, err)
	_, err = w.platform.OwnAccount(wire.Caller{Owner: "acc_2", Email: "friend@example.com"}).Identity()
	require.NoError(t, err)
	w.ctx = w.as("")
	return w
}

// reopen opens the account and its keys again from the store, and asserts that the owner reads the same.
func (w *world) reopen(t require.TestingT) {
	read, records := w.read(t), w.Records()
	require.Empty(t, w.kept.Stale())
	w.keys = session.NewAppKeys(w.clock, w.kept)
	w.config.Keys = w.keys
	w.Service = account.New(w.config)
	require.Equal(t, read, w.read(t))
	require.Equal(t, records, w.Records())
}

// read returns what the owner reads, in JSON.
func (w *world) read(t require.TestingT) string {
	var all []any
	take := func(answer wire.Response, err error) {
		require.NoError(t, err)
		all = append(all, answer.Body)
	}
	take(w.GetApp(w.ctx))
	take(w.GetProfile(w.ctx))
	take(w.ListContacts(w.ctx, appwire.ListContactsParams{Limit: 100}))
	take(w.ListTransfers(w.ctx, appwire.ListTransfersParams{Limit: 100}))
	take(w.ListTransactions(w.ctx, appwire.ListTransactionsParams{Limit: 100}))
	text, err := json.Marshal(append(all, w.Logins(), w.Events()), json.Deterministic(true))
	require.NoError(t, err)
	return string(text)
}

// as returns the context of a request with an idempotency key.
func (w *world) as(key string) context.Context {
	caller := w.key.Account.Caller()
	caller.KeyID, caller.IdempotencyKey = w.key.ID, key
	return wire.WithCaller(context.Background(), caller)
}

func (w *world) contact(t require.TestingT, chain, token string) string {
	var account commonwire.ContactAccount
	require.NoError(t, account.FromOnchainAccount(commonwire.OnchainAccount{
		AccountType: commonwire.AccountTypeOnchain, ChainID: chain, Currency: token,
		WalletAddress: "0x52908400098527886E0F7030069857D2E4169EE7",
	}))
	answer, err := w.CreateContact(w.ctx, appwire.ContactCreate{Account: account})
	require.NoError(t, err)
	return answer.Body.(appwire.Contact).ID
}

func (w *world) remaining(t require.TestingT) decimal.Decimal {
	key, err := w.keys.Get(w.key.ID)
	require.NoError(t, err)
	return *key.Remaining()
}

func (w *world) transfers(t require.TestingT) []appwire.Transfer {
	answer, err := w.ListTransfers(w.ctx, appwire.ListTransfersParams{Limit: 100})
	require.NoError(t, err)
	return answer.Body.(appwire.TransferList).Items
}

// After any operations of an app the ledger balances, only the outside account is negative, and the key's spent amount
// equals the debits of its transfers.
func TestLedgerBalancesAfterAppCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, "150")
		direct, routed := w.contact(t, "base", "USDC"), w.contact(t, "arbitrum", "USDT")
		var quotes []string
		drawAmount := func() decimal.Decimal {
			return decimal.New(int64(rapid.IntRange(-1, 90_000_000).Draw(t, "millionths")), -6)
		}
		transfer := func(body appwire.TransferCreate) {
			_, _ = w.CreateTransfer(w.as(rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "key")), body)
		}
		t.Repeat(map[string]func(*rapid.T){
			"deposit": func(t *rapid.T) {
				_, _ = w.platform.CreateDeposit(w.as(rapid.StringMatching(`[a-z]{8}`).Draw(t, "key")),
					platformwire.DepositCreate{
						Amount: drawAmount(), Currency: platformwire.AssetUSDC,
					})
			},
			"pay a contact": func(*rapid.T) {
				amount := wire.NumberOf(drawAmount())
				transfer(appwire.TransferCreate{ContactID: rapid.SampledFrom([]string{direct, routed}).
					Draw(t, "contact"), Amount: &amount})
			},
			"quote": func(*rapid.T) {
				answer, err := w.QuoteBalancePayout(w.ctx,
					appwire.BalancePayoutQuote{ContactID: routed, Amount: drawAmount()})
				if err == nil {
					quotes = append(quotes, answer.Body.(appwire.Quote).QuoteID)
				}
			},
			"pay a quote": func(t *rapid.T) {
				if len(quotes) == 0 {
					t.Skip("needs a quote, and this sequence has not asked for one yet; another action is drawn")
				}
				transfer(appwire.TransferCreate{QuoteID: rapid.SampledFrom(quotes).Draw(t, "quote")})
			},
			"pay an invoice": func(t *rapid.T) {
				id := rapid.SampledFrom([]string{"i1", "i2", "i3"}).Draw(t, "invoice")
				if _, issued := w.invoices[id]; !issued {
					issuing := w.invoices[id]
					issuing.amount = drawAmount().Abs().Add(decimal.New(1, -2))
					w.invoices[id] = issuing
				}
				transfer(appwire.TransferCreate{InvoiceID: id})
			},
			"reopen": func(t *rapid.T) { w.reopen(t) },
			"time": func(t *rapid.T) {
				w.clock.Advance(time.Duration(rapid.IntRange(1, 8*24*60).Draw(t, "minutes")) * time.Minute / 8)
			},
			"": func(t *rapid.T) {
				books := w.platform.Ledger()
				for currency, sum := range books.Sums {
					require.True(t, sum.IsZero(), "%s sums to %s", currency, sum)
				}
				for account, held := range books.Balances {
					require.False(t, account != "outside" && held["USDC"].IsNegative(), "%s is overdrawn", account)
				}
				spent := decimal.Zero
				for _, tr := range w.transfers(t) {
					spent = spent.Add(tr.Amount.Decimal)
				}
				require.Equal(t, decimal.NewFromInt(150).Sub(spent).String(), w.remaining(t).String())
				require.False(t, w.remaining(t).IsNegative())
			},
		})
	})
}

func TestQuoteKeepsItsPriceWhenPricesWorsen(t *testing.T) {
	w := newWorld(t, "150")
	_, err := w.platform.CreateDeposit(w.ctx,
		platformwire.DepositCreate{Amount: decimal.NewFromInt(50), Currency: platformwire.AssetUSDC})
	require.NoError(t, err)
	routed := w.contact(t, "arbitrum", "USDT")
	answer, err := w.QuoteBalancePayout(w.ctx,
		appwire.BalancePayoutQuote{ContactID: routed, Amount: decimal.NewFromInt(20)})
	require.NoError(t, err)
	quote := answer.Body.(appwire.Quote)

	w.settings.PriceWorsening = decimal.RequireFromString("0.5")
	worse, err := w.QuoteBalancePayout(w.ctx,
		appwire.BalancePayoutQuote{ContactID: routed, Amount: decimal.NewFromInt(20)})
	require.NoError(t, err)
	require.NotEqual(t, quote.DestinationAmount, worse.Body.(appwire.Quote).DestinationAmount)
	_, err = w.CreateTransfer(w.ctx, appwire.TransferCreate{QuoteID: quote.QuoteID})
	require.NoError(t, err)
	status, err := w.Status(w.ctx, quote.QuoteID)
	require.NoError(t, err)
	assert.Equal(t, "completed", status.Status)
	assert.Equal(t, quote.DestinationAmount.String(), status.ToAmount.String())
}

func TestQuoteIsPayableAtItsOldPrice(t *testing.T) {
	w := newWorld(t, "150")
	_, err := w.platform.CreateDeposit(w.ctx,
		platformwire.DepositCreate{Amount: decimal.NewFromInt(50), Currency: platformwire.AssetUSDC})
	require.NoError(t, err)
	least := appwire.BalancePayoutQuote{
		ContactID: w.contact(t, "arbitrum", "USDT"), Amount: decimal.RequireFromString("0.300001"),
	}
	quote, err := w.QuoteBalancePayout(w.ctx, least)
	require.NoError(t, err)

	w.settings.PriceWorsening = decimal.RequireFromString("0.5")
	_, err = w.QuoteBalancePayout(w.ctx, least)
	require.ErrorIs(t, err, wire.ValidationFailed(""), "half of the smallest unit is nothing")
	_, err = w.CreateTransfer(w.ctx, appwire.TransferCreate{QuoteID: quote.Body.(appwire.Quote).QuoteID})
	require.NoError(t, err)
}

func TestFailedTransferIsNotCountedAgainstSpendLimit(t *testing.T) {
	w := newWorld(t, "150")
	amount := wire.NumberOf(decimal.NewFromInt(20))
	body := appwire.TransferCreate{ContactID: w.contact(t, "base", "USDC"), Amount: &amount}
	_, err := w.CreateTransfer(w.ctx, body)
	require.ErrorIs(t, err, wire.PayoutNotFundable("", nil))
	assert.Equal(t, "150", w.remaining(t).String())
	assert.Empty(t, w.transfers(t))
}

// TestAccountIsRestoredFromStore opens the same store again, compares, and continues.
func TestAccountIsRestoredFromStore(t *testing.T) {
	w := newWorld(t, "150")
	_, err := w.platform.CreateDeposit(w.ctx,
		platformwire.DepositCreate{Amount: decimal.NewFromInt(50), Currency: platformwire.AssetUSDC})
	require.NoError(t, err)
	direct, routed := w.contact(t, "base", "USDC"), w.contact(t, "arbitrum", "USDT")
	_, err = w.UpdateContact(w.ctx, direct, appwire.ContactUpdate{Name: nullable.NewNullableWithValue("Ada")})
	require.NoError(t, err)
	answer, err := w.QuoteBalancePayout(w.ctx,
		appwire.BalancePayoutQuote{ContactID: routed, Amount: decimal.NewFromInt(20)})
	require.NoError(t, err)
	used := answer.Body.(appwire.Quote).QuoteID
	answer, err = w.QuoteBalancePayout(w.ctx,
		appwire.BalancePayoutQuote{ContactID: routed, Amount: decimal.NewFromInt(5)})
	require.NoError(t, err)
	unused := answer.Body.(appwire.Quote).QuoteID
	receipt, err := w.CreateTransfer(w.as("a"), appwire.TransferCreate{QuoteID: used, Memo: "rent"})
	require.NoError(t, err)
	_, err = w.DeleteContact(w.ctx, routed)
	require.NoError(t, err)
	_, err = w.UpdateProfile(w.ctx, appwire.ProfileUpdate{
		EntityName: nullable.NewNullableWithValue("Acme"),
		Address:    nullable.NewNullableWithValue(appwire.ProfileAddress{Country: "DE"}),
	})
	require.NoError(t, err)
	_, err = w.CreateKYCLink(w.ctx)
	require.NoError(t, err)
	w.clock.Advance(time.Hour)
	_, err = account.ReferenceAPI{Service: w.Service}.ReceiveWebhook(w.ctx, "bank", referencewire.WebhookEvent{
		EventType: "paid", EventPayload: map[string]any{"amount": 1.5, "of": []any{"a", nil}},
	})
	require.NoError(t, err)
	decided, err := w.GetKYCStatus(w.ctx, appwire.GetKYCStatusParams{})
	require.NoError(t, err)
	assert.Equal(t, commonwire.KYCStatusApproved, decided.Body.(appwire.KYCState).Status)
	w.settings.KYBDecision = deployment.KYBDecisionReject // decides no more

	w.reopen(t)
	replayed, err := w.CreateTransfer(w.as("a"), appwire.TransferCreate{QuoteID: used, Memo: "rent"})
	require.NoError(t, err)
	assert.Equal(t, receipt.Body, replayed.Body)
	_, err = w.CreateTransfer(w.as("b"), appwire.TransferCreate{QuoteID: used})
	require.ErrorIs(t, err, wire.Conflict(""), "the quote was used before")
	_, err = w.CreateTransfer(w.as("b"), appwire.TransferCreate{QuoteID: unused})
	require.ErrorIs(t, err, wire.QuoteExpired())
	w.contact(t, "base", "USDC")
	assert.Len(t, w.Events(), 1)

	w.Reset()
	assert.Empty(t, w.Events())
	w.reopen(t)
	assert.Equal(t, 1, w.Records(), "the account, which opens when it is read")
}
