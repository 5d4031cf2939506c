package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestLogsInOnce(t *testing.T) {
	host, flags := rehearsal.Host(t)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), flags, &out))
	rehearsal.Told(t, out.String(),
		"first start", "POST /dapi/v1/auth/challenge", "POST /dapi/v1/auth/token", "read the ledger",
		"dapi.Session(redacted",
		"second start", "read the ledger",
		"third start", "POST /dapi/v1/auth/refresh", "read the ledger")

	var operations []string
	for _, request := range host.Requests() {
		operations = append(operations, request.Operation)
	}
	assert.Equal(t, []string{"CreateChallenge", "CreateToken", "ListTransactions", "ListTransactions", "RefreshToken", "ListTransactions"}, operations)
}
