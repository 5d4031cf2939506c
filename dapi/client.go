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
	held      *session // whatever the ring has come to hold since, nil for the one that it has
	account   ClientID
	acting    bool                // for a client; false for the credential's own account
	class     transport.RateClass // of its calls, unless they say another; "" for what they are
	demand    func(*transport.Check)
}

// demanding has its calls checked for more than the description states.
func (c lowLevel) demanding(demand func(*transport.Check)) lowLevel {
	c.demand = demand
	return c
}

// as gives its calls a class in the rate windows.
func (c lowLevel) as(class transport.RateClass) lowLevel {
	c.class = class
	return c
}

// makers are what makes a client that works.
const makers = "dapi.NewIntegrator or dapi.NewSelfServe"

// ready refuses what a flow cannot begin with.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation) error {
	return transport.Ready(ctx, c.transport, op, makers)
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
	return c.requestOf(op, transport.CallOf(options))
}

// write is request for an operation that an idempotency key anchors.
func (c lowLevel) write(op *transport.Operation, options []moneymovement.WriteOption) *transport.Request {
	return c.requestOf(op, transport.WriteOf(options))
}

// withKey sends the key of a flow with a call that it anchors, or that belongs to what it anchors: a confirm.
func withKey(key moneymovement.Key) moneymovement.CallOption {
	return func(call *transport.Call) { call.Key, call.KeySet = string(key), true }
}

func (c lowLevel) requestOf(op *transport.Operation, call transport.Call) *transport.Request {
	if call.Class == "" {
		call.Class = c.class
	}
	c.authorize(&call)
	r := transport.NewRequest(op, string(c.account), call)
	r.Check().Made(c.transport, makers)
	if c.acting {
		r.Check().Header("X-Service-Account", string(c.account), clientRule)
	}
	if c.demand != nil {
		c.demand(r.Check())
	}
	return r
}
