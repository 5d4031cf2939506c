package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Client calls the reference endpoints with one access token. It is safe for concurrent use.
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
}

// New makes a client. baseURL is the service's address, such as https://host, without /api/v1; it has to be https unless it is loopback.
// Nothing is sent. Bad input is *errors.InvalidInput.
//
// The description shows no rate windows for this surface, so that the client is not paced unless moneymovement.WithRateLimiter says so.
func New(baseURL string, token AccessToken, options ...moneymovement.Option) (*Client, error) {
	config := transport.Config{Version: moneymovement.Version}
	for _, option := range options {
		if option != nil {
			option(&config)
		}
	}
	credential := token.with(config.Auth)
	if err := credential.validate(); err != nil {
		return nil, err
	}
	config.Auth = credential
	client, err := transport.New(baseURL, "", config)
	if err != nil {
		return nil, err
	}
	low := lowLevel{client}
	return &Client{
		Invoices: &Invoices{low}, Contracts: &Contracts{low}, Products: &Products{low}, Cards: &Cards{low: low},
		Quotes: &Quotes{low}, Wallet: &Wallet{low}, Webhooks: &Webhooks{low},
	}, nil
}

// maker is what makes a client that works.
const maker = "refapi.New"

// lowLevel sends the generated operations.
type lowLevel struct{ transport *transport.Client }

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	r := transport.NewRequest(op, "", transport.CallOf(options))
	r.Check().Made(c.transport, maker)
	return r
}

// ready refuses what a flow cannot begin with.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation) error {
	return transport.Ready(ctx, c.transport, op, maker)
}
