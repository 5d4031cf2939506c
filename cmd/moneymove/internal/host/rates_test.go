package host_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/target"
)

func TestRatesNeedNoCredential(t *testing.T) {
	f := newFixture(t)
	f.env = map[string]string{target.EnvBaseURL: f.url}
	var rates struct {
		Items []struct {
			Currency string
			USDRate  string `json:"usdRate"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(f.ok("rates", "eur", "GBP")), &rates))
	require.Len(t, rates.Items, 2)
	assert.Equal(t, "EUR", rates.Items[0].Currency)
	assert.NotEmpty(t, rates.Items[0].USDRate)
	for _, request := range f.host.Requests() {
		assert.Empty(t, request.Account, request.Path)
	}
	f.terminal = true
	assert.Contains(t, f.ok("rates", "EUR"), rates.Items[0].USDRate)

	r := f.run("rates", "EUR", "ZZZ", "GBP")
	assert.Equal(t, app.ExitRefused, r.code, r.stderr)
	assert.Contains(t, r.stdout, "EUR")
	assert.Contains(t, r.stdout, "GBP", "one rate that is missing hides no other")
	r = f.run("rates", "ZZZ")
	assert.Equal(t, app.ExitRefused, r.code, r.stderr)
	assert.Contains(t, r.stderr, "docs/errors.md#")
	assert.Equal(t, app.ExitUsage, f.run("rates").code)
	f.env = nil
	assert.Equal(t, app.ExitUsage, f.run("rates", "EUR").code)
}
