package sandbox_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// A program that may use nothing but what FIPS 140 allows can start a host, and move money on it.
func TestAHostUnderFIPS140(t *testing.T) {
	const child = "MONEYMOVEMENT_TEST_FIPS"
	if os.Getenv(child) == "" {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAHostUnderFIPS140$", "-test.v")
		command.Env = append(os.Environ(), child+"=1", "GODEBUG=fips140=only")
		said, err := command.CombinedOutput()
		require.NoError(t, err, "%s", said)
		assert.Contains(t, string(said), "--- PASS: TestAHostUnderFIPS140")
		return
	}
	host := sandbox.New(sandbox.WithInstantProgress())
	server := httptest.NewServer(host)
	defer server.Close()
	credentials := host.Credentials()
	platform, err := dapi.NewIntegrator(server.URL, dapi.Developer{Email: credentials.Email, Key: credentials.Key})
	require.NoError(t, err)
	_, err = platform.Self().Sandbox.Deposit(t.Context(),
		dapi.DepositCreate{Amount: decimal.NewFromInt(5), Currency: dapi.USDC})
	require.NoError(t, err)
}
