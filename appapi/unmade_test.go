package appapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/surfacetest"
)

// A client that no constructor made, or a call without a context, is refused with the name of what is missing.
func TestCallsThatLackWhatNoCallCanDoWithout(t *testing.T) {
	s, app := serve(t, answering(http.StatusOK, "{}"))
	wallet := new(surfacetest.Wallet)
	calls := surfacetest.Surface{
		Makers: "appapi.New", Made: []any{app}, Unmade: []any{new(appapi.Client)},
		Arguments: []any{wallet, appapi.ToQuote{QuoteID: "quote"}},
	}.Test(t)
	assert.Greater(t, calls, 200, "the walk found next to nothing")
	assert.Empty(t, s.requests())
	assert.False(t, wallet.Asked, "nothing is signed for a call that cannot be made")

	for _, client := range []*appapi.Client{nil, new(appapi.Client)} {
		surfacetest.NoClient(t, client.UseKey(appapi.NewAPIKey("key")), "appapi.New")
	}
	_, err := appapi.New("https://service.example", appapi.APIKey{})
	surfacetest.Refused(t, err, errors.Field{Field: "apiKey", Code: errors.FieldMissing, Message: "is required"})
	require.ErrorContains(t, err, "New: ")
}
