package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
)

func TestRunsAlone(t *testing.T) { rehearsal.RunAlone(t, run) }

func TestPaysOnceWithKeyInVault(t *testing.T) {
	host, flags := rehearsal.Host(t)
	rehearsal.Run(t, run, flags,
		"cannot be saved",
		"the vault has signed 1 time: the login",
		"the vault is slow", "context deadline exceeded - the service did nothing",
		"another version of the key", "signature does not verify",
		"the vault works again: payout po_", "is completed", "the ledger, newest first")
	assert.NoFileExists(t, "developer.pem")

	rehearsal.PaidOnce(t, host, "12.5")
	confirmed := 0
	for _, request := range host.Requests() {
		if request.Operation == "ConfirmPayout" {
			confirmed++
		}
	}
	assert.Equal(t, 1, confirmed, "a payout without a valid signature was not confirmed")
}

func TestKeysTheVaultRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	_, err := openVault(path)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte("no key"), 0o600))
	_, err = openVault(path)
	require.ErrorContains(t, err, "no PEM block")
	require.NoError(t, os.WriteFile(path, []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
		0o600))
	_, err = openVault(path)
	require.ErrorContains(t, err, path)
}
