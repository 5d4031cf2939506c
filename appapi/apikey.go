package appapi

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// APIKey is the credential of the app API; it identifies the owning app. Make one with [NewAPIKey]. It never prints, and is no credential of
// another surface.
//
// Source: Authentication, App API and reference endpoints.
type APIKey struct {
	// secret is a function so that packages that print structs by reflection cannot reach the key.
	secret func() string
}

// NewAPIKey holds a key as the service issued it. Read it from where secrets are kept, not from the source.
func NewAPIKey(key string) APIKey { return APIKey{func() string { return key }} }

func (k APIKey) reveal() string {
	if k.secret == nil {
		return ""
	}
	return k.secret()
}

// String is a redaction.
func (k APIKey) String() string {
	if k.reveal() == "" {
		return "appapi.APIKey(none)"
	}
	return "appapi.APIKey(redacted)"
}

// Format writes the redaction for every verb and flag.
func (k APIKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, k.String()) }

// MarshalText writes the redaction; JSON and other encodings show that. There is no way back.
func (k APIKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// LogValue is the redaction.
func (k APIKey) LogValue() slog.Value { return slog.StringValue(k.String()) }

// keyRule is what can travel in a header and is one token there.
var keyRule = transport.Rule{Required: true, Max: 4096, Pattern: `^[\x21-\x7e]+$`}

func (k APIKey) validate(c *transport.Check) {
	c.Text("apiKey", k.reveal(), keyRule)
}

// WithKeyHeader sends the key as X-Api-Key, instead of as Authorization: Bearer. The service takes either.
//
// Source: Surfaces.
func WithKeyHeader() moneymovement.Option {
	return func(c *transport.Config) { c.Auth = inKeyHeader{} }
}

// inKeyHeader is the wish for X-Api-Key. It holds no key, so that on another surface it would authorize nothing.
type inKeyHeader struct{}

// Authorize implements transport.Authorizer.
func (inKeyHeader) Authorize(context.Context, http.Header) error { return nil }

// credential puts the key on each attempt. A key is never renewed.
type credential struct {
	header string
	value  []string
}

// credentialOf is the key in the header that the options ask for.
func credentialOf(key APIKey, asked transport.Authorizer) credential {
	if _, wanted := asked.(inKeyHeader); wanted {
		return credential{"X-Api-Key", []string{key.reveal()}}
	}
	return credential{"Authorization", []string{"Bearer " + key.reveal()}}
}

// Authorize implements transport.Authorizer.
func (c credential) Authorize(_ context.Context, h http.Header) error {
	h[c.header] = c.value
	return nil
}
