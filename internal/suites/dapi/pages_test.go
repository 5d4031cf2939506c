package dapi_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// Rule: coverage.chains
func TestChainsAreListed(t *testing.T) {
	w := newWorld(t)
	codes := map[dapi.ChainCode]dapi.ChainID{}
	for chain, err := range w.integrator().Self().Chains.All(t.Context(), dapi.ListChainsParams{Limit: 2}) {
		require.NoError(t, err)
		require.NotEmpty(t, chain.Tokens)
		codes[chain.Code] = chain.ChainID
	}
	assert.Equal(t, dapi.ChainID(8453), codes["base"])
	assert.Greater(t, len(codes), 2)
	assert.Greater(t, w.Sent("ListChains"), 1)
}

// The host's ledger is walked as its pages come, and filtered as it was asked.
// Rule: page.next-cursor, page.cursor-of-its-query, ledger.whole-account
func TestPagesOfTheHostsLedger(t *testing.T) {
	w := newWorld(t)
	account := w.integrator().Self()
	for i := range 5 {
		w.Credit(account.Sandbox, fmt.Sprint(i+1), dapi.USDC)
		w.Host.Advance(time.Minute)
	}
	var all []dapi.Transaction
	for transaction, err := range account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 2}) {
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint(5-len(all)), transaction.Amount.String())
		all = append(all, transaction)
	}
	assert.Len(t, all, 5)
	assert.Equal(t, 3, w.Sent("ListTransactions"))
	list := func(params dapi.ListTransactionsParams) (*dapi.TransactionPage, error) {
		return account.Transactions.List(t.Context(), params)
	}
	payouts, err := list(dapi.ListTransactionsParams{Type: dapi.TransactionTypePayout})
	require.NoError(t, err)
	assert.Empty(t, payouts.Items)
	since, err := list(dapi.ListTransactionsParams{Since: all[1].CreatedAt, Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, all[:1], since.Items)
	_, err = list(dapi.ListTransactionsParams{Limit: 1, Cursor: since.NextCursor, Type: dapi.TransactionTypePayout})
	as[*errors.InvalidCursor](t, err)
}
