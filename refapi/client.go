package refapi

import (
	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// lowLevel sends the generated operations.
type lowLevel struct{ transport *transport.Client }

func (c lowLevel) request(op *transport.Operation, options []moneymovement.CallOption) *transport.Request {
	return transport.NewRequest(op, "", transport.CallOf(options))
}
