package fault_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
)

var operations = fault.Operations{
	{"GET", "/dapi/v1/payouts"}, {"POST", "/dapi/v1/payouts"}, {"GET", "/dapi/v1/payouts/{payoutId}"},
	{"POST", "/dapi/v1/payouts/{payoutId}/confirm"}, {"GET", "/transactions"}, {"GET", "/user"},
}

func TestPatternsOfOperations(t *testing.T) {
	for _, c := range []struct{ method, pattern string }{
		{"POST", "/payouts/{payoutId}/confirm"}, {"POST", "/dapi/v1/payouts/{id}/confirm"}, {"", "/payouts/*"},
		{"GET", "/payouts/po_1"}, {"POST", "/payouts/po_1/confirm"}, {"", "/**"}, {"GET", "**"},
		{"POST", "/dapi/**"}, {"GET", "/transactions"}, {"GET", "/*"},
	} {
		assert.NoError(t, operations.Check(c.method, c.pattern), "%s %s", c.method, c.pattern)
	}
}

func TestAnOperationThatDoesNotExistIsRefused(t *testing.T) {
	for _, c := range []struct {
		method, pattern, nearest string
	}{
		{"PUT", "/payouts", "GET /dapi/v1/payouts"},
		{"POST", "/payout/{payoutId}/confirm", "POST /dapi/v1/payouts/{payoutId}/confirm"},
		{"POST", "/dapi/v1/payouts/{id}/confirms", "POST /dapi/v1/payouts/{payoutId}/confirm"},
		{"POST", "/api/v1/payouts", "POST /dapi/v1/payouts"},
		{"POST", "payouts", "POST /dapi/v1/payouts"},
		{"", "/payouts/{payoutId}/", "GET /dapi/v1/payouts/{payoutId}"},
		{"", "", ""},
		{"GET", "/_host/clock", ""},
		{"POST", "/transactions/**", ""},
	} {
		err := operations.Check(c.method, c.pattern)
		unknown, ok := errors.AsType[*fault.UnknownOperation](err)
		require.True(t, ok, "%s %s: %v", c.method, c.pattern, err)
		require.NotEmpty(t, unknown.Near)
		assert.LessOrEqual(t, len(unknown.Near), 3)
		if c.nearest != "" {
			assert.Equal(t, c.nearest, unknown.Near[0], "%s %s", c.method, c.pattern)
		}
		assert.ErrorContains(t, err, unknown.Near[0])
	}
}

func TestOnlyWhatIsAboutAsNearIsNamed(t *testing.T) {
	unknown, ok := errors.AsType[*fault.UnknownOperation](operations.Check("POST", "/payouts/{payoutId}/confirms"))
	require.True(t, ok)
	assert.Equal(t, []string{"POST /dapi/v1/payouts/{payoutId}/confirm"}, unknown.Near)
	unknown, ok = errors.AsType[*fault.UnknownOperation](operations.Check("PUT", "/payouts"))
	require.True(t, ok)
	assert.Equal(t, []string{"GET /dapi/v1/payouts", "POST /dapi/v1/payouts", "GET /dapi/v1/payouts/{payoutId}"},
		unknown.Near)
}
