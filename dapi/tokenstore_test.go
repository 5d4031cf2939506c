package dapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// The name of a credential stays, since stored sessions carry it.
func TestCredentialNames(t *testing.T) {
	developer := dapi.Developer{Email: "ops@example.com", Key: publicHalf("public")}
	assert.Equal(t, "927d8345168ac89e9639dc6fcbe0f6da", developer.Credential("https://host.example"))
	assert.Equal(t, developer.Credential("https://host.example"), developer.Credential("https://host.example/"))
	for _, other := range []string{
		developer.Credential("https://other.example"),
		dapi.Developer{Email: "dev@example.com", Key: developer.Key}.Credential("https://host.example"),
		dapi.Developer{Email: developer.Email, Key: publicHalf("other")}.Credential("https://host.example"),
	} {
		assert.NotEqual(t, developer.Credential("https://host.example"), other)
	}
	assert.Empty(t, dapi.Developer{Email: "ops@example.com"}.Credential("https://host.example"))
}

// publicHalf is a key that signs nothing.
type publicHalf string

func (k publicHalf) PublicKey() []byte { return []byte(k) }
func (publicHalf) Sign(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("no private half")
}

var secretive = dapi.Session{
	AccessToken:      moneymovement.NewSecret("access-token-of-everything"),
	RefreshToken:     moneymovement.NewSecret("refresh-token-of-everything"),
	ExpiresAt:        time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	RefreshExpiresAt: time.Date(2030, 3, 3, 3, 4, 5, 0, time.UTC),
}

// exported is a session with its tokens, to be compared.
func exported(t *testing.T, session dapi.Session) string {
	t.Helper()
	data, err := session.Export()
	require.NoError(t, err)
	return string(data)
}

func TestSessionPrintsNoToken(t *testing.T) {
	const redacted = "dapi.Session(redacted, access until 2030-01-02T03:04:05Z)"
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%T"} {
		for _, value := range []any{secretive, &secretive, []dapi.Session{secretive},
			struct{ S dapi.Session }{secretive}, struct{ S *dapi.Session }{&secretive}} {
			assert.NotContains(t, fmt.Sprintf(verb, value), "of-everything", verb)
		}
	}
	assert.Equal(t, redacted, fmt.Sprintf("%+v", secretive))
	assert.Equal(t, redacted, secretive.String())
	assert.Equal(t, "dapi.Session(none)", dapi.Session{}.String())

	text, err := json.Marshal(secretive)
	require.NoError(t, err)
	assert.JSONEq(t, `{"AccessToken":"[redacted]","RefreshToken":"[redacted]","ExpiresAt":"2030-01-02T03:04:05Z",
		"RefreshExpiresAt":"2030-03-03T03:04:05Z","Credential":""}`, string(text))

	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		var log bytes.Buffer
		slog.New(handler(&log)).Info("got", "session", secretive, "pointer", &secretive)
		assert.NotContains(t, log.String(), "of-everything", name)
		assert.Contains(t, log.String(), "redacted", name)
	}
}

func TestSessionRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		moment := rapid.Custom(func(t *rapid.T) time.Time {
			return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).
				Draw(t, "nanoseconds")).UTC()
		})
		given := dapi.Session{
			AccessToken:  moneymovement.NewSecret(rapid.String().Draw(t, "access")),
			RefreshToken: moneymovement.NewSecret(rapid.String().Draw(t, "refresh")),
			ExpiresAt:    moment.Draw(t, "expires"), RefreshExpiresAt: moment.Draw(t, "refreshExpires"),
		}
		data, err := given.Export()
		require.NoError(t, err)
		got, err := dapi.ImportSession(data)
		require.NoError(t, err)
		require.True(t, given.AccessToken.Equal(got.AccessToken))
		require.True(t, given.RefreshToken.Equal(got.RefreshToken))
		require.Equal(t, given.ExpiresAt, got.ExpiresAt)
		require.Equal(t, given.RefreshExpiresAt, got.RefreshExpiresAt)
	})
}

func TestStoredSessionThatIsGarbage(t *testing.T) {
	whole, err := secretive.Export()
	require.NoError(t, err)
	for name, data := range map[string]string{
		"nothing": "", "text": "access-token-of-everything", "half": string(whole[:len(whole)/2]),
		"two":    string(whole) + string(whole),
		"a list": "[]", "wrong kind": `{"accessToken":{"access-token-of-everything":1}}`,
		"wrong time": `{"accessToken":"access-token-of-everything","expiresAt":"soon"}`,
	} {
		t.Run(name, func(t *testing.T) {
			session, err := dapi.ImportSession([]byte(data))
			var unreadable *errors.InvalidInput
			require.ErrorAs(t, err, &unreadable)
			assert.Equal(t, "ImportSession", unreadable.Operation)
			assert.Equal(t, "session", unreadable.Fields[0].Field)
			assert.Equal(t, "unreadable", unreadable.Fields[0].Code)
			assert.NotContains(t, err.Error(), "of-everything")
			assert.Zero(t, session)
		})
	}
}

func FuzzStoredSession(f *testing.F) {
	whole, err := secretive.Export()
	require.NoError(f, err)
	f.Add(whole)
	f.Add([]byte("{}"))
	f.Add([]byte(`{"expiresAt":"0000-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		session, err := dapi.ImportSession(data)
		if err != nil {
			require.False(t, len(data) > 40 && strings.Contains(err.Error(), string(data)))
			return
		}
		again, err := session.Export()
		require.NoError(t, err)
		back, err := dapi.ImportSession(again)
		require.NoError(t, err)
		require.Equal(t, session.AccessToken.Reveal(), back.AccessToken.Reveal())
		require.True(t, session.ExpiresAt.Equal(back.ExpiresAt))
	})
}
