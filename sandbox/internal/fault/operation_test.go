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
		method, pattern string
		near            []string
	}{
		{"PUT", "/payouts", []string{"GET /dapi/v1/payouts", "POST /dapi/v1/payouts",
			"GET /dapi/v1/payouts/{payoutId}"}},
		{"POST", "/payout/{payoutId}/confirm", []string{"POST /dapi/v1/payouts/{payoutId}/confirm"}},
		{"POST", "/dapi/v1/payouts/{id}/confirms", []string{"POST /dapi/v1/payouts/{payoutId}/confirm"}},
		{"POST", "/api/v1/payouts", []string{"POST /dapi/v1/payouts"}},
		{"POST", "payouts", []string{"POST /dapi/v1/payouts"}},
		{"", "/payouts/{payoutId}/", []string{"GET /dapi/v1/payouts/{payoutId}"}},
		{"", "", []string{}},
		{"GET", "/_host/clock", []string{}},
		{"POST", "/transactions/**", []string{}},
	} {
		err := operations.Check(c.method, c.pattern)
		unknown, ok := errors.AsType[*fault.UnknownOperation](err)
		require.True(t, ok, "%s %s: %v", c.method, c.pattern, err)
		assert.Len(t, unknown.Near, 3)
		assert.Equal(t, c.near, unknown.Near[:len(c.near):len(c.near)], "%s %s", c.method, c.pattern)
		assert.ErrorContains(t, err, unknown.Near[0])
	}
}
