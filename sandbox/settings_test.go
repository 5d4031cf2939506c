package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// everyWayToPrint returns a value as fmt, JSON and slog show it.
func everyWayToPrint(t *testing.T, value any) []string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("shown", "value", value)
	return []string{fmt.Sprintf("%v", value), fmt.Sprintf("%+v", value), fmt.Sprintf("%#v", value), string(text),
		logged.String()}
}

func TestInvalidOptionsAreRefused(t *testing.T) {
	for says, option := range map[string]sandbox.Option{
		"WithEmail":        sandbox.WithEmail(" "),
		"WithDeveloperKey": sandbox.WithDeveloperKey(&signing.DeveloperKey{}),
		"WithSettings: loginMode must not be empty": sandbox.WithSettings(func(s *sandbox.Settings) {
			s.LoginMode = ""
		}),
		"WithHosts": sandbox.WithHosts("a b"),
	} {
		t.Run(says, func(t *testing.T) {
			defer func() {
				err, _ := recover().(error)
				assert.ErrorContains(t, err, "sandbox: New: "+says)
			}()
			sandbox.New(option)
		})
	}
}

func TestNilOptionsAreTheDefaults(t *testing.T) {
	host := sandbox.New(sandbox.WithDeveloperKey(nil), sandbox.WithLogger(nil), sandbox.WithClock(nil),
		sandbox.WithResponseValidation(nil))
	assert.Equal(t, "ops@example.com", host.Credentials().Email)
	assert.NotEmpty(t, host.Credentials().Key.PublicKey())
	assert.WithinDuration(t, time.Now(), host.Now(), time.Minute)
}

// With WithInstantProgress everything has progressed at its next read, without any time passing.
func TestInstantProgress(t *testing.T) {
	w := newWorld(t, sandbox.WithInstantProgress())
	me := w.login()
	created := me.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"})
	acme := me.as(created.body.text("id"))
	assert.Equal(t, "ready", me.must(http.StatusOK, "GET", "/clients/"+acme.account, nil).body.text("status"))

	acme.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"},
		"Idempotency-Key", "fund")
	p := &payer{session: acme, contact: acme.walletContact()}
	booked := p.book("invoice-42", "10")
	confirmed := p.confirm(booked)
	assert.Equal(t, "funding", confirmed.body.text("status"), "the call itself returns what it did")
	assert.Equal(t, "completed", p.status(booked))
	refused(t, http.StatusConflict, "already_funded", p.confirm(booked))

	card := w.app().expect(http.StatusCreated, "POST", "/cards", object{})
	assert.Equal(t, "active", w.app().expect(http.StatusOK, "GET", "/cards/"+card.text("id"), nil).text("status"))
}

// Nothing progresses until the test advances the clock.
func TestProgressFollowsHostClock(t *testing.T) {
	host := sandbox.New(sandbox.WithSettings(func(s *sandbox.Settings) { s.SetProgress(time.Hour) }))
	settings := host.Settings()
	for _, after := range []sandbox.Duration{settings.ClientReadyAfter, settings.PayoutStepAfter,
		settings.KYBDecisionAfter, settings.RailActiveAfter, settings.ContractorAcceptsAfter,
		settings.CardActiveAfter} {
		assert.Equal(t, sandbox.Duration(time.Hour), after)
	}
	assert.Equal(t, sandbox.DefaultSettings().ChainReadEvery, settings.ChainReadEvery, "a stated bound is not raised")
	require.NoError(t, host.Configure(func(s *sandbox.Settings) { s.SetProgress(time.Second) }))
	assert.Equal(t, sandbox.Duration(time.Second), host.Settings().ChainReadEvery)
	assert.Error(t, host.Configure(func(s *sandbox.Settings) { s.SetProgress(-1) }))
}

func TestWithDeveloperKeySetsCredentials(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	host := sandbox.New(sandbox.WithDeveloperKey(key))
	assert.Equal(t, key, host.Credentials().Key)
	assert.Equal(t, key.PublicKey(), host.Keys()[0].PublicKey)
}

func TestSettingsHaveOneFormInJSON(t *testing.T) {
	text, err := json.Marshal(sandbox.Settings{LoginMode: "sso", ReturnAfter: sandbox.Duration(time.Minute),
		RailsHidden: []string{"pix"}})
	require.NoError(t, err)
	want := `{"rateLimits":false,"rateMinute":"0s","databaseAvailable":false,"loginAvailable":false,"loginMode":"sso",` +
		`"opaqueLogin":false,` +
		`"maxRecords":0,"maxCredit":"0","faucetBalance":"0","faucetGas":"0","signingPolicy":"","requireLowS":false,` +
		`"signerDetached":false,"partnerDown":false,"payoutMethodsDisabled":null,"priceWorsening":"0",` +
		`"priceDrift":"0","feeIncrease":"0","failOneIn":0,"failAmount":"0","refundOneIn":0,"refundAmount":"0",` +
		`"refundAfter":"0s","seed":0,"clientReadyAfter":"0s",` +
		`"payoutStepAfter":"0s","returnAfter":"1m0s","returnFee":"0","forgetFinishedAfter":"0s",` +
		`"quoteLifetime":"0s",` +
		`"approvalLifetime":"0s","kybDecision":"","kybDecisionAfter":"0s","railsHidden":["pix"],` +
		`"railsDisabled":null,` +
		`"channelsUnavailable":null,"railActiveAfter":"0s","chainReadEvery":"0s","contractorAcceptsAfter":"0s",` +
		`"maxUpload":0,` +
		`"cardActiveAfter":"0s"}`
	assert.Equal(t, want, string(text), "in this order")
}

func TestSettingsAreCopies(t *testing.T) {
	host := sandbox.New()
	methods := []string{"sepa"}
	require.NoError(t, host.Configure(func(s *sandbox.Settings) { s.PayoutMethodsDisabled = methods }))
	methods[0] = "ach"
	seen := host.Settings()
	assert.Equal(t, []string{"sepa"}, seen.PayoutMethodsDisabled)
	seen.PayoutMethodsDisabled[0] = "ach"
	assert.Equal(t, []string{"sepa"}, host.Settings().PayoutMethodsDisabled)
}

// Each setting says what it does, to the command and the console.
func TestEachSettingHasADescription(t *testing.T) {
	w := newWorld(t, sandbox.WithControl())
	meanings := w.call("GET", "/_host/settings/meanings", nil)
	settings := w.call("GET", "/_host/settings", nil)
	require.Equal(t, http.StatusOK, meanings.status)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(settings.body)), slices.Collect(maps.Keys(meanings.body)))
	for name := range settings.body {
		assert.Regexp(t, `^[A-Z].*\.$`, meanings.body.text(name), name)
	}
}
