package main

import (
	"bytes"
	"net/http"
	"regexp"
	"slices"
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

	paying, read, found := strings.Cut(rehearsal.Told(t, out.String(), "paying invoice 42"), "• how to read it")
	require.True(t, found)
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
		"call=ConfirmPayout result=succeeded", "attempts=2",
		`msg="invoice is paid"`,
		`span="pay invoice"`, "payment.state=paid", "payout.id=po_")
	assertExplained(t, paying, read)
	for _, secret := range []string{"Bearer", "Authorization", "accessToken", "signature=", "DE8937"} {
		assert.NotContains(t, out.String(), secret)
	}
}

func TestAPaymentThatFailsIsAnErrorInBoth(t *testing.T) {
	_, flags := rehearsal.Host(t,
		sandbox.WithSettings(func(s *sandbox.Settings) { s.SigningPolicy = sandbox.SigningPolicyRefuse }))
	var out bytes.Buffer
	require.ErrorContains(t, run(t.Context(), flags, &out), "signing_policy_refused")
	rehearsal.Told(t, out.String(), `level=ERROR msg="invoice is not settled" state=needs_decision`, "signing_policy_refused",
		"trace=",
		`span="pay invoice"`)
}

// assertExplained checks that the legend has each message and each field of the lines.
func assertExplained(t *testing.T, lines, read string) {
	t.Helper()
	for _, message := range regexp.MustCompile(`msg="([^"]+)"`).FindAllStringSubmatch(lines, -1) {
		assert.Contains(t, read, message[1])
	}
	ours := []string{"time", "level", "msg", "span", "call", "method", "path", "payout", "payout.id", "attempts",
		"idempotency.key", "http.response.status_code", "http.request.resend_count"}
	for _, field := range regexp.MustCompile(`(?:^|[ \n])([a-zA-Z._]+)=`).FindAllStringSubmatch(lines, -1) {
		if !slices.Contains(ours, field[1]) {
			assert.Contains(t, read, "    "+field[1]+" ")
		}
	}
}

func TestOnItsOwnHostAConfirmFailsOnce(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	rehearsal.Run(t, run, nil, "the host will fail the first confirm", "level=WARN", "status=502", "invoice is paid",
		"how to read it: lines", "how to read it: fields")
}

func TestNamesOfSpansHaveNoIDs(t *testing.T) {
	assert.Equal(t, "/dapi/v1/payouts/{id}/confirm", route("/dapi/v1/payouts/po_7Hq/confirm"))
	assert.Equal(t, "/dapi/v1/client/kyb", route("/dapi/v1/client/kyb"))
}
