package app

import (
	"context"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/publicwire"
)

// Public answers the public utilities on rates.
type Public struct{ App *App }

// GetRate prices a currency against the US dollar. Source: Public utilities; FX rate.
func (p Public) GetRate(_ context.Context, currency string) (serve.Answer, error) {
	rate, err := p.App.Platform.FXRate(currency)
	return serve.OK(publicwire.FXRate{USDRate: rate.USD, BankTransfer: rate.BankTransfer, Card: rate.Card}), err
}
