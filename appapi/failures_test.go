package appapi_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// No error leaves the SDK that does not answer for its call.
func TestEveryErrorAnswersForItsCall(t *testing.T) {
	for mishap, respond := range map[string]httpmock.Responder{
		"canceled":       nil,
		"no network":     httpmock.NewErrorResponder(errors.New("an error of the caller's own kind")),
		"a web page":     httpmock.NewStringResponder(http.StatusOK, "<html>"),
		"a gateway":      httpmock.NewStringResponder(http.StatusBadGateway, "<html>"),
		"another status": httpmock.NewStringResponder(http.StatusTeapot, "{}"),
		"a new slug":     httpmock.NewStringResponder(http.StatusConflict, `{"error":{"code":"of_its_own"}}`),
	} {
		for operation, x := range exchanges() {
			t.Run(mishap+"/"+operation, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					mock := httpmock.NewMockTransport()
					if respond == nil {
						cancel()
					}
					mock.RegisterNoResponder(respond)
					app, err := appapi.New("https://service.example", appapi.NewAPIKey("secret-key"),
						moneymovement.WithHTTPClient(&http.Client{Transport: mock}))
					require.NoError(t, err)

					_, err = x.call(ctx, app)
					if err == nil {
						assert.Empty(t, x.answer, "an answer that nobody gave")
						return
					}
					_, typed := errors.AsType[errors.Failure](err)
					assert.True(t, typed, "%T: %v", err, err)
					head, ok := errors.HeadOf(err)
					assert.True(t, ok && head.Operation != "", "%T: %v", err, err)
				})
			})
		}
	}
}
