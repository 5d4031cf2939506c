package dapi

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// lowLevel sends the generated operations, for one account.
type lowLevel struct {
	transport *transport.Client
	account   ClientID
	acting    bool // for a client; false for the credential's own account
}

// clientRule is what a client's id has to look like before it travels as X-Service-Account.
var clientRule = transport.Rule{Required: true, Pattern: `^cl_[A-Za-z0-9._:\-]{1,216}$`, Prefix: "cl_"}

// head is that of an error which an answer of the operation leads to.
func (c lowLevel) head(op *transport.Operation, resource string) errors.Head {
	head := op.Head("")
	head.Resource, head.Account = resource, string(c.account)
	return head
}

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	r := transport.NewRequest(op, string(c.account), transport.CallOf(options))
	if c.acting {
		r.Check().Text("X-Service-Account", string(c.account), clientRule)
	}
	return r
}
