package main

import (
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

var signatures = regexp.MustCompile(`the first key signed (\d+) times, the second (\d+) times`)

// assertBothSigned checks that both keys signed, and that together they signed two logins and each payment once.
func assertBothSigned(t *testing.T, out string) {
	t.Helper()
	found := signatures.FindStringSubmatch(out)
	require.NotNil(t, found, out)
	first, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	second, err := strconv.Atoi(found[2])
	require.NoError(t, err)
	assert.Equal(t, payments+2, first+second)
	assert.Greater(t, first, 1)
	assert.Greater(t, second, 1)
}

func TestTheKeyChangesWhilePaymentsRun(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	out := rehearsal.Run(t, run, nil, "registered a second key, dk_", "paying 30 invoices",
		"payments that began with the first key have ended", "deleted the first key, dk_")
	assertBothSigned(t, out)
	rehearsal.Told(t, out, "the ledger has 30 payouts: every invoice was paid, and none twice")
}

func TestOnAnotherHostTheSecondKeyIsInAFile(t *testing.T) {
	host, flags := rehearsal.Host(t)
	second, err := signing.Generate()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "second.pem")
	require.NoError(t, second.Save(file))
	_, err = host.RegisterKey(
		sandbox.KeyRegistration{Email: host.Credentials().Email, PublicKey: second.PublicKey()})
	require.NoError(t, err)
	out := rehearsal.Run(t, run, append(flags, "-second-key", file), "paying 30 invoices", "now delete the first key")
	assertBothSigned(t, out)
	assert.Len(t, rehearsal.Left(host, "po_"), payments)
	for _, request := range host.Requests() {
		assert.NotEqual(t, http.StatusForbidden, request.Status, request.Operation)
	}
}

func TestWithoutASecondKeyThePaymentsGoOn(t *testing.T) {
	host, flags := rehearsal.Host(t)
	after := rehearsal.Run(t, run, flags, "goes on with the same key")
	assert.Contains(t, after, "the ledger has 30 payouts")
	assert.NotContains(t, after, "delete the first key", "it is the key in use")
	assert.Len(t, rehearsal.Left(host, "po_"), payments)
}
