package gate

import (
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/described"
)

// The description's pattern has a look-ahead; its replacement takes the same
// strings.
func TestTheDecimalPatternHasAnEquivalent(t *testing.T) {
	described, err := described.Platform()["GET /sandbox/treasury"]()
	require.NoError(t, err)
	require.Equal(t, decimalPattern,
		described.Components.Schemas["Balance"].Value.Properties["available"].Value.AllOf[0].Value.Pattern)

	stated := regexp2.MustCompile(decimalPattern, regexp2.ECMAScript)
	matcher, err := compile(decimalPattern)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+.0-9a ]{0,8}`).Draw(t, "text")
		want, err := stated.MatchString(text)
		require.NoError(t, err)
		assert.Equal(t, want, matcher.MatchString(text), "%q", text)
	})
}

func TestFormats(t *testing.T) {
	for text, want := range map[string]bool{"": true, "QQ==": true, "QQ": false, "QR==": false, "_-==": false,
		"QQ==\n": false, "QUJD": true} {
		assert.Equal(t, want, isBase64(text), "base64 %q", text)
	}
	for text, want := range map[string]bool{
		"2026-01-02T03:04:05Z": true, "2026-01-02T03:04:05.678+05:30": true, "2026-01-02": false,
		"2026-13-02T03:04:05Z": false, "": false,
	} {
		assert.Equal(t, want, isTime(text), "time %q", text)
	}
	for text, want := range map[string]bool{"a@b": true, "a@b@c": false, "@b": false, "a@": false, "a b@c": false,
		"<a@b>": false, "a@b, c@d": false} {
		assert.Equal(t, want, isEmail(text), "email %q", text)
	}
}

func FuzzReadable(f *testing.F) {
	f.Add(`{"email":"a@example.com"}`)
	f.Add(`{"account":{"walletAddress":"0x1","chainId":"base","currency":"USDC"}}`)
	f.Add(`{"contactId":"po_1","amount":"1","currency":"USDC"}`)
	f.Add(`{"account":{"email":null}}`)
	f.Add(`[{"contractId":"1","items":[{"name":"a","quantity":1,"price":"1"}]}]`)
	g := &Gate{validation: validation()}
	surfaces := mounted(f)
	f.Fuzz(func(t *testing.T, body string) {
		for _, surface := range surfaces {
			for _, route := range surface.all(t) {
				if route.described.Operation.RequestBody != nil {
					g.judge(route, body)
				}
			}
		}
	})
}
