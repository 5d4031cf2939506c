package refapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/refapi"
)

// withKey is a credential of both parts.
var withKey = refapi.Credential{AccessToken: refapi.NewAccessToken("token-1"), APIKey: refapi.NewAPIKey("key-1")}

func TestAPIKeyAndTokenAreSentTogether(t *testing.T) {
	var sent *http.Request
	client := newClientOf(t, withKey, func(r *http.Request) (*http.Response, error) {
		sent = r
		return response(http.StatusOK, `{"cards":[]}`), nil
	})
	_, err := client.Cards.List(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"Bearer token-1"}, sent.Header.Values("Authorization"))
	assert.Equal(t, []string{"key-1"}, sent.Header.Values("X-Api-Key"))
}

func TestCredentialsStayOnTheirOrigin(t *testing.T) {
	var hosts []string
	client := newClientOf(t, withKey, func(r *http.Request) (*http.Response, error) {
		hosts = append(hosts, r.URL.Host)
		elsewhere := response(http.StatusTemporaryRedirect, "")
		elsewhere.Header.Set("Location", "https://elsewhere.example/")
		return elsewhere, nil
	})
	_, err := client.Cards.List(t.Context())
	var unexpected *errors.UnexpectedResponse
	require.ErrorAs(t, err, &unexpected)
	assert.Equal(t, []string{"service.example"}, hosts)
	assert.NotContains(t, fmt.Sprintf("%v %+v", err, unexpected), "key-1")
}

// token is a credential without an app API key.
func token(text string) refapi.Credential {
	return refapi.Credential{AccessToken: refapi.NewAccessToken(text)}
}

func TestBadCredentialsAreRefused(t *testing.T) {
	for name, test := range map[string]struct {
		base        string
		with        refapi.Credential
		field, code string
	}{
		"nothing":                {baseURL, refapi.Credential{}, "AccessToken", "missing"},
		"no token":               {baseURL, token(""), "AccessToken", "missing"},
		"a token of two lines":   {baseURL, token("secret\r\nX-Other: 1"), "AccessToken", "pattern"},
		"a token with a space":   {baseURL, token("secret token"), "AccessToken", "pattern"},
		"a token that is a file": {baseURL, token(strings.Repeat("secret", 20_000)), "AccessToken", "too_long"},
		"an empty key": {baseURL, refapi.Credential{AccessToken: withKey.AccessToken, APIKey: refapi.NewAPIKey("")},
			"APIKey", "missing"},
		"a key with a line break": {baseURL,
			refapi.Credential{AccessToken: withKey.AccessToken, APIKey: refapi.NewAPIKey("secret\n")}, "APIKey",
			"pattern"},
		"over the open network": {"http://service.example", withKey, "baseURL", "https_required"},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := refapi.New(test.base, test.with)
			assert.Nil(t, client)
			var invalid *errors.InvalidInput
			require.ErrorAs(t, err, &invalid)
			assert.Equal(t, test.field, invalid.Fields[0].Field)
			assert.Equal(t, test.code, invalid.Fields[0].Code)
			assert.NotContains(t, fmt.Sprintf("%+v %v", invalid, err), "secret")
		})
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	client := newClient(t, nil)
	shown := []any{
		refapi.NewAccessToken("hush"), refapi.NewAPIKey("hush"),
		refapi.WalletLogin{Message: "m", Signatures: []moneymovement.Secret{moneymovement.NewSecret("hush")}},
		struct {
			Token  refapi.AccessToken
			hidden refapi.APIKey
		}{refapi.NewAccessToken("hush"), refapi.NewAPIKey("hush")}, client, *client,
	}
	for _, value := range shown {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			printed := fmt.Sprintf(verb, value)
			assert.NotContains(t, printed, "hush", verb)
			assert.NotContains(t, printed, "token-1", verb)
		}
		written, err := json.Marshal(value)
		require.NoError(t, err)
		assert.NotContains(t, string(written), "hush")
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "token", shown[0], "key", shown[1], "login", shown[2])
	assert.NotContains(t, log.String(), "hush")
	assert.Contains(t, log.String(), "token=[redacted] key=[redacted]")
	assert.Equal(t, "[none]", refapi.AccessToken{}.String())
}

