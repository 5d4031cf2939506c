package refapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// A client that no constructor made, or a call without a context, is refused with the name of what is missing.
func TestCallsThatLackWhatNoCallCanDoWithout(t *testing.T) {
	var without context.Context
	made := newClient(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return answer(http.StatusOK, "{}"), nil
	})
	for operation, x := range exchanges {
		t.Run(operation, func(t *testing.T) {
			_, err := x.call(t.Context(), new(refapi.Client))
			refusedFor(t, err, "client", "refapi.New")
			_, err = x.call(without, made)
			refusedFor(t, err, "context", "context.Background()")
		})
	}
	_, err := new(refapi.Client).Quotes.Wait(t.Context(), "q_1")
	refusedFor(t, err, "client", "refapi.New")
	_, err = made.Quotes.Wait(without, "q_1")
	refusedFor(t, err, "context", "context.Background()")
	_, err = refapi.New(baseURL, refapi.AccessToken{})
	refusedFor(t, err, "token", "is required")
	require.ErrorContains(t, err, "New: ")
	_, err = new(refapi.Client).Cards.Details(t.Context(), "card_1", signs{})
	refusedFor(t, err, "client", "refapi.New")
	_, err = made.Cards.Details(without, "card_1", signs{})
	refusedFor(t, err, "context", "context.Background()")
	for _, unmade := range []*refapi.Client{nil, new(refapi.Client)} {
		refusedFor(t, unmade.UseToken(refapi.NewAccessToken("token")), "client", "refapi.New")
		refusedFor(t, unmade.UseAPIKey(refapi.NewAPIKey("key")), "client", "refapi.New")
	}
}

// signs is a wallet that signs whatever it is asked to.
type signs struct{}

func (signs) Address() string { return "0x1" }

func (signs) SignMessage(context.Context, []byte) (string, error) { return "0x2", nil }

func refusedFor(t *testing.T, err error, field, says string) {
	t.Helper()
	refused, is := errors.AsType[*errors.InvalidInput](err)
	require.True(t, is, "%v", err)
	assert.NotEmpty(t, refused.Operation)
	require.NotEmpty(t, refused.Fields)
	assert.Equal(t, field, refused.Fields[0].Field)
	assert.Equal(t, map[string]string{"client": "not_made", "context": "required", "apiKey": "missing", "token": "missing"}[field], refused.Fields[0].Code)
	assert.Contains(t, refused.Fields[0].Message, says)
}
