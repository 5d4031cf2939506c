package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
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

	transport *transport.Client
}

// New makes a client. baseURL is the service's address, such as https://host; it has to be https unless it is loopback.
// The key is sent to that origin only, as Authorization: Bearer, or as X-Api-Key after [APIKey.InKeyHeader]. Nothing is sent
// before the first call. Bad input is *errors.InvalidInput.
func New(baseURL string, key APIKey, options ...moneymovement.Option) (*Client, error) {
	if err := key.validate("New"); err != nil {
		return nil, err
	}
	config := transport.ConfigOf(moneymovement.Version, options)
	config.Auth = key.credential()
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
		Cards:        &Cards{low: low, proofs: cardproof.Prover{Client: client}},
		Transfers:    &Transfers{low},
		transport:    client,
	}, nil
}

// UseKey changes over to another key, of the same app or of another one. Calls that begin from now on carry it; those
// under way end with the old one, so that both have to be good until they are over. A key that is empty or that no
// header can carry is *errors.InvalidInput.
func (c *Client) UseKey(key APIKey) error {
	c = transport.Of(c)
	if err := transport.Validate("UseKey", func(check *transport.Check) {
		check.Made(c.transport, maker)
	}); err != nil {
		return err
	}
	if err := key.validate("UseKey"); err != nil {
		return err
	}
	c.transport.Use(key.credential())
	return nil
}

// maker is what makes a client that works.
const maker = "appapi.New"

// lowLevel sends the generated operations.
type lowLevel struct{ transport *transport.Client }

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	return transport.RequestOf(c.transport, maker, op, transport.CallOf(options))
}

// write is request for an operation that an idempotency key anchors.
func (c lowLevel) write(op *transport.Operation, options []moneymovement.WriteOption) *transport.Request {
	return transport.RequestOf(c.transport, maker, op, transport.WriteOf(options))
}

// ready refuses what a flow cannot begin with.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation) error {
	return transport.Ready(ctx, c.transport, op, maker)
}

// reading reads a resource, for a change whose answer did not show it.
func reading[T any](
	ctx context.Context, id string, get func(context.Context, string, []moneymovement.CallOption) (*T, error),
) func(transport.SameCredential) (*T, error) {
	return func(same transport.SameCredential) (*T, error) { return get(ctx, id, []moneymovement.CallOption{same}) }
}
