package refapi

import (
	"context"
	"net/http"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// AccessToken is the credential of the reference endpoints, sent as Authorization: Bearer. Make one with
// [NewAccessToken]; how the service issues it is not stated. It never prints, and is no credential of another surface.
//
// Source: Authentication, App API and reference endpoints.
type AccessToken struct{ secret }

// secret keeps the field out of callers' reach.
type secret = transport.Secret

// NewAccessToken holds a token as the service issued it.
func NewAccessToken(token string) AccessToken { return AccessToken{transport.NewSecret(token)} }

// APIKey is an app API key that goes along with the access token, as x-api-key. Make one with [NewAPIKey]. It never
// prints.
//
// Source: Authentication, App API and reference endpoints.
type APIKey struct{ secret }

// NewAPIKey holds a key as the service issued it.
func NewAPIKey(key string) APIKey { return APIKey{transport.NewSecret(key)} }

// WithAPIKey sends an app API key along with the access token. It is an option of [New]; clients of other surfaces pass
// it over.
func WithAPIKey(key APIKey) moneymovement.Option {
	// It waits where the credential goes: New picks it up there, and every other surface puts its own credential in its
	// place.
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

func (c *credential) validate(operation string) error {
	return transport.Validate(operation, func(check *transport.Check) {
		check.Credential("token", c.token.secret)
		if c.hasKey {
			check.Credential("apiKey", c.apiKey.secret)
		}
	})
}

// Authorize implements transport.Authorizer.
func (c *credential) Authorize(_ context.Context, h http.Header) error {
	h.Set("Authorization", "Bearer "+transport.Reveal(c.token.secret))
	if c.hasKey {
		h.Set("X-Api-Key", transport.Reveal(c.apiKey.secret))
	}
	return nil
}

// keyring changes what the calls that begin now carry.
type keyring struct {
	transport *transport.Client

	mu      sync.Mutex
	current credential
}

func (k *keyring) change(operation string, change func(next *credential)) error {
	k = transport.Of(k)
	if err := transport.Validate(operation, func(c *transport.Check) { c.Made(k.transport, maker) }); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	next := k.current
	change(&next)
	if err := next.validate(operation); err != nil {
		return err
	}
	k.current = next
	k.transport.Use(&next)
	return nil
}
