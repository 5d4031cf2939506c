package main

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestRecordsAndSpansOfAPaymentShareATrace(t *testing.T) {
	host, flags := rehearsal.Host(t)
	fault := host.Arm(http.MethodPost, "/payouts/{payoutId}/confirm",
		sandbox.Respond(http.StatusBadGateway, "provider_unavailable"))
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), flags, &out))
	assert.Equal(t, 1, fault.Consumed())

	paying := rehearsal.Told(t, out.String(), "paying invoice 42")
	id := regexp.MustCompile(`trace=([0-9a-f]{32})`).FindStringSubmatch(paying)
	require.NotNil(t, id, paying)
	for line := range strings.Lines(strings.TrimSpace(paying)) {
		if strings.Contains(line, "=") {
			assert.Contains(t, line, "trace="+id[1])
		}
	}
	rehearsal.Told(t, paying,
		"operation=BookPayout", "status=201",
		"operation=ConfirmPayout", "attempt=1", "status=502",
		`span="POST /dapi/v1/payouts/{id}/confirm"`, "status_code=502",
		"operation=ConfirmPayout", "attempt=2", "status=200",
		`span="POST /dapi/v1/payouts/{id}/confirm"`, "status_code=200",
		`msg="invoice is paid"`,
		`span="pay invoice"`, "payout.id=po_")
	for _, secret := range []string{"Bearer", "Authorization", "accessToken", "signature=", "DE8937"} {
		assert.NotContains(t, out.String(), secret)
	}
}

func TestAPaymentThatFailsIsAnErrorInBoth(t *testing.T) {
	_, flags := rehearsal.Host(t,
		sandbox.WithSettings(func(s *sandbox.Settings) { s.SigningPolicy = sandbox.SigningPolicyRefuse }))
	var out bytes.Buffer
	require.ErrorContains(t, run(t.Context(), flags, &out), "signing_policy_refused")
	rehearsal.Told(t, out.String(), `level=ERROR msg="invoice is not paid"`, "signing_policy_refused", "trace=",
		`span="pay invoice"`)
}

func TestNamesOfSpansHaveNoIDs(t *testing.T) {
	assert.Equal(t, "/dapi/v1/payouts/{id}/confirm", route("/dapi/v1/payouts/po_7Hq/confirm"))
	assert.Equal(t, "/dapi/v1/client/kyb", route("/dapi/v1/client/kyb"))
}
