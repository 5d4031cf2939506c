package refapi_test

import (
	"net/http"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/refapi"
)

const baseURL = "https://service.example"

// newClient is a client whose requests are answered by respond.
func newClient(t *testing.T, respond httpmock.Responder, options ...moneymovement.Option) *refapi.Client {
	t.Helper()
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(respond)
	client, err := refapi.New(baseURL, refapi.NewAccessToken("token-1"),
		append([]moneymovement.Option{moneymovement.WithHTTPClient(&http.Client{Transport: mock})}, options...)...)
	require.NoError(t, err)
	return client
}

func answer(status int, body string) *http.Response {
	a := httpmock.NewStringResponse(status, body)
	a.Header.Set("Content-Type", "application/json")
	a.Header.Set("X-Request-ID", "req_1")
	return a
}
