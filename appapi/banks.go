package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Banks lists the bank rails, and opens bank accounts on them.
type Banks struct{ low lowLevel }

// List returns all rails. Requisites are the account details that a payer needs to send money. They are empty until a
// bank account is open on the rail.
func (s *Banks) List(ctx context.Context, options ...moneymovement.CallOption) ([]Bank, error) {
	list, err := transport.Of(s).low.ListBanks(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Activate opens a bank account on each rail in methods, such as "sepa", and returns the rails. If methods is empty, it
// opens a bank account on every available rail. Activating a rail again changes nothing.
//
// The description does not show the body. The SDK assumes one field, "methods".
func (s *Banks) Activate(ctx context.Context, methods []string, options ...moneymovement.CallOption) ([]Bank, error) {
	low := transport.Of(s).low
	list, err := low.ActivateBanks(ctx, &bankActivation{methods}, options).
		Or(func(auth transport.Authorizer) (*bankList, error) {
			return low.with(auth).ListBanks(ctx, nil)
		})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
