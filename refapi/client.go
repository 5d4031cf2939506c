package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
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
	return transport.Of(c).keys.change("UseToken", func(next *credential) { next.AccessToken = token })
}

// UseAPIKey changes the app API key that is sent beside the token, like [Client.UseToken].
func (c *Client) UseAPIKey(key APIKey) error {
	key.made = true // a zero key is refused
	return transport.Of(c).keys.change("UseAPIKey", func(next *credential) { next.APIKey = key })
}

// maker is the function that error texts name for a client that nothing made.
const maker = "refapi.New"

// lowLevel sends the generated operations.
type lowLevel struct {
	transport *transport.Client
	class     moneymovement.RateClass // of all calls; "" for the class of the operation
}

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	call := transport.Call{CallSettings: moneymovement.CallSettingsOf(options...), Class: c.class}
	return transport.RequestOf(c.transport, maker, op, call)
}

// ready refuses a flow that cannot begin, such as one without a context.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation) error {
	return transport.Ready(ctx, c.transport, op, maker)
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
	products, err := transport.Of(s).low.ListMerchantProducts(ctx, &params, options)
	if err != nil {
		return nil, err
	}
	return *products, nil
}
