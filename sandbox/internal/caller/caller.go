// Package caller carries the caller of a request, and the account that it acts for, from the gate to the state machine.
package caller

import (
	"context"
	"net/netip"
)

// Self is the account of a caller that acts for no client.
const Self = "self"

// Caller has the session of a request and the request's own identifiers.
type Caller struct {
	Owner string // the integrator's account id
	Email string // of the integrator's account
	KeyID string // of the developer key of the session, dk_

	Account        string // the account that the request acts for: a client's id, or Self
	IdempotencyKey string // as sent; "" without one
	RequestID      string
	Source         netip.Addr // where the request comes from
	Seeded         bool       // -seed of the command prepares the host with this request

	// Signer finds the account's developer key with this public key, and returns its check. For an unknown key the
	// check is nil. Call the check right before co-signing. It returns a refusal if the session's key or this one was
	// deleted, is used from an address outside its list, or lacks the scope of the route.
	Signer func(publicKey []byte) (check func() error)
}

type contextKey struct{}

// With returns a context that carries c.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// From returns the caller of ctx, or the zero Caller. During a login operation, there is no session yet.
func From(ctx context.Context) Caller {
	c, _ := ctx.Value(contextKey{}).(Caller)
	return c
}
