package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// lowLevel sends the generated operations, for one account.
type lowLevel struct {
	transport *transport.Client
	keys      *keyring // nil for logins
	pinned    *session // whatever the ring has come to hold since, nil for the one that it has
	account   ClientID
	acting    bool                // for a client; false for the credential's own account
	class     transport.RateClass // of its calls, unless they say another; "" for what they are
	check     func(*transport.Check)
}

// demanding has its calls checked for more than the description states.
func (c lowLevel) withCheck(check func(*transport.Check)) lowLevel {
	c.check = check
	return c
}

// as gives its calls a class in the rate windows.
func (c lowLevel) as(class transport.RateClass) lowLevel {
	c.class = class
	return c
}

// constructors are what makes a client that works.
const constructors = "dapi.NewIntegrator or dapi.NewSelfServe"

// ready refuses what a flow cannot begin with.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation) error {
	return transport.Ready(ctx, c.transport, op, constructors)
}

// clientRule is what a client's id has to look like before it travels as X-Service-Account.
var clientRule = transport.Rule{Required: true, Pattern: "^cl_", Prefix: "cl_"}

// head is that of an error which an answer of the operation leads to.
func (c lowLevel) head(op *transport.Operation, resource string) errors.Head {
	head := op.Head("")
	head.Resource, head.Account = resource, string(c.account)
	return head
}

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	call := transport.CallOf(options)
	if call.Class == "" {
		call.Class = c.class
	}
	c.authorize(&call)
	r := transport.NewRequest(op, string(c.account), call)
	r.Check().Made(c.transport, constructors)
	if c.acting {
		r.Check().Header("X-Service-Account", string(c.account), clientRule)
	}
	if c.check != nil {
		c.check(r.Check())
	}
	return r
}
