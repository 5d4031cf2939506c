package refapi

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Products are what a merchant sells.
//
// Source: Merchant product.
type Products struct{ low lowLevel }

// List answers the merchant's products that are on sale, or all of them:
//
//	List(ctx, ListMerchantProductsParams{ActiveOnly: new(false)})
//
// Source: Reference endpoints under /api/v1 (active_only, by default true).
func (s *Products) List(
	ctx context.Context, params ListMerchantProductsParams, options ...moneymovement.CallOption,
) ([]MerchantProduct, error) {
	products, err := transport.Of(s).low.ListMerchantProducts(ctx, &params, options)
	if err != nil {
		return nil, err
	}
	return *products, nil
}
