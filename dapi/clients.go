package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Clients creates and reads clients. A client is an account that an integrator creates for a customer.
type Clients struct{ low lowLevel }

// Create creates a client. The email identifies the client: if a client with this email exists, Create returns that
// client. To see whether it is new, pass [moneymovement.CaptureResponse]: Response.Replayed is true for a client that
// existed.
//
// A new client cannot be used before its status is `ready`: see [Clients.WaitReady].
func (s *Clients) Create(
	ctx context.Context, client ClientCreate, options ...moneymovement.CallOption,
) (*Client, error) {
	return transport.Of(s).low.CreateClient(ctx, &client, options)
}

// Get returns a client. For the client of another integrator, it fails with *errors.NotFound.
func (s *Clients) Get(ctx context.Context, id ClientID, options ...moneymovement.CallOption) (*Client, error) {
	return transport.Of(s).low.GetClient(ctx, id, options)
}

// WaitReady polls until the client is `ready`. It then has a wallet and can move money. If ctx ends first, the error is
// *moneymovement.StillPending with the last status.
func (s *Clients) WaitReady(ctx context.Context, id ClientID, options ...moneymovement.WaitOption) (*Client, error) {
	return transport.Awaited[Client]{
		Client: transport.Of(s).low.transport, Operation: &opGetClient, Resource: "client", ID: string(id),
		Read: func(ctx context.Context) (*Client, error) {
			return transport.Of(s).low.as(moneymovement.ClassPoll).GetClient(ctx, id, nil)
		},
		Status: func(c *Client) string { return string(c.Status) },
		Done:   func(c *Client) bool { return c.Status == ClientStatusReady },
		Known:  func(c *Client) bool { return c.Status.Known() },
	}.Wait(ctx, options)
}
