package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/examples/internal/rehearsal"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

var steps = []string{
	"issued card ", "pending, which spends from wallet 0x",
	"named it Travel; it can spend 250.50 USD a day, and has spent 0 today",
	" is active and ends in ",
	"is refused: signature_invalid",
	"signs and gets the card's details:",
}

// assertShown checks that the holder sees the whole number, and that a log does not show it.
func assertShown(t *testing.T, out string) {
	t.Helper()
	last := regexp.MustCompile(`ends in (\d{4})\n`).FindStringSubmatch(out)
	require.NotNil(t, last, out)
	rest := rehearsal.CheckSteps(t, out, steps...)
	assert.Regexp(t, `^\n +number +\d{12}`+last[1]+`\n +security code +\d{3}\n +expires +\d+/\d+\n`, rest)
	log := rehearsal.CheckSteps(t, rest, "in a log, the same value is: ")
	assert.Contains(t, log, last[1])
	assert.NotRegexp(t, `\d{5}`, log)
}

func TestShowsACardToItsWallet(t *testing.T) {
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), nil, &out))
	rehearsal.CheckSteps(t, out.String(), "started a sandbox host")
	assertShown(t, out.String())
}

func TestRunsOnAHostThatFlagsName(t *testing.T) {
	host, flags := rehearsal.Host(t, sandbox.WithSettings(func(s *sandbox.Settings) {
		s.CardActiveAfter = sandbox.DefaultSettings().CardActiveAfter // the program shows a pending card
	}))
	keyFile := filepath.Join(t.TempDir(), "wallet.pem")
	require.NoError(t, host.Credentials().Wallet.Save(keyFile))
	t.Setenv("MONEYMOVEMENT_ACCESS_TOKEN", host.Credentials().AccessToken.Reveal())
	var out bytes.Buffer
	require.NoError(t,
		run(t.Context(), []string{flags[0], flags[1], "-api-key", host.Credentials().APIKey.Reveal(), "-wallet-key",
			keyFile}, &out))
	rehearsal.CheckSteps(t, out.String(), "using the sandbox host at "+flags[1])
	assertShown(t, out.String())
	assert.NotContains(t, out.String(), host.Credentials().APIKey.Reveal())
}

func TestABaseURLNeedsTheCredentials(t *testing.T) {
	for _, name := range []string{"MONEYMOVEMENT_API_KEY", "MONEYMOVEMENT_ACCESS_TOKEN",
		"MONEYMOVEMENT_WALLET_KEY_FILE"} {
		t.Setenv(name, "")
	}
	args := []string{"-base-url", "http://127.0.0.1:1"}
	assert.ErrorContains(t, run(t.Context(), args, &bytes.Buffer{}), "-base-url needs -api-key as well")
	args = append(args, "-api-key", "k")
	assert.ErrorContains(t, run(t.Context(), args, &bytes.Buffer{}), "-base-url needs -access-token as well")
	args = append(args, "-access-token", "t")
	assert.ErrorContains(t, run(t.Context(), args, &bytes.Buffer{}), "-base-url needs -wallet-key as well")
}
