package appapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/internal/surfacetest"
)

// No error leaves the SDK that does not answer for its call.
func TestEveryErrorAnswersForItsCall(t *testing.T) {
	for mishap, m := range surfacetest.Usual() {
		for operation, x := range exchanges() {
			t.Run(mishap+"/"+operation, func(t *testing.T) {
				m.Befall(t, func(t *testing.T, ctx context.Context, next *http.Client) error {
					client, err := appapi.New("https://service.example", appapi.NewAPIKey("secret-key"),
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
