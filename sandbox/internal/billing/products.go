package billing

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/commonwire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

// Products serves the operation on products. It never changes, and is safe for concurrent use.
type Products struct {
	list []referencewire.MerchantProduct
}

// NewProducts returns the initial products, created at the given time.
func NewProducts(createdAt time.Time) *Products {
	price := func(text string) *decimal.Decimal {
		value := decimal.RequireFromString(text)
		return &value
	}
	once := 1
	p := &Products{list: []referencewire.MerchantProduct{
		{
			Name: "Day pass", Description: "Entry for one day.", Currency: "USD", Active: true,
			Price: price("12.50"), MaxQuantity: &once, Metadata: commonwire.OpenObject{"sku": "DAY-1"},
			URL: "https://shop.example.com/day-pass", WebhookURL: "https://shop.example.com/webhook",
			SuccessURL: "https://shop.example.com/thanks", CancelURL: "https://shop.example.com/cart",
			Images: []string{"https://shop.example.com/day-pass.png"},
		},
		{
			Name: "Gift card", Description: "For an amount of the buyer's choice.", Currency: "EUR", Active: true,
			MinAmount: price("5.00"), MaxAmount: price("250.00"), PresetAmount: price("25.00"),
		},
		{Name: "Early bird pass", Currency: "USD", Price: price("9.00"), SoldCount: 40},
	}}
	for i := range p.list {
		product := &p.list[i]
		product.ID = uuid.NewHash(sha256.New(), uuid.NameSpaceURL, []byte("product "+product.Name), 8).String()
		product.CreatedAt, product.UpdatedAt = createdAt, createdAt
	}
	return p
}

// List returns the products, or only those on sale.
func (p *Products) List(activeOnly bool) []referencewire.MerchantProduct {
	listed := []referencewire.MerchantProduct{}
	for _, product := range p.list {
		if product.Active || !activeOnly {
			listed = append(listed, product)
		}
	}
	return listed
}

// ListMerchantProducts implements the operation of that name. Without active_only it lists products on sale.
func (p *Products) ListMerchantProducts(
	_ context.Context, params referencewire.ListMerchantProductsParams,
) (wire.Answer, error) {
	activeOnly := params.ActiveOnly == nil || *params.ActiveOnly
	return wire.OK(p.List(activeOnly)), nil
}
