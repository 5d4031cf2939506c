package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Banks lists the bank rails, and opens bank accounts on them.
type Banks struct{ low lowLevel }

// List returns all rails. Requisites are what a payer needs to send money; a rail without a bank account has none.
func (s *Banks) List(ctx context.Context, options ...moneymovement.CallOption) ([]Bank, error) {
	list, err := transport.Of(s).low.ListBanks(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Activate opens bank accounts on the rails that methods names, such as "sepa", and returns the rails. Without methods
// it opens one on every available rail. Activating a rail again changes nothing.
//
// The description does not show the body. The SDK assumes one field, "methods".
func (s *Banks) Activate(ctx context.Context, methods []string, options ...moneymovement.CallOption) ([]Bank, error) {
	low := transport.Of(s).low
	list, err := low.ActivateBanks(ctx, &bankActivation{methods}, options).
		Or(func(same transport.SameCredential) (*bankList, error) {
			return low.ListBanks(ctx, []moneymovement.CallOption{same})
		})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
