package dapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// lowLevel sends the generated operations for one account.
type lowLevel struct {
	transport *transport.Client
	keys      *keyring // nil for logins
	pinned    *session // the session to use, even after UseKey; nil for the current one of keys
	account   ClientID
	acting    bool           // true for a client, false for the credential's own account
	preset    transport.Call // what the SDK itself sets for its calls: their class, key and place in a window
	check     func(*transport.Check)
}

// withCheck adds a check of the input to each call, for what the description does not state.
func (c lowLevel) withCheck(check func(*transport.Check)) lowLevel {
	c.check = check
	return c
}

// as returns a lowLevel whose calls have the rate class.
func (c lowLevel) as(class transport.RateClass) lowLevel {
	c.preset.Class = class
	return c
}

// constructors are the functions that make a client. Error texts name them.
const constructors = "dapi.NewIntegrator or dapi.NewSelfServe"

// ready returns an error if a flow cannot begin, such as for a nil context or a client that no constructor made.
func (c lowLevel) ready(ctx context.Context, op *transport.Operation) error {
	return transport.Ready(ctx, c.transport, op, constructors)
}

// head returns the CallInfo of an error about the operation.
func (c lowLevel) head(op *transport.Operation, resource string) errors.CallInfo {
	head := op.Head("")
	head.Resource, head.Account = resource, string(c.account)
	return head
}

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	return c.requestOf(op, transport.CallOf(options))
}

// write is request for an operation that has an idempotency key.
func (c lowLevel) write(op *transport.Operation, options []moneymovement.WriteOption) *transport.Request {
	return c.requestOf(op, transport.WriteOf(options))
}

// withKey sends an idempotency key with calls that cannot take one from users, such as the confirm of a payment.
func (c lowLevel) withKey(key moneymovement.Key) lowLevel {
	c.preset.Key, c.preset.KeySet = string(key), key != ""
	return c
}

func (c lowLevel) requestOf(op *transport.Operation, call transport.Call) *transport.Request {
	call.Class, call.Closes, call.Reserved, call.Queued =
		c.preset.Class, c.preset.Closes, c.preset.Reserved, c.preset.Queued
	if c.preset.KeySet {
		call.Key, call.KeySet = c.preset.Key, true
	}
	c.authorize(&call)
	r := transport.NewRequest(op, string(c.account), call)
	r.Check().Made(c.transport, constructors)
	if c.acting {
		r.Check().ClientID("X-Service-Account", string(c.account))
	}
	if c.check != nil {
		c.check(r.Check())
	}
	return r
}
