package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTablesAreWrittenInTheirOrder(t *testing.T) {
	out, err := generate([]byte(`
moneyIn:
  - {method: ach, currency: USD}
moneyOut:
  - {currency: BRL, methods: [pix, brl_local]}
  - {currency: USD, methods: [swift], international: true}
`))
	require.NoError(t, err)
	assert.Contains(t, string(out), `var moneyIn = [...]Coverage{
	{Method: "ach", Currency: "USD"},
}`)
	assert.Contains(t, string(out), `var moneyOut = [...]Coverage{
	{Method: "pix", Currency: "BRL"},
	{Method: "brl_local", Currency: "BRL"},
	{Method: "swift", Currency: "USD", International: true},
}`)
}

func TestAnEmptyCatalogueIsRefused(t *testing.T) {
	_, err := generate([]byte("moneyIn: []"))
	assert.Error(t, err)
}
