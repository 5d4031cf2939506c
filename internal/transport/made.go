package transport

import (
	"context"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/required"
)

// Context refuses a call without a context.
func (c *Check) Context(ctx context.Context) {
	if ctx == nil {
		c.refuse(required.NoContext())
	}
}

// Made refuses a client that none of the makers, which are constructors, made.
func (c *Check) Made(client *Client, makers string) {
	if client == nil {
		c.refuse(required.NoClient(makers))
	}
}

func (c *Check) refuse(f errors.Field) { c.Refuse(f.Field, f.Code, f.Message) }

// RequestOf starts a call of a client that one of the makers, which are constructors, made.
func RequestOf(client *Client, makers string, op *Operation, call Call) *Request {
	r := NewRequest(op, "", call)
	r.check.Made(client, makers)
	return r
}

// Ready is what a flow asks before it looks at its context or its client; single calls are refused on their own.
func Ready(ctx context.Context, client *Client, op *Operation, makers string) error {
	if ctx != nil && client != nil {
		return nil
	}
	return Validate(op.ID, func(c *Check) {
		c.Context(ctx)
		c.Made(client, makers)
	})
}

// Of is the service itself, or one that no constructor made in place of nil: a method then refuses the call rather than
// to panic.
func Of[S any](service *S) *S {
	if service == nil {
		return new(S)
	}
	return service
}
