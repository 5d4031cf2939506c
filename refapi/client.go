package refapi

import (
	"context"
	"net/http"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Client calls the reference endpoints with one credential. Make one with [New]. It is safe for concurrent use.
type Client struct {
	Invoices  *Invoices
	Contracts *Contracts
	Products  *Products
	Cards     *Cards
	Quotes    *Quotes
	Wallet    *Wallet
	Webhooks  *Webhooks

	keys *keyring
}

// New returns a client. baseURL is the service's address, such as https://host.example, without /api/v1. It must be
// https, except for a loopback address. New sends nothing. Bad input fails with *errors.InvalidInput.
//
// The description states no rate limits for this surface. The client does not limit its own rate,
// unless [moneymovement.WithRateLimiter] sets limits.
func New(baseURL string, with Credential, options ...moneymovement.Option) (*Client, error) {
	current := credential(with)
	if err := current.validate("New"); err != nil {
		return nil, err
	}
	config := transport.Config{ClientSettings: moneymovement.ClientSettingsOf(options...), Auth: &current}
	client, err := transport.New(baseURL, "", config)
	if err != nil {
		return nil, err
	}
	low := lowLevel{transport: client}
	return &Client{
		Invoices: &Invoices{low}, Contracts: &Contracts{low}, Products: &Products{low},
		Cards:  &Cards{low: low, proofs: cardproof.Prover{Client: client}},
		Quotes: &Quotes{low}, Wallet: &Wallet{low}, Webhooks: &Webhooks{low},
		keys: &keyring{transport: client, current: current},
	}, nil
}

// UseToken changes the access token. Calls that begin after UseToken send the new token. Calls that are under way still
// use the old token, so keep it valid until they have ended. An empty token, or one that does not fit in a header,
// fails with *errors.InvalidInput.
func (c *Client) UseToken(token AccessToken) error {
	return transport.OrNew(c).keys.change("UseToken", func(next *credential) { next.AccessToken = token })
}

// UseAPIKey changes the app API key that is sent beside the token, like [Client.UseToken].
func (c *Client) UseAPIKey(key APIKey) error {
	key.made = true // a zero key is refused
	return transport.OrNew(c).keys.change("UseAPIKey", func(next *credential) { next.APIKey = key })
}

// maker is the function that error texts name for a client that nothing made.
const maker = "refapi.New"

// lowLevel sends the generated operations.
type lowLevel struct {
	transport *transport.Client
	class     moneymovement.RateClass // of all calls; "" for the class of the operation
	header    http.Header             // of a wait
}

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	call := transport.Call{CallSettings: moneymovement.CallSettingsOf(options...), Class: c.class}
	if call.Header == nil {
		call.Header = c.header
	}
	return transport.RequestOf(c.transport, maker, op, call)
}

// ready refuses a flow that cannot begin, such as one without a context.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation) error {
	return transport.Ready(ctx, c.transport, transport.Flow{Op: op}, maker)
}

// Products lists what a merchant sells.
type Products struct{ low lowLevel }

// List returns the merchant's products that are on sale. To get all products:
//
//	List(ctx, ListMerchantProductsParams{ActiveOnly: new(false)})
//
// Prices are exact decimals in the product's Currency. An amount is nil if the service does not return it.
func (s *Products) List(
	ctx context.Context, params ListMerchantProductsParams, options ...moneymovement.CallOption,
) ([]MerchantProduct, error) {
	products, err := transport.OrNew(s).low.ListMerchantProducts(ctx, &params, options)
	if err != nil {
		return nil, err
	}
	return *products, nil
}

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

// KeyFingerprint implements transport.KeyHolder. It is empty without an API key: an access token is not a key.
func (c *credential) KeyFingerprint() string {
	return transport.Fingerprint(hidden.Reveal(c.APIKey.secret))
}

// keyring changes what the calls that begin now carry.
type keyring struct {
	transport *transport.Client

	mu      sync.Mutex
	current credential
}

func (k *keyring) change(operation string, change func(next *credential)) error {
	k = transport.OrNew(k)
	err := transport.Validate(operation, func(c *transport.Check) { c.Constructed(k.transport, maker) })
	if err != nil {
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
	return transport.OrNew(s).low.LogInWallet(ctx, &device, &login, options)
}
