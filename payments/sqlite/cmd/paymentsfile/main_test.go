package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

// file makes a file with payments.
func file(t *testing.T, many int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "payments.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	for n := range many {
		record, err := payments.Prepare(payments.Payment{Key: moneymovement.DeriveKey("invoice", fmt.Sprint(n)),
			Account: "cl_1",
			Payout:  dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(10), Currency: dapi.USDC}},
			time.Now())
		require.NoError(t, err)
		_, _, err = store.Insert(t.Context(), record)
		require.NoError(t, err)
	}
	require.NoError(t, store.Close())
	return path
}

func command(t *testing.T, args ...string) (status int, out, problems string) {
	t.Helper()
	var o, p bytes.Buffer
	status = run(t.Context(), args, &o, &p)
	return status, o.String(), p.String()
}

func TestIntactFile(t *testing.T) {
	path := file(t, 3)
	status, out, problems := command(t, "check", path)
	assert.Equal(t, 0, status)
	assert.Equal(t, path+" is whole: 3 payments\n  accepted: 3\n", out)
	assert.Empty(t, problems)

	copied := filepath.Join(t.TempDir(), "copy.db")
	status, out, _ = command(t, "backup", path, copied)
	assert.Equal(t, 0, status)
	assert.Equal(t, "copied "+path+" to "+copied+"\n", out)
	status, out, _ = command(t, "check", copied)
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "3 payments")
	status, _, problems = command(t, "backup", path, copied)
	assert.Equal(t, 1, status)
	assert.Contains(t, problems, "a backup needs a name of its own")
}

func TestDamagedFile(t *testing.T) {
	path := file(t, 200)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	last := content[len(content)-4096:]
	for i := range last {
		last[i] ^= 0x55
	}
	require.NoError(t, os.WriteFile(path, content, 0o600))
	status, out, problems := command(t, "check", path)
	assert.Equal(t, 1, status)
	assert.Empty(t, out)
	assert.Contains(t, problems, "To go on: 1. stop the program")
}

func TestUnopenableFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing.db")
	status, _, problems := command(t, "check", missing)
	assert.Equal(t, 1, status)
	assert.Contains(t, problems, "missing.db")
	assert.NoFileExists(t, missing)

	path := file(t, 1)
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	status, _, problems = command(t, "check", path)
	assert.Equal(t, 1, status)
	assert.Contains(t, problems, "is in use by")
	require.NoError(t, store.Close())
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"check"}, {"backup", "a"}, {"chekc", "a"}, {"check", "a", "b"}} {
		status, out, problems := command(t, args...)
		assert.Equal(t, 2, status, "%q", args)
		assert.Empty(t, out)
		assert.Equal(t, usage, problems)
	}
}
