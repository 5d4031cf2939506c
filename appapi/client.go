package appapi

import (
	"context"
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/cardproof"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Client calls the app API for one app. Make one with [New]. It is safe for concurrent use.
type Client struct {
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

// New returns a client. baseURL is the service's address, such as https://host.example. It must be https, except for a
// loopback address. The key is sent to that address only, as Authorization: Bearer, or as X-Api-Key after
// [APIKey.InKeyHeader]. New sends nothing. Bad input fails with *errors.InvalidInput.
func New(baseURL string, key APIKey, options ...moneymovement.Option) (*Client, error) {
	if err := key.validate("New"); err != nil {
		return nil, err
	}
	config := transport.Config{ClientSettings: moneymovement.ClientSettingsOf(options...), Auth: key.credential()}
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

// UseKey changes the key, for example when you rotate it. Calls that begin after UseKey send the new key. Calls that
// are under way still use the old key, so keep it valid until they have ended. An empty key, or one that does not fit
// in a header, fails with *errors.InvalidInput.
func (c *Client) UseKey(key APIKey) error {
	c = transport.OrNew(c)
	if err := transport.Validate("UseKey", func(check *transport.Check) {
		check.Constructed(c.transport, maker)
	}); err != nil {
		return err
	}
	if err := key.validate("UseKey"); err != nil {
		return err
	}
	c.transport.Use(key.credential())
	return nil
}

// maker is the function that error texts name for a client that nothing made.
const maker = "appapi.New"

// lowLevel sends the generated operations.
type lowLevel struct {
	transport *transport.Client
	origin    transport.Origin // of all calls
}

// with returns a lowLevel whose calls belong to another call, and have its credential and its headers.
func (c lowLevel) with(origin transport.Origin) lowLevel {
	c.origin = origin
	return c
}

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	return c.requestOf(op, moneymovement.CallSettingsOf(options...))
}

// write is request for an operation that an idempotency key anchors.
func (c lowLevel) write(op *transport.Operation, options []moneymovement.WriteOption) *transport.Request {
	return c.requestOf(op, moneymovement.CallSettingsOf(options...))
}

func (c lowLevel) requestOf(op *transport.Operation, settings moneymovement.CallSettings) *transport.Request {
	if settings.Header == nil {
		settings.Header = c.origin.Header
	}
	return transport.RequestOf(c.transport, maker, op, transport.Call{CallSettings: settings, Auth: c.origin.Auth})
}

// ready refuses a flow that cannot begin, such as one without a context.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation) error {
	return transport.Ready(ctx, c.transport, transport.Flow{Op: op}, maker)
}

// reading returns a read of the resource, for a change whose response did not contain it.
func reading[T any](
	ctx context.Context, id string, low lowLevel,
	get func(lowLevel, context.Context, string, []moneymovement.CallOption) (*T, error),
) func(transport.Origin) (*T, error) {
	return func(origin transport.Origin) (*T, error) { return get(low.with(origin), ctx, id, nil) }
}

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
	key    string // its fingerprint
}

// credential returns the header of the key.
func (k APIKey) credential() credential {
	key := hidden.Reveal(k.secret)
	fingerprint := transport.Fingerprint(key)
	if k.ownHeader {
		return credential{"X-Api-Key", hidden.Hide([]string{key}), fingerprint}
	}
	return credential{"Authorization", hidden.Hide([]string{"Bearer " + key}), fingerprint}
}

func (k APIKey) validate(operation string) error {
	return transport.Validate(operation, func(c *transport.Check) { c.Credential("apiKey", k.secret) })
}

// Authorize implements transport.Authorizer.
func (c credential) Authorize(_ context.Context, h http.Header) error {
	h[c.header] = c.value.Value()
	return nil
}

// KeyFingerprint implements transport.KeyHolder.
func (c credential) KeyFingerprint() string { return c.key }
