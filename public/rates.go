package public

import (
	"context"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Rates are exchange rates against USD.
//
// Source: FX rate.
type Rates struct{ low lowLevel }

// Get answers the rates of a currency, named by its code, priced against USD. Rates are exact decimals; one that the
// service does not give is zero.
func (s *Rates) Get(ctx context.Context, currency string, options ...moneymovement.CallOption) (*FXRate, error) {
	return transport.Of(s).low.GetRate(ctx, currency, options)
}
