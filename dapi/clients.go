package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Clients are the accounts that an integrator created.
type Clients struct{ low lowLevel }

// Create makes a client. The email is its natural key: the same email answers the client that exists, and
// [moneymovement.CaptureResponse] tells by Replayed. A new client is not `ready` at once; see [Clients.WaitReady].
//
// Source: Endpoints, Platform API; Limits, Idempotency.
func (s *Clients) Create(
	ctx context.Context, client ClientCreate, options ...moneymovement.CallOption,
) (*Client, error) {
	return transport.Of(s).low.CreateClient(ctx, &client, options)
}

// Get reads a client. One that belongs to someone else is *errors.NotFound.
func (s *Clients) Get(ctx context.Context, id ClientID, options ...moneymovement.CallOption) (*Client, error) {
	return transport.Of(s).low.GetClient(ctx, id, options)
}

// WaitReady polls until the client is `ready`, which is when it has a wallet and can move money. If ctx ends first, the
// error is *StillPending with the last status.
//
// Source: States, Platform objects; Events.
func (s *Clients) WaitReady(ctx context.Context, id ClientID, options ...WaitOption) (*Client, error) {
	return wait(ctx, options, poll[Client]{
		low: transport.Of(s).low, resource: "client", id: string(id),
		read: func(ctx context.Context) (*Client, error) {
			return transport.Of(s).low.as(transport.ClassPoll).GetClient(ctx, id, nil)
		},
		status: func(c *Client) string { return string(c.Status) },
		done:   func(c *Client) bool { return c.Status == ClientStatusReady },
	})
}
