//go:build cgo

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/ThalesGroup/crypto11"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The token does not give the private half away, not even to a program that has the PIN.
func TestKeyCannotBeReadOut(t *testing.T) {
	uri := token(t)
	module, key, err := open(t.Context(), uri, true)
	require.NoError(t, err)
	require.NoError(t, module.Close())

	place, pinFile, _ := strings.Cut(uri, "?pin-source=")
	path, _, _ := strings.Cut(strings.TrimPrefix(place, "pkcs11:module-path="), ";")
	pin, err := os.ReadFile(pinFile)
	require.NoError(t, err)
	session, err := crypto11.Configure(&crypto11.Config{Path: path, TokenLabel: "payments", Pin: string(pin)})
	require.NoError(t, err)
	defer session.Close()
	inside, err := session.FindKeyPair([]byte{1}, []byte("developer"))
	require.NoError(t, err)
	for attribute, want := range map[crypto11.AttributeType]byte{
		crypto11.CkaSensitive: 1, crypto11.CkaExtractable: 0, crypto11.CkaNeverExtractable: 1,
		crypto11.CkaAlwaysSensitive: 1, crypto11.CkaLocal: 1, crypto11.CkaPrivate: 1,
	} {
		got, err := session.GetAttribute(inside, attribute)
		require.NoError(t, err)
		assert.Equal(t, []byte{want}, got.Value, attribute)
	}
	_, err = session.GetAttribute(inside, crypto11.CkaValue)
	require.ErrorContains(t, err, "CKR_ATTRIBUTE_SENSITIVE")
	assert.NotNil(t, key.PublicKey())
}
