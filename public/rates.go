package public

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Rates returns exchange rates against USD.
type Rates struct{ low lowLevel }

// Get returns the rates of a currency, priced against USD. currency is a code such as "EUR". Rates are exact decimals.
// A rate that the service does not return is zero: check it with IsZero before you divide by it.
func (s *Rates) Get(ctx context.Context, currency string, options ...moneymovement.CallOption) (*FXRate, error) {
	return transport.Of(s).low.GetRate(ctx, currency, options)
}
