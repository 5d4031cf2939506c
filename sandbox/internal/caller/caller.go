// Package caller carries who makes a request, and for whom, from the gate to the
// state machine.
package caller

import (
	"context"
	"net/netip"
)

// Self is the account of a caller that acts for no client.
const Self = "self"

// Caller is the session and the request's own identifiers.
type Caller struct {
	Owner string // the integrator's account id
	Email string // of the integrator's account
	KeyID string // of the developer key that minted the session, dk_

	Account        string // what the request acts for: a client's id, or Self
	IdempotencyKey string // as sent, "" when absent
	RequestID      string
	Source         netip.Addr // where the request comes from

	// Signer finds the developer key of the account that signed, by its public
	// half; for any other key the check is nil. Who co-signs calls the check right
	// before. It returns the refusal if the session's key or that one is gone, is
	// not used from an address of its list, or lacks the scope of the route.
	Signer func(publicKey []byte) (check func() error)
}

type contextKey struct{}

// With returns a context that carries c.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// From returns the caller of ctx; the zero Caller if ctx has none. On
// the login operations it names no session yet.
func From(ctx context.Context) Caller {
	c, _ := ctx.Value(contextKey{}).(Caller)
	return c
}
