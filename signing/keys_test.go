package signing_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing"
)

// Making an RSA key takes long, so that all tests share one of each kind.
var developerKeys = sync.OnceValues(func() (map[signing.Algorithm]*signing.DeveloperKey, error) {
	keys := map[signing.Algorithm]*signing.DeveloperKey{}
	for _, generate := range []func() (*signing.DeveloperKey, error){
		signing.Generate,
		signing.GenerateEd25519,
		func() (*signing.DeveloperKey, error) { return signing.GenerateRSA(2048) },
	} {
		key, err := generate()
		if err != nil {
			return nil, err
		}
		keys[key.Algorithm()] = key
	}
	return keys, nil
})

// eachKind runs a test for a key of every kind.
func eachKind(t *testing.T, test func(t *testing.T, key *signing.DeveloperKey)) {
	t.Helper()
	keys, err := developerKeys()
	require.NoError(t, err)
	require.Len(t, keys, 3)
	for algorithm, key := range keys {
		t.Run(string(algorithm), func(t *testing.T) { test(t, key) })
	}
}

func newKey(t testing.TB) *signing.DeveloperKey {
	t.Helper()
	key, err := signing.Generate()
	require.NoError(t, err)
	return key
}

// recordingSigner counts how often its key was asked for a signature.
type recordingSigner struct {
	*signing.DeveloperKey
	signed [][]byte
}

func (s *recordingSigner) Sign(ctx context.Context, message []byte) ([]byte, error) {
	s.signed = append(s.signed, message)
	return s.DeveloperKey.Sign(ctx, message)
}
