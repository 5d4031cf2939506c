package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Client calls the reference endpoints with one credential. It is safe for concurrent use.
//
// Source: Reference endpoints under /api/v1.
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

// New makes a client. baseURL is the service's address, such as https://host, without /api/v1; it has to be https
// unless it is loopback. Nothing is sent. Bad input is *errors.InvalidInput.
//
// The description shows no rate windows for this surface, so that the client is not paced unless
// moneymovement.WithRateLimiter says so.
func New(baseURL string, with Credential, options ...moneymovement.Option) (*Client, error) {
	current := credential(with)
	if err := current.validate("New"); err != nil {
		return nil, err
	}
	config := transport.ConfigOf(moneymovement.Version, options)
	config.Auth = &current
	client, err := transport.New(baseURL, "", config)
	if err != nil {
		return nil, err
	}
	low := lowLevel{client}
	return &Client{
		Invoices: &Invoices{low}, Contracts: &Contracts{low}, Products: &Products{low},
		Cards:  &Cards{low: low, proofs: cardproof.Prover{Client: client}},
		Quotes: &Quotes{low}, Wallet: &Wallet{low}, Webhooks: &Webhooks{low},
		keys: &keyring{transport: client, current: current},
	}, nil
}

// UseToken changes over to another access token. Calls that begin from now on carry it; those under way end with the
// old one, so that both have to be good until they are over. A token that is empty or that no header can carry is
// *errors.InvalidInput.
func (c *Client) UseToken(token AccessToken) error {
	return transport.Of(c).keys.change("UseToken", func(next *credential) { next.AccessToken = token })
}

// UseAPIKey is [Client.UseToken] for the app API key that goes along with the token.
func (c *Client) UseAPIKey(key APIKey) error {
	key.made = true // a zero key is refused
	return transport.Of(c).keys.change("UseAPIKey", func(next *credential) { next.APIKey = key })
}

// maker is what makes a client that works.
const maker = "refapi.New"

// lowLevel sends the generated operations.
type lowLevel struct{ transport *transport.Client }

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	return transport.RequestOf(c.transport, maker, op, transport.CallOf(options))
}

// ready refuses what a flow cannot begin with.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation) error {
	return transport.Ready(ctx, c.transport, op, maker)
}
