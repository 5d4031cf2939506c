package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Products lists what a merchant sells.
type Products struct{ low lowLevel }

// List returns the merchant's products that are on sale. To get all products:
//
//	List(ctx, ListMerchantProductsParams{ActiveOnly: new(false)})
//
// Prices are exact decimals in the product's Currency. An amount is nil if the service does not return it.
func (s *Products) List(
	ctx context.Context, params ListMerchantProductsParams, options ...moneymovement.CallOption,
) ([]MerchantProduct, error) {
	products, err := transport.Of(s).low.ListMerchantProducts(ctx, &params, options)
	if err != nil {
		return nil, err
	}
	return *products, nil
}
