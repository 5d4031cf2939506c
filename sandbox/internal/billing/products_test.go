package billing_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/billing"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/referencewire"
)

func TestProductsOnSaleAreListedUnlessAllAreAskedFor(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	products := billing.NewProducts(now)
	yes, no := true, false
	list := func(activeOnly *bool) []referencewire.MerchantProduct {
		answer, err := products.ListMerchantProducts(t.Context(),
			referencewire.ListMerchantProductsParams{ActiveOnly: activeOnly})
		require.NoError(t, err)
		return answer.Body.([]referencewire.MerchantProduct)
	}
	assert.Equal(t, list(&yes), list(nil))
	assert.Greater(t, len(list(&no)), len(list(nil)))

	ids := map[string]bool{}
	for _, product := range list(&no) {
		ids[product.ID] = true
		assert.Equal(t, now, product.CreatedAt)
	}
	assert.Len(t, ids, len(list(&no)))
	for _, product := range list(nil) {
		assert.True(t, product.Active, product.Name)
	}
}
