package main

import (
	"bytes"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// steps are what a run has to tell, in this order.
var steps = []string{
	"created client cl_",
	"client is ready with wallet 0x",
	"credited 50 USDC",
	"created SEPA contact ct_",
	"created Base wallet contact ct_",
	"booked bank payout po_",
	"bank payout is completed",
	"booked wallet payout po_",
	"wallet payout is completed",
	"the ledger, newest first",
}

func TestRunsOnAnEmbeddedHost(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, &out))
	assertTold(t, out.String(), append([]string{"started a sandbox host", "made developer key"}, steps...))
	assertLedger(t, out.String())
}

func TestRunsOnAHostThatFlagsName(t *testing.T) {
	host := sandbox.New()
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	keyFile := filepath.Join(t.TempDir(), "developer.pem")
	require.NoError(t, host.Credentials().Key.Save(keyFile))

	var out bytes.Buffer
	require.NoError(t, run(t.Context(), []string{"-base-url", server.URL, "-email", host.Credentials().Email, "-key", keyFile}, &out))
	assertTold(t, out.String(), append([]string{"using the sandbox host at " + server.URL}, steps...))
	assertLedger(t, out.String())
}

func TestABaseURLNeedsACredential(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_EMAIL", "")
	t.Setenv("MONEYMOVEMENT_KEY_FILE", "")
	err := run(t.Context(), []string{"-base-url", "http://127.0.0.1:1"}, &bytes.Buffer{})
	assert.ErrorContains(t, err, "-email and -key")
}

func assertTold(t *testing.T, out string, want []string) {
	t.Helper()
	rest := out
	for _, step := range want {
		_, after, found := strings.Cut(rest, step)
		require.True(t, found, "%q does not come in its place in:\n%s", step, out)
		rest = after
	}
}

// assertLedger checks the table: two payouts and the deposit, in aligned columns.
func assertLedger(t *testing.T, out string) {
	t.Helper()
	_, table, _ := strings.Cut(out, "newest first:\n")
	lines := strings.Split(strings.TrimSpace(table), "\n")
	require.Len(t, lines, 4, table)
	for i, want := range []string{"AMOUNT", "7.25", "12.50", "50.00"} {
		assert.Contains(t, lines[i], want)
		end := strings.Index(lines[i], want) + len(want)
		assert.Equal(t, strings.Index(lines[0], "AMOUNT")+len("AMOUNT"), end, "amounts are not aligned:\n%s", table)
	}
}
