package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const source = `
methods:
  - {method: pix, needs: [pixKey, iban|accountNumber]}
  - {method: brl_local, needs: [branchNumber]}
  - {method: swift, needs: [bic]}
moneyIn:
  - {method: ach, currency: USD}
moneyOut:
  - {currency: BRL, methods: [pix, brl_local]}
  - {currency: USD, methods: [swift], international: true}
  - {currency: EUR, methods: [swift], international: true}
onChain: {codes: {base: 8453, arbitrum: 42161}}
`

func TestTablesKeepTheOrderOfTheCatalogue(t *testing.T) {
	out, err := generate([]byte(source))
	require.NoError(t, err)
	assert.Contains(t, string(out), `var moneyIn = [...]Coverage{
	{Method: "ach", Currency: "USD"},
}`)
	assert.Contains(t, string(out), `var moneyOut = [...]Coverage{
	{Method: "pix", Currency: "BRL"},
	{Method: "brl_local", Currency: "BRL"},
	{Method: "swift", Currency: "USD", International: true},
	{Method: "swift", Currency: "EUR", International: true},
}`)
	assert.Contains(t, string(out), `var chainIDs = map[ChainCode]ChainID{
	"arbitrum": 42161,
	"base":     8453,
}`)
}

func TestEachMethodHasItsCurrencyAndNeeds(t *testing.T) {
	out, err := generate([]byte(source))
	require.NoError(t, err)
	assert.Contains(t, string(out), `var bankMethods = map[BankMethod]bankMethod{
	"pix":       {currency: "BRL", needs: []string{"pixKey", "iban|accountNumber"}},
	"brl_local": {currency: "BRL", needs: []string{"branchNumber"}},
	"swift":     {currency: "", needs: []string{"bic"}},
}`)
}

func TestIncompleteCatalogueIsRefused(t *testing.T) {
	const money = "moneyIn: [{method: pix, currency: BRL}]\nmoneyOut: [{currency: BRL, methods: [pix]}]\n" +
		"onChain: {codes: {base: 8453}}\n"
	for text, why := range map[string]string{
		"moneyIn: []": "no moneyIn",
		"moneyIn: [{method: pix, currency: BRL}]\nmoneyOut: [{currency: BRL, methods: [pix]}]": "no onChain.codes",

		money + "methods: [{method: ach, needs: [a]}]": "method ach lacks a currency",
		money + "methods: [{method: pix}]":             "method pix lacks a currency, or what it needs",
	} {
		_, err := generate([]byte(text))
		assert.ErrorContains(t, err, why, text)
	}
}
