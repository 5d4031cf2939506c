package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// everyWayToPrint answers a value as fmt, JSON and slog show it.
func everyWayToPrint(t *testing.T, value any) []string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	var logged bytes.Buffer
	slog.New(slog.NewTextHandler(&logged, nil)).Info("shown", "value", value)
	return []string{fmt.Sprintf("%v", value), fmt.Sprintf("%+v", value), fmt.Sprintf("%#v", value), string(text),
		logged.String()}
}

func TestOptionsThatMakeNoSenseAreAsIfNotGiven(t *testing.T) {
	host := sandbox.New(
		sandbox.WithEmail(""), sandbox.WithDeveloperKey(nil), sandbox.WithDeveloperKey(&signing.DeveloperKey{}),
		sandbox.WithLogger(nil), sandbox.WithSettings(func(s *sandbox.Settings) { s.LoginMode = "" }),
	)
	assert.Equal(t, "ops@example.com", host.Credentials().Email)
	assert.NotEmpty(t, host.Credentials().Key.PublicKey())
	assert.Equal(t, sandbox.DefaultSettings(), host.Settings())
}

func TestAGivenKeyIsTheCredentials(t *testing.T) {
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
	assert.Equal(t,
		`{"rateLimits":false,"databaseAvailable":false,"loginAvailable":false,"loginMode":"sso","opaqueLogin":false,`+
			`"maxRecords":0,"maxCredit":"0","faucetBalance":"0","faucetGas":"0","signingPolicy":"","requireLowS":false,`+
			`"signerDetached":false,"partnerDown":false,"payoutMethodsDisabled":null,"priceWorsening":"0","clientReadyAfter":"0s",`+
			`"payoutStepAfter":"0s","returnAfter":"1m0s","returnFee":"0","forgetFinishedAfter":"0s","quoteLifetime":"0s",`+
			`"approvalLifetime":"0s","kybDecision":"","kybDecisionAfter":"0s","railsHidden":["pix"],"railsDisabled":null,`+
			`"channelsUnavailable":null,"railActiveAfter":"0s","chainReadEvery":"0s","contractorAcceptsAfter":"0s","maxUpload":0,`+
			`"cardActiveAfter":"0s"}`, string(text))
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
