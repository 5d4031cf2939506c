package refapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// No error leaves the SDK that does not answer for its call.
func TestEveryErrorAnswersForItsCall(t *testing.T) {
	for mishap, m := range testkit.Usual() {
		for operation, x := range exchanges {
			t.Run(mishap+"/"+operation, func(t *testing.T) {
				m.Befall(t, func(t *testing.T, ctx context.Context, next *http.Client) error {
					client, err := refapi.New(baseURL, refapi.Credential{AccessToken: refapi.NewAccessToken("token-1")},
						moneymovement.WithHTTPClient(next))
					require.NoError(t, err)
					if _, err = x.call(ctx, client); err == nil {
						assert.Empty(t, x.answer, "an answer that nobody gave")
					}
					return err
				})
			})
		}
	}
}

// A client that no constructor made, or a call without a context, is refused with the name of what is missing.
func TestCallsThatLackWhatNoCallCanDoWithout(t *testing.T) {
	made := newClient(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return answer(http.StatusOK, "{}"), nil
	})
	wallet := new(testkit.Wallet)
	calls := testkit.Surface{
		Makers: "refapi.New", Made: []any{made}, Unmade: []any{new(refapi.Client)}, Arguments: []any{wallet},
	}.Test(t)
	assert.Greater(t, calls, 40, "the walk found next to nothing")
	assert.False(t, wallet.Asked, "nothing is signed for a call that cannot be made")

	for _, client := range []*refapi.Client{nil, new(refapi.Client)} {
		testkit.NoClient(t, client.UseToken(refapi.NewAccessToken("token")), "refapi.New")
		testkit.NoClient(t, client.UseAPIKey(refapi.NewAPIKey("key")), "refapi.New")
	}
	_, err := refapi.New(baseURL, refapi.Credential{})
	testkit.Refused(t, err, errors.Field{Field: "AccessToken", Code: errors.FieldMissing, Message: "is required"})
	require.ErrorContains(t, err, "New: ")
}