func TestTokenAndKeyChangeOneByOne(t *testing.T) {
	var sent []string
	var client *refapi.Client
	client = newClient(t, func(r *http.Request) (*http.Response, error) {
		if sent = append(sent, r.Header.Get("Authorization")+" "+r.Header.Get("X-Api-Key")); len(sent) == 1 {
			assert.NoError(t, client.UseToken(refapi.NewAccessToken("token-2")))
			return response(http.StatusServiceUnavailable, ""), nil
		}
		return response(http.StatusOK, `{"cards":[]}`), nil
	}, moneymovement.WithRetries(moneymovement.RetryPolicy{WaitMin: 1}))
	list := func() {
		_, err := client.Cards.List(t.Context())
		require.NoError(t, err)
	}
	list()
	list()
	require.NoError(t, client.UseAPIKey(refapi.NewAPIKey("key-2")))
	list()
	require.NoError(t, client.UseToken(refapi.NewAccessToken("token-3")))
	list()
	assert.Equal(t, []string{"Bearer token-1 ", "Bearer token-1 ", "Bearer token-2 ", "Bearer token-2 key-2",
		"Bearer token-3 key-2"}, sent)

	for operation, err := range map[string]error{
		"UseToken": client.UseToken(refapi.AccessToken{}), "UseAPIKey": client.UseAPIKey(refapi.NewAPIKey("a b")),
	} {
		var refused *errors.InvalidInput
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, operation, refused.Operation)
	}
	list()
	assert.Equal(t, "Bearer token-3 key-2", sent[5], "what is refused changes nothing")
}

// No error leaves the SDK that does not implement errors.Failure.
func TestEveryErrorIsAFailureOfItsCall(t *testing.T) {
	for fault, m := range testkit.CommonFaults() {
		for operation, x := range exchanges {
			t.Run(fault+"/"+operation, func(t *testing.T) {
				m.CheckCall(t, func(t *testing.T, ctx context.Context, next *http.Client) error {
					client, err := refapi.New(baseURL, refapi.Credential{AccessToken: refapi.NewAccessToken("token-1")},
						moneymovement.WithHTTPClient(next))
					require.NoError(t, err)
					if _, err = x.call(ctx, client); err == nil {
						assert.Empty(t, x.response, "a response that was not sent")
					}
					return err
				})
			})
		}
	}
}

// A client that no constructor made, or a call without a context, is refused with the name of what is missing.
func TestNilContextAndZeroClientAreRefused(t *testing.T) {
	made := newClient(t, func(r *http.Request) (*http.Response, error) {
		t.Errorf("%s was sent", r.URL)
		return response(http.StatusOK, "{}"), nil
	})
	wallet := new(testkit.Wallet)
	calls := testkit.Surface{
		Constructors: "refapi.New", Clients: []any{made}, ZeroClients: []any{new(refapi.Client)},
		Arguments: []any{wallet},
	}.Test(t)
	assert.Greater(t, calls, 40, "the walk found next to nothing")
	assert.False(t, wallet.Asked, "nothing is signed for a call that cannot be made")

	for _, client := range []*refapi.Client{nil, new(refapi.Client)} {
		testkit.CheckNoClient(t, client.UseToken(refapi.NewAccessToken("token")), "refapi.New")
		testkit.CheckNoClient(t, client.UseAPIKey(refapi.NewAPIKey("key")), "refapi.New")
	}
	_, err := refapi.New(baseURL, refapi.Credential{})
	testkit.CheckRefused(t, err, errors.Field{Field: "AccessToken", Code: errors.FieldMissing, Message: "is required"})
	require.ErrorContains(t, err, "New: ")
}
