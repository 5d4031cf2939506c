package fleet_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/fleet"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// A protected session opens with its key and its credential only. Nobody without the key can plant one.
func TestSealedSessionOfAnotherCredentialIsRefused(t *testing.T) {
	protection := fleet.Encrypted(bytes.Repeat([]byte{1}, 32))
	sealed, err := protection.Seal(testkit.Session("mine"), "c")
	require.NoError(t, err)
	opened, err := protection.Open(sealed, "c")
	require.NoError(t, err)
	assert.Equal(t, "mine", opened.AccessToken.Reveal())
	assert.NotContains(t, string(sealed), "mine")

	unsealed, err := fleet.Unencrypted().Seal(testkit.Session("planted"), "c")
	require.NoError(t, err)
	other, err := fleet.Encrypted(bytes.Repeat([]byte{2}, 32)).Seal(testkit.Session("planted"), "c")
	require.NoError(t, err)
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	for name, data := range map[string][]byte{"not encrypted": unsealed, "another key": other, "changed": changed,
		"short": sealed[:5], "nothing": nil} {
		opened, err := protection.Open(data, "c")
		require.Error(t, err, name)
		assert.True(t, opened.AccessToken.IsZero(), name)
		assert.NotContains(t, err.Error(), "planted", name)
	}
	_, err = protection.Open(sealed, "another credential")
	require.Error(t, err)

	for _, none := range []fleet.Protection{{}, fleet.Encrypted(nil), fleet.Encrypted(make([]byte, 31))} {
		_, err := none.Seal(testkit.Session("mine"), "c")
		require.ErrorContains(t, err, none.Err().Error())
		_, err = none.Open(unsealed, "c")
		require.Error(t, err)
	}
}
