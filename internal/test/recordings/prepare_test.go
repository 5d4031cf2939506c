package recordings_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// preparations set up the host of an example, besides the credentials.
var preparations = map[string]func(*testing.T, *sandbox.Host){
	// These examples wait, and the host's clock stands still.
	"appapi/ExampleQuotes_SubmitPayin": configured(atOnce),
	"appapi/ExampleBanks_Activate":     configured(atOnce),
	"dapi/Example":                     configured(atOnce),
	"dapi/ExampleClients_Create":       configured(atOnce),
	"dapi/ExampleRails_Open":           configured(atOnce),
	// The example lets the time pass.
	"dapi/ExamplePayouts_Wait": configured(func(s *sandbox.Settings) {
		s.PayoutStepAfter = sandbox.Duration(time.Hour)
	}),
	// The example shows what to do about a lost response.
	"appapi/ExampleTransfers_ByKey": func(_ *testing.T, host *sandbox.Host) {
		host.Arm(http.MethodPost, "/apps/transfer", sandbox.DropAfterCommit())
	},
}

func prepare(t *testing.T, example string, host *sandbox.Host) {
	if strings.HasPrefix(example, "appapi/") { // the app has something to spend
		server := httptest.NewServer(host)
		defer server.Close()
		account, err := dapi.NewSelfServe(server.URL,
			dapi.Developer{Email: host.Credentials().Email, Key: host.Credentials().Key})
		assert.NoError(t, err)
		_, err = account.Sandbox.Deposit(t.Context(),
			dapi.DepositCreate{Amount: decimal.NewFromInt(100), Currency: dapi.USDC})
		assert.NoError(t, err)
	}
	if further, ok := preparations[example]; ok {
		further(t, host)
	}
}

// atOnce makes each step of a client, a verification, a rail and a payout immediate.
func atOnce(s *sandbox.Settings) {
	s.ClientReadyAfter, s.KYBDecisionAfter, s.RailActiveAfter, s.PayoutStepAfter = 0, 0, 0, 0
}

// configured changes the host's settings.
func configured(change func(*sandbox.Settings)) func(*testing.T, *sandbox.Host) {
	return func(t *testing.T, host *sandbox.Host) { assert.NoError(t, host.Configure(change)) }
}
