package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	source = `
families: {key: KeyAccount, local: LocalAccount, x-assumed: {meaning: not shown}}
methods:
  - {method: pix, family: key, needs: [pixKey, iban|accountNumber]}
  - {method: brl_local, family: local, needs: [branchNumber]}
  - {method: swift, family: local, needs: [bic]}
moneyIn:
  - {method: ach, currency: USD}
moneyOut:
  - {currency: BRL, methods: [pix, brl_local]}
  - {currency: USD, methods: [swift], international: true}
  - {currency: EUR, methods: [swift], international: true}
onChain: {codes: {base: 8453, arbitrum: 42161}}
`
	constants = `
const (
	BankMethodBRLLocal BankMethod = "brl_local"
	BankMethodPIX      BankMethod = "pix"
	BankMethodSWIFT    BankMethod = "swift"
	OtherMethodPIX     OtherMethod = "pix"
)
`
)

func TestTablesAreWrittenInTheirOrder(t *testing.T) {
	out, err := generate([]byte(source), []byte(constants))
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

func TestEachMethodHasAConstructor(t *testing.T) {
	out, err := generate([]byte(source), []byte(constants))
	require.NoError(t, err)
	assert.Contains(t, string(out), `
// PIX returns a destination for the bank method pix. An empty account.Currency means BRL.
// The method probably needs PIXKey, and IBAN or AccountNumber.
func PIX(account KeyAccount) ContactAccount {
	return paidBy(BankMethodPIX, "BRL", account.BankAccount())
}
`)
	assert.Contains(t, string(out), "\nfunc BRLLocal(account LocalAccount) ContactAccount {")
	assert.Contains(t, string(out), `the bank method swift. Set account.Currency: the method has more than one.
// The method probably needs BIC.
func SWIFT(account LocalAccount) ContactAccount {
	return paidBy(BankMethodSWIFT, "", account.BankAccount())
}
`)
}

func TestWhatIsIncompleteIsRefused(t *testing.T) {
	const money = "moneyIn: [{method: pix, currency: BRL}]\nmoneyOut: [{currency: BRL, methods: [pix]}]\n" +
		"families: {key: KeyAccount}\nonChain: {codes: {base: 8453}}\n"
	for text, why := range map[string]string{
		"moneyIn: []": "no moneyIn",
		"moneyIn: [{method: pix, currency: BRL}]\nmoneyOut: [{currency: BRL, methods: [pix]}]": "no onChain.codes",

		money + "methods: [{method: ach, family: key, needs: [a]}]":  "method ach has no constant",
		money + "methods: [{method: pix, family: none, needs: [a]}]": "method pix needs a family",
		money + "methods: [{method: pix, family: key}]":              "method pix needs a family",
	} {
		_, err := generate([]byte(text), []byte(constants))
		assert.ErrorContains(t, err, why, text)
	}
}
