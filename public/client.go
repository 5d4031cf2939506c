package public

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Client calls the public endpoints. Make one with [New]. It is safe for concurrent use.
type Client struct {
	Rates    *Rates
	Invoices *Invoices

	baseURL string
}

// New returns a client. baseURL is the service's address, such as https://host.example. It must be https, except for a
// loopback address. New sends nothing. Bad input fails with *errors.InvalidInput.
//
// The description states no rate limits for this surface. The client does not limit its own rate,
// unless [moneymovement.WithRateLimiter] sets limits.
func New(baseURL string, options ...moneymovement.Option) (*Client, error) {
	config := transport.Config{ClientSettings: moneymovement.ClientSettingsOf(options...), Anonymous: true}
	client, err := transport.New(baseURL, "", config)
	if err != nil {
		return nil, err
	}
	low := lowLevel{client}
	return &Client{Rates: &Rates{low}, Invoices: &Invoices{low}, baseURL: baseURL}, nil
}

// maker is the function that error texts name for a client that nothing made.
const maker = "public.New"

// lowLevel sends the generated operations.
type lowLevel struct{ transport *transport.Client }

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	call := transport.Call{CallSettings: moneymovement.CallSettingsOf(options...)}
	return transport.RequestOf(c.transport, maker, op, call)
}

// Rates returns exchange rates against USD.
type Rates struct{ low lowLevel }

// Get returns the rates of a currency, priced against USD. currency is a code such as "EUR". Rates are exact decimals.
// A rate that the service does not return is zero: check it with IsZero before you divide by it.
func (s *Rates) Get(ctx context.Context, currency string, options ...moneymovement.CallOption) (*FXRate, error) {
	return transport.Of(s).low.GetRate(ctx, currency, options)
}
