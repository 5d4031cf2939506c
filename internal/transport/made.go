package transport

import (
	"context"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// Context refuses a nil context.
func (c *Check) Context(ctx context.Context) {
	if ctx == nil {
		c.refuse(outcome.NoContext())
	}
}

// Made refuses a client that no constructor made. makers names the constructors.
func (c *Check) Made(client *Client, makers string) {
	if client == nil {
		c.refuse(outcome.NoClient(makers))
	}
}

func (c *Check) refuse(f errors.Field) { c.Refuse(f.Field, f.Code, f.Message) }

// RequestOf starts a call of a client. If no constructor made the client, the call is refused. makers names the
// constructors.
func RequestOf(client *Client, makers string, op *Operation, call Call) *Request {
	r := NewRequest(op, "", call)
	r.check.Made(client, makers)
	return r
}

// Ready checks context, client and input at the beginning of a flow. Single calls check them by themselves.
func Ready(ctx context.Context, client *Client, op *Operation, makers string, checks ...func(*Check)) error {
	if ctx == nil || client == nil {
		checks = []func(*Check){func(c *Check) {
			c.Context(ctx)
			c.Made(client, makers)
		}}
	}
	return Validate(op.ID, checks...)
}

// Of returns the service, or an empty one in place of nil. A method of an empty service refuses the call, and does not
// panic.
func Of[S any](service *S) *S {
	if service == nil {
		return new(S)
	}
	return service
}
