package dapi_test

import (
	"context"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

func TestAFakeReadsTheOptionsOfAPayment(t *testing.T) {
	assert.Equal(t, dapi.PayOptions{}, dapi.PayOptionsOf())
	assert.Equal(t, dapi.PayOptions{}, dapi.PayOptionsOf(nil))

	at, one := time.Now(), decimal.NewFromInt(1)
	asked := errors.New("asked")
	quote := dapi.Quote{DestinationAmount: one}
	read := dapi.PayOptionsOf(dapi.FirstUse(), dapi.FirstUsedAt(at), dapi.MaxFee(one),
		dapi.MinDestinationAmount(one, "EUR"), dapi.NoWorseThan(quote),
		dapi.QuoteTolerance(decimal.RequireFromString("0.5")),
		dapi.CaptureLastResponse(new(moneymovement.Response)),
		dapi.BeforeSigning(func(context.Context, *dapi.Payout) error { return asked }))
	require.NotNil(t, read.BeforeSigning)
	assert.Equal(t, asked, read.BeforeSigning(t.Context(), nil))
	read.BeforeSigning = nil
	assert.Equal(t, dapi.PayOptions{
		FirstUse: true, FirstUsedAt: at, MaxFee: &one, MinDestinationAmount: &one, DestinationCurrency: "EUR",
		NoWorseThan: &quote, QuoteTolerance: decimal.RequireFromString("0.5"),
	}, read)
}
