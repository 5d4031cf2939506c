package appapi

import (
	"context"
	"net/http"

	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// APIKey is the credential of the app API. Make one with [NewAPIKey]. It never prints.
type APIKey struct {
	secret
	ownHeader bool // X-Api-Key
}

// secret is embedded under this name so that the field is not exported.
type secret = hidden.Text

// NewAPIKey returns a key that the service issued. Load it from your secret store; do not write it into the source
// code. [New] refuses an empty key.
func NewAPIKey(key string) APIKey { return APIKey{secret: hidden.NewText(key)} }

// InKeyHeader returns the same key, to be sent as the header X-Api-Key in place of Authorization: Bearer. The service
// accepts both.
func (k APIKey) InKeyHeader() APIKey {
	k.ownHeader = true
	return k
}

// credential sets the key's header on each attempt. A key is never renewed.
type credential struct {
	header string
	value  hidden.Value[[]string]
}

// credential returns the header of the key.
func (k APIKey) credential() credential {
	if k.ownHeader {
		return credential{"X-Api-Key", hidden.Hide([]string{hidden.Reveal(k.secret)})}
	}
	return credential{"Authorization", hidden.Hide([]string{"Bearer " + hidden.Reveal(k.secret)})}
}

func (k APIKey) validate(operation string) error {
	return transport.Validate(operation, func(c *transport.Check) { c.Credential("apiKey", k.secret) })
}

// Authorize implements transport.Authorizer.
func (c credential) Authorize(_ context.Context, h http.Header) error {
	h[c.header] = c.value.Value()
	return nil
}
