package wallet_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// renderings is everything that could print v.
func renderings(t *testing.T, v any) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		out[verb] = fmt.Sprintf(verb, v)
	}
	encoded, err := json.Marshal(v)
	require.NoError(t, err)
	out["json"] = string(encoded)
	var text, structured bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("message", "key", v)
	slog.New(slog.NewJSONHandler(&structured, nil)).Info("message", "key", v)
	out["slog text"], out["slog json"] = text.String(), structured.String()
	return out
}

func TestPrivateKeysNeverPrint(t *testing.T) {
	secret := bytes.Repeat([]byte{0xAB, 0x5C}, 16)
	key, err := wallet.ParseHex(hex.EncodeToString(secret))
	require.NoError(t, err)
	traces := []string{
		hex.EncodeToString(secret[:8]), strings.ToUpper(hex.EncodeToString(secret[:8])),
		"171 92 171 92", "171, 92, 171, 92", "0xab, 0x5c", new(big.Int).SetBytes(secret).String(), string(secret[:8]),
	}
	type holder struct {
		Exported   *wallet.Key
		unexported *wallet.Key
		value      wallet.Key
	}
	for shape, v := range map[string]any{
		"pointer": key, "value": *key, "slice": []any{key, *key}, "holder": holder{key, key, *key},
	} {
		for form, text := range renderings(t, v) {
			for _, trace := range traces {
				assert.NotContains(t, text, trace, "%s %s", shape, form)
			}
		}
	}
	for form, text := range renderings(t, key) {
		assert.Contains(t, text, "wallet.Key("+key.Address()+" redacted)", form)
	}
	for form, text := range renderings(t, *key) {
		assert.Contains(t, text, "wallet.Key("+key.Address()+" redacted)", "a copy, %s", form)
	}
	assert.Equal(t, "wallet.Key(none)", fmt.Sprint(wallet.Key{}))
	assert.Equal(t, "wallet.Key(none)", wallet.Key{}.GoString())
}
