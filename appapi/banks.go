package appapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Banks are the bank rails, and the accounts opened on them.
//
// Source: App API, Banks and quotes.
type Banks struct{ low lowLevel }

// List answers all rails.
func (s *Banks) List(ctx context.Context, options ...moneymovement.CallOption) ([]Bank, error) {
	list, err := transport.Of(s).low.ListBanks(ctx, options)
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// Activate opens accounts on the named rails, or on all that are available if none is named. Activating a rail again
// changes nothing. The description does not show the body, so that its one field is assumed.
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
