package refapi

import (
	"context"
	"net/http"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// AccessToken is the credential of the reference endpoints, sent as Authorization: Bearer. Make one with
// [NewAccessToken]. It never prints.
type AccessToken struct{ secret }

// secret is embedded under this name so that the field is not exported.
type secret = hidden.Text

// NewAccessToken returns a token that the service issued.
func NewAccessToken(token string) AccessToken { return AccessToken{hidden.NewText(token)} }

// APIKey is an app API key that is sent along with the access token, as the header x-api-key. Make one with
// [NewAPIKey]. It never prints.
type APIKey struct {
	secret
	made bool // by NewAPIKey: an empty key is refused, and not left out
}

// NewAPIKey returns a key that the service issued.
func NewAPIKey(key string) APIKey { return APIKey{hidden.NewText(key), true} }

// Credential is the credential of the reference endpoints. It never prints.
type Credential struct {
	// AccessToken is required. It is sent as Authorization: Bearer.
	AccessToken AccessToken
	// APIKey is optional. Its zero value sends none.
	APIKey APIKey
}

// credential sets the headers. It cannot be renewed.
type credential Credential

func (c *credential) validate(operation string) error {
	return transport.Validate(operation, func(check *transport.Check) {
		check.Credential("AccessToken", c.AccessToken.secret)
		if c.APIKey.made {
			check.Credential("APIKey", c.APIKey.secret)
		}
	})
}

// Authorize implements transport.Authorizer.
func (c *credential) Authorize(_ context.Context, h http.Header) error {
	h.Set("Authorization", "Bearer "+hidden.Reveal(c.AccessToken.secret))
	if c.APIKey.made {
		h.Set("X-Api-Key", hidden.Reveal(c.APIKey.secret))
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

// Wallet logs in with a wallet.
type Wallet struct{ low lowLevel }

// LogIn sends a message and the wallet's signatures over it, and returns the status of the login. The description does
// not show which message must be signed. device describes the device that logs in. If DeviceType or DeviceName is
// empty, the service takes ios.
//
// A login can send a transaction on chain, so LogIn is never sent twice. If its response is lost, it fails with
// *errors.InDoubt.
func (s *Wallet) LogIn(
	ctx context.Context, login WalletLogin, device LogInWalletParams, options ...moneymovement.CallOption,
) (*WalletLoginResult, error) {
	return transport.Of(s).low.LogInWallet(ctx, &device, &login, options)
}
