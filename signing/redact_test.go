package signing_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/signing"
)

// renderings is everything that could print v.
func renderings(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T|%v"} {
		if verb == "%T|%v" {
			out[verb] = fmt.Sprintf(verb, v, v)
			continue
		}
		out[verb] = fmt.Sprintf(verb, v)
	}
	encoded, err := json.Marshal(v)
	require.NoError(t, err)
	out["json"] = string(encoded)
	encoded, err = codec.Marshal(v)
	require.NoError(t, err)
	out["json v2"] = string(encoded)
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var b bytes.Buffer
		slog.New(handler(&b)).Info("message", "key", v)
		out[name] = b.String()
	}
	return out
}

func TestPrivateKeysNeverPrint(t *testing.T) {
	// Known private bytes, so that their traces can be looked for.
	secret := bytes.Repeat([]byte{0xAB, 0x5C}, 16)
	p256, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), secret)
	require.NoError(t, err)
	fromP256, err := signing.FromSigner(p256)
	require.NoError(t, err)
	fromEdwards, err := signing.FromSigner(ed25519.NewKeyFromSeed(secret))
	require.NoError(t, err)

	traces := []string{
		hex.EncodeToString(secret[:8]), strings.ToUpper(hex.EncodeToString(secret[:8])),
		"171 92 171 92", "171, 92, 171, 92", "171,92,171,92", "0xab, 0x5c", new(big.Int).SetBytes(secret).String(),
		string(secret[:8]),
	}
	for _, key := range []*signing.DeveloperKey{fromP256, fromEdwards} {
		type holder struct {
			Exported   *signing.DeveloperKey
			unexported *signing.DeveloperKey
			value      signing.DeveloperKey
		}
		for shape, v := range map[string]any{
			"pointer": key, "value": *key, "slice": []any{key, *key},
			"holder": holder{key, key, *key},
		} {
			for form, text := range renderings(t, v) {
				for _, trace := range traces {
					assert.NotContains(t, text, trace, "%s %s %s", key.Algorithm(), shape, form)
				}
			}
		}
	}
}

func TestKeysPrintTheirFingerprint(t *testing.T) {
	key := newKey(t)
	require.Regexp(t, `^SHA256:[0-9a-f]{64}$`, key.Fingerprint())
	want := "signing.DeveloperKey(ecdsa-p256-sha256 " + key.Fingerprint()[:23] + "… redacted)"
	for form, text := range renderings(t, key) {
		assert.Contains(t, text, want, form)
	}
	for form, text := range renderings(t, *key) {
		assert.Contains(t, text, want, "a copy, %s", form)
	}
	assert.Equal(t, want, key.String())
	assert.Equal(t, want, key.GoString())
	assert.Equal(t, "signing.DeveloperKey(none)", fmt.Sprint(signing.DeveloperKey{}))
	assert.Equal(t, "<nil>", fmt.Sprint((*signing.DeveloperKey)(nil)))
}
