package control

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/model"
)

// deposits counts the credits of an account, by currency.
func deposits(t *testing.T, account *dapi.Account) map[dapi.Asset]int {
	t.Helper()
	count := map[dapi.Asset]int{}
	params := dapi.ListTransactionsParams{Type: dapi.TransactionTypeDeposit, Limit: 100}
	for entry, err := range account.Transactions.All(t.Context(), params) {
		require.NoError(t, err)
		count[entry.Currency]++
	}
	return count
}

func TestTheSeedIsReadyForUse(t *testing.T) {
	stdout, stop := start(t, "-o", "json", "-seed", "-instant")
	a := announced(t, stdout)
	require.NotNil(t, a.Seeded)
	platform := integrator(t, a)
	account := platform.For(a.Seeded.Client)
	once := map[dapi.Asset]int{dapi.USDC: 1, dapi.EURC: 1}
	assert.Equal(t, once, deposits(t, account))
	assert.Equal(t, once, deposits(t, platform.Self()))
	for contact, currency := range map[dapi.ContactID]dapi.Asset{
		a.Seeded.WalletContact: dapi.USDC, a.Seeded.BankContact: dapi.EURC,
	} {
		paid, err := account.Payouts.Pay(t.Context(), dapi.PayoutCreate{ContactID: contact, Currency: currency,
			Amount: decimal.NewFromInt(10)}, moneymovement.Key("pay-"+string(currency)),
			dapi.PayTerms{})
		require.NoError(t, err)
		_, err = account.Payouts.Wait(t.Context(), paid.Payout.ID)
		require.NoError(t, err)
	}
	verification, err := account.Verification.Get(t.Context())
	require.NoError(t, err)
	assert.Equal(t, model.KYCStatusApproved, verification.Status)
	rail, err := account.Rails.WaitActive(t.Context(), dapi.BankMethodSEPA, "EUR")
	require.NoError(t, err)
	assert.Equal(t, a.Seeded.VirtualAccount, rail.VirtualAccount.ID)
	mine, err := appapi.New(a.BaseURL, appapi.NewAPIKey(a.APIKey))
	require.NoError(t, err)
	balances, err := mine.Account.Balances(t.Context())
	require.NoError(t, err)
	held := map[string]string{}
	for _, balance := range balances {
		held[balance.Currency] = balance.Available.String()
	}
	assert.Equal(t, "100", held["USDC"], held)
	assert.Equal(t, app.ExitFine, stop())
}

func TestSeedIsCreatedOnce(t *testing.T) {
	testkit.Long(t, "waits for more than a second")
	flags := []string{"-o", "json", "-control", "-seed", "-data", t.TempDir()}
	stdout, stop := start(t, flags...)
	first := announced(t, stdout)
	first.control(t, http.MethodPost, "/clock", `{"advance":"960h"}`, nil) // no idempotency key is known any more
	require.Equal(t, app.ExitFine, stop())
	stdout, stop = start(t, flags...)
	second := announced(t, stdout)
	assert.Equal(t, first.Seeded, second.Seeded)
	platform := integrator(t, second)
	assert.Equal(t, map[dapi.Asset]int{dapi.USDC: 1, dapi.EURC: 1}, deposits(t, platform.For(first.Seeded.Client)))

	second.control(t, http.MethodPost, "/reset", "", nil)
	require.Equal(t, app.ExitFine, stop())
	stdout, stop = start(t, flags...)
	third := announced(t, stdout)
	assert.NotEqual(t, first.Seeded.Client, third.Seeded.Client, "a new client, after a reset")
	assert.Equal(t, app.ExitFine, stop())
}

// The settings that are kept can forbid what the seed needs. The rest is prepared, or the command says why not.
func TestSeedNamesWhatHostRefuses(t *testing.T) {
	testkit.Long(t, "waits for more than a second")
	folder := t.TempDir()
	set := func(settings string) {
		stdout, stop := start(t, "-o", "json", "-control", "-data", folder)
		announced(t, stdout).control(t, http.MethodPut, "/settings", settings, nil)
		require.Equal(t, app.ExitFine, stop())
	}
	set(`{"railsDisabled":["sepa"]}`)
	stdout, stop := start(t, "-o", "json", "-seed", "-data", folder, "-instant")
	a := announced(t, stdout)
	assert.NotEmpty(t, a.Seeded.BankContact)
	assert.Empty(t, a.Seeded.VirtualAccount)
	assert.Contains(t, a.Seeded.NoVirtualAccount, "rail_not_available")
	require.Equal(t, app.ExitFine, stop())

	set(`{"databaseAvailable":false}`)
	var out, problems bytes.Buffer
	code := run(context.Background(), &app.App{Out: &out, Err: &problems, Getenv: os.Getenv},
		[]string{"sandbox", "-addr", "127.0.0.1:0", "-data", folder, "-seed"})
	assert.Equal(t, app.ExitRefused, code)
	assert.Contains(t, problems.String(), "start it without -seed")
	assert.Empty(t, out.String())
}

func TestReadableAnnouncementNamesSeed(t *testing.T) {
	folder := t.TempDir()
	stdout, stop := start(t, "-o", "table", "-seed", "-instant", "-control", "-data", folder)
	var text string
	for {
		line, err := stdout.ReadString('\n')
		require.NoError(t, err)
		if text += line; bytes.Contains([]byte(line), []byte("Ctrl-C")) {
			break
		}
	}
	assert.Equal(t, app.ExitFine, stop())
	for _, part := range []string{
		`console +http://127\.0\.0\.1:\d+/_console\n`, `client +cl_\w+ \(acme@example\.com\)\n`,
		`bank contact +ct_`, `wallet contact +ct_`, `bank account +bnk_`, `app key +apk_`,
		`moneymove sandbox env -control-url http://127\.0\.0\.1:\d+/_host\n`, folder + ", and the next start"} {
		assert.Regexp(t, part, text)
	}
	assert.NotContains(t, text, "keeps nothing")
	assert.NotRegexp(t, `\bak_|\buat_`, text)
}
