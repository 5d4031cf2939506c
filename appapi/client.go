package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Client is the app API for the app that a key belongs to. It is safe for concurrent use.
//
// Source: Endpoints, App API.
type Client struct {
	// Account is the profile, verification and balances of the key's owner.
	Account      *Account
	Contacts     *Contacts
	Documents    *Documents
	Invoices     *Invoices
	Contracts    *Contracts
	Transactions *Transactions
	Banks        *Banks
	Quotes       *Quotes
	Cards        *Cards
	Transfers    *Transfers
}

// New makes a client. baseURL is the service's address, such as https://host; it has to be https unless it is loopback. The key is sent to
// that origin only, as Authorization: Bearer unless [WithKeyHeader] says otherwise. Nothing is sent before the first call. Bad input is
// *errors.InvalidInput.
func New(baseURL string, key APIKey, options ...moneymovement.Option) (*Client, error) {
	if err := transport.Validate("New", func(c *transport.Check) { c.Credential("apiKey", key.secret) }); err != nil {
		return nil, err
	}
	config := transport.Config{Version: moneymovement.Version}
	for _, option := range options {
		if option != nil {
			option(&config)
		}
	}
	config.Auth = credentialOf(key, config.Auth)
	client, err := transport.New(baseURL, "", config)
	if err != nil {
		return nil, err
	}
	low := lowLevel{transport: client}
	return &Client{
		Account:      &Account{low},
		Contacts:     &Contacts{low},
		Documents:    &Documents{low},
		Invoices:     &Invoices{low},
		Contracts:    &Contracts{low},
		Transactions: &Transactions{low},
		Banks:        &Banks{low},
		Quotes:       &Quotes{low},
		Cards:        &Cards{low: low},
		Transfers:    &Transfers{low},
	}, nil
}

// maker is what makes a client that works.
const maker = "appapi.New"

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
