package bench

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// TestBothWaysDoTheSame checks that the comparison is fair: both sides send the same request, and read the same from
// the response.
func TestBothWaysDoTheSame(t *testing.T) {
	for _, c := range comparisons(t) {
		t.Run(c.name, func(t *testing.T) {
			var bySDK, byHand sent
			c.service.keep = &bySDK
			got, err := c.sdk(t.Context())
			require.NoError(t, err)
			c.service.keep = &byHand
			want, err := c.hand(t.Context())
			require.NoError(t, err)

			assert.Equal(t, byHand.method, bySDK.method)
			assert.Equal(t, byHand.url, bySDK.url)
			assert.Equal(t, comparableHeader(byHand.header), comparableHeader(bySDK.header))
			if byHand.body != nil || bySDK.body != nil {
				assert.JSONEq(t, string(byHand.body), string(bySDK.body))
			}
			assert.JSONEq(t, written(t, asSDK(t, got, want)), written(t, got))
		})
	}
}

// comparableHeader spells the names in one way, and leaves out the User-Agent, which differs.
func comparableHeader(h http.Header) http.Header {
	same := http.Header{}
	for name, values := range h {
		same[http.CanonicalHeaderKey(name)] = values
	}
	same.Del("User-Agent")
	return same
}

// asSDK encodes what was decoded by hand and decodes it into the SDK's type, so that both have the same fields.
func asSDK(t *testing.T, sdk, hand any) any {
	t.Helper()
	var into any
	switch sdk.(type) {
	case *dapi.Payout:
		into = new(dapi.Payout)
	case *dapi.TransactionPage:
		into = new(dapi.TransactionPage)
	default:
		require.Failf(t, "no type to compare with", "%T", sdk)
	}
	require.NoError(t, json.Unmarshal([]byte(written(t, hand)), into))
	return into
}

func written(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}
