package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestSpansAndMetricsArePrinted(t *testing.T) {
	_, flags := rehearsal.Host(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), flags, &out))
	printed := out.String()
	for _, span := range []string{"POST /dapi/v1/auth/token", "POST /dapi/v1/payouts",
		"POST /dapi/v1/payouts/{payoutId}/confirm"} {
		assert.Contains(t, printed, `{"Name":"`+span+`"`)
	}
	assert.Regexp(t, `(?m)moneymovement_client_call_duration_seconds_count\{`+
		`moneymovement_operation="ConfirmPayout",moneymovement_result="succeeded",.*\} 1$`, printed)
	assert.Regexp(t, `(?m)moneymovement_client_attempts_total\{http_response_status_code="201",`+
		`moneymovement_operation="BookPayout",.*\} 1$`, printed)
}
