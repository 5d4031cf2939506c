package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestLogsInOnce(t *testing.T) {
	host, flags := rehearsal.Host(t)
	rehearsal.Run(t, run, flags,
		"first start", "POST /dapi/v1/auth/challenge", "POST /dapi/v1/auth/token", "read the ledger",
		"dapi.Session(redacted",
		"second start", "read the ledger",
		"third start", "POST /dapi/v1/auth/refresh", "read the ledger")

	var operations []string
	for _, request := range host.Requests() {
		operations = append(operations, request.Operation)
	}
	assert.Equal(t, []string{"CreateChallenge", "CreateToken", "ListTransactions", "ListTransactions", "RefreshToken",
		"ListTransactions"}, operations)
}
