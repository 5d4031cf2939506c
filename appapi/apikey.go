package appapi

import (
	"context"
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// APIKey is the credential of the app API; it identifies the owning app. Make one with [NewAPIKey]. It never prints,
// and is no credential of another surface.
//
// Source: Authentication, App API and reference endpoints.
type APIKey struct{ secret }

// secret keeps the field out of callers' reach.
type secret = transport.Secret

// NewAPIKey holds a key as the service issued it. Read it from where secrets are kept, not from the source.
func NewAPIKey(key string) APIKey { return APIKey{transport.NewSecret(key)} }

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
	value  transport.Hidden[[]string]
}

// credential is the key in a header.
func (k APIKey) credential(keyHeader bool) credential {
	if keyHeader {
		return credential{"X-Api-Key", transport.Hide([]string{transport.Reveal(k.secret)})}
	}
	return credential{"Authorization", transport.Hide([]string{"Bearer " + transport.Reveal(k.secret)})}
}

func (k APIKey) validate(operation string) error {
	return transport.Validate(operation, func(c *transport.Check) { c.Credential("apiKey", k.secret) })
}

// Authorize implements transport.Authorizer.
func (c credential) Authorize(_ context.Context, h http.Header) error {
	h[c.header] = c.value.Value()
	return nil
}
