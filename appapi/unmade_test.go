package appapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// A client that no constructor made, or a call without a context, is refused with the name of what is missing.
func TestCallsThatLackWhatNoCallCanDoWithout(t *testing.T) {
	var without context.Context
	s, app := serve(t, answering(http.StatusOK, "{}"))
	for operation, x := range exchanges() {
		t.Run(operation, func(t *testing.T) {
			_, err := x.call(t.Context(), new(appapi.Client))
			refusedFor(t, err, "client", "appapi.New")
			_, err = x.call(without, app)
			refusedFor(t, err, "context", "context.Background()")
		})
	}
	assert.Empty(t, s.requests())
	_, err := appapi.New("https://service.example", appapi.APIKey{})
	refusedFor(t, err, "apiKey", "is required")
	require.ErrorContains(t, err, "New: ")
	_, err = new(appapi.Client).Cards.Details(t.Context(), "card_1", signs{})
	refusedFor(t, err, "client", "appapi.New")
	_, err = app.Cards.Details(without, "card_1", signs{})
	refusedFor(t, err, "context", "context.Background()")
	for _, unmade := range []*appapi.Client{nil, new(appapi.Client)} {
		refusedFor(t, unmade.UseKey(appapi.NewAPIKey("key")), "client", "appapi.New")
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
