package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/model"
)

// Contracts are agreements that invoices are issued under.
//
// Source: Contract (reference endpoints).
type Contracts struct{ low lowLevel }

// Get reads a contract. id is a UUID.
func (s *Contracts) Get(ctx context.Context, id string, options ...moneymovement.CallOption) (*model.Contract, error) {
	return transport.Of(s).low.GetContract(ctx, id, options)
}
