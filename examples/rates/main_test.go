package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestPrintsATableOfTheUsualCurrencies(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	table := rehearsal.Run(t, run, nil, "started a sandbox host at http://127.0.0.1:", "unit in USD:\n")
	lines := strings.Split(strings.TrimRight(table, "\n"), "\n")
	require.Len(t, lines, 1+len(usual), table)
	assert.Equal(t, []string{"CURRENCY", "RATE", "BANK", "TRANSFER", "CARD"}, strings.Fields(lines[0]))
	for i, currency := range usual {
		row := strings.Fields(lines[i+1])
		require.Len(t, row, 4, lines[i+1])
		assert.Equal(t, currency, row[0])
		rate, bank, card := decimal.RequireFromString(row[1]), decimal.RequireFromString(row[2]),
			decimal.RequireFromString(row[3])
		assert.True(t, rate.IsPositive() && bank.LessThan(rate) && card.LessThan(bank), "a spread is taken off: %s",
			lines[i+1])
		assert.Len(t, lines[i+1], len(lines[0]), "columns are aligned:\n%s", table)
	}
}

func TestPrintsTheCurrenciesThatAreAskedFor(t *testing.T) {
	host, flags := rehearsal.Host(t)
	table := rehearsal.Run(t, run, []string{flags[0], flags[1], "USD", "XYZ"}, "using the sandbox host at "+flags[1],
		"CARD")
	assert.Regexp(t, `(?m)^ +USD +1\.000000 +1\.000000 +1\.000000 *$`, table)
	assert.Regexp(t, `(?m)^ +XYZ +none *$`, table)
	assert.Len(t, host.Requests(), 2)
}

func TestNoCredentialIsSent(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_API_KEY", "ak_secret")
	t.Setenv("MONEYMOVEMENT_ACCESS_TOKEN", "secret")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Empty(t, r.Header.Values("Authorization"))
		assert.Empty(t, r.Header.Values("X-Api-Key"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"usdRate":"1.25"}`))
	}))
	t.Cleanup(server.Close)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-base-url", server.URL, "GBP"}, &out))
	assert.Regexp(t, `GBP +1\.250000 +- +-`, out.String(), "a rate that is not given is not zero")
}

func TestAHostThatIsNotThereIsAnError(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	assert.ErrorContains(t, run(t.Context(), []string{"-base-url", server.URL}, &bytes.Buffer{}), "GetRate: 404")
}
