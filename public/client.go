package public

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Client calls the public utilities. It is safe for concurrent use.
//
// Source: Public utilities.
type Client struct {
	Rates    *Rates
	Invoices *Invoices
}

// New makes a client. baseURL is the service's address, such as https://host; it has to be https unless it is loopback.
// Nothing is sent. Bad input is *errors.InvalidInput.
//
// The description shows no rate windows for this surface, so that the client is not paced unless
// moneymovement.WithRateLimiter says so.
func New(baseURL string, options ...moneymovement.Option) (*Client, error) {
	config := transport.ConfigOf(moneymovement.Version, options)
	config.Auth = nil // whatever the options of another surface brought along
	client, err := transport.New(baseURL, "", config)
	if err != nil {
		return nil, err
	}
	low := lowLevel{client}
	return &Client{Rates: &Rates{low}, Invoices: &Invoices{low}}, nil
}

// maker is what makes a client that works.
const maker = "public.New"

// lowLevel sends the generated operations.
type lowLevel struct{ transport *transport.Client }

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	return transport.RequestOf(c.transport, maker, op, transport.CallOf(options))
}
