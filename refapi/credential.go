package refapi

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// AccessToken is the credential of the reference endpoints, sent as Authorization: Bearer. It prints as a redaction. How a token is issued
// is not stated.
//
// Source: Authentication, App API and reference endpoints.
type AccessToken string

// APIKey is an app API key that goes along with the access token, as x-api-key. It prints as a redaction.
//
// Source: Authentication, App API and reference endpoints.
type APIKey string

// WithAPIKey sends an app API key along with the access token. It is an option of [New]; clients of other surfaces pass it over.
func WithAPIKey(key APIKey) moneymovement.Option {
	// It waits where the credential goes: New picks it up there, and every other surface puts its own credential in its place.
	return func(c *transport.Config) { c.Auth = &credential{apiKey: key, hasKey: true} }
}

// credential sets the headers; it cannot be renewed.
type credential struct {
	token  AccessToken
	apiKey APIKey
	hasKey bool // an empty key is refused and not left out
}

// with is the credential of a token, and of the key that the options gave.
func (t AccessToken) with(fromOptions transport.Authorizer) *credential {
	c := &credential{token: t}
	if given, ok := fromOptions.(*credential); ok {
		c.apiKey, c.hasKey = given.apiKey, given.hasKey
	}
	return c
}

// secretRule is what travels in a header as it is.
var secretRule = transport.Rule{Required: true, Max: 8192, Pattern: `^[\x21-\x7e]+$`}

func (c *credential) validate() error {
	return transport.Validate("New", func(check *transport.Check) {
		check.Text("token", string(c.token), secretRule)
		if c.hasKey {
			check.Text("apiKey", string(c.apiKey), secretRule)
		}
	})
}

// Authorize implements transport.Authorizer.
func (c *credential) Authorize(_ context.Context, h http.Header) error {
	h.Set("Authorization", "Bearer "+string(c.token))
	if c.hasKey {
		h.Set("X-Api-Key", string(c.apiKey))
	}
	return nil
}

const redacted = "[redacted]"

// String is a redaction. Convert to string to get the token.
func (AccessToken) String() string { return redacted }

// Format writes a redaction for every verb and flag.
func (AccessToken) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText writes a redaction; JSON and other encodings show that.
func (AccessToken) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue logs a redaction.
func (AccessToken) LogValue() slog.Value { return slog.StringValue(redacted) }

// String is a redaction. Convert to string to get the key.
func (APIKey) String() string { return redacted }

// Format writes a redaction for every verb and flag.
func (APIKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText writes a redaction; JSON and other encodings show that.
func (APIKey) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue logs a redaction.
func (APIKey) LogValue() slog.Value { return slog.StringValue(redacted) }
