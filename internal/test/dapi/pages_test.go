package dapi_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

const txJSON = `{"id":"tx_1","type":"deposit","direction":"in","amount":"10","currency":"USDC","status":"completed",` +
	`"createdAt":"2026-01-02T03:04:05Z"}`

// newLedger is an account with five deposits of 1 to 5 USDC, listed two a page, newest first.
func newLedger(t *testing.T) (*world, *dapi.Account, dapi.ListTransactionsParams) {
	t.Helper()
	w := newWorld(t)
	account := w.integrator().Self()
	for i := range 5 {
		_, err := account.Sandbox.Deposit(t.Context(),
			dapi.DepositCreate{Amount: amount(fmt.Sprint(i + 1)), Currency: dapi.USDC})
		require.NoError(t, err)
		w.Host.Advance(time.Minute)
	}
	return w, account, dapi.ListTransactionsParams{Limit: 2}
}

// Rule: page.next-cursor, ledger.whole-account
func TestAllWalksEveryPageAndAgain(t *testing.T) {
	w, account, params := newLedger(t)
	all := account.Transactions.All(t.Context(), params)
	for range 2 {
		var amounts []string
		for transaction, err := range all {
			require.NoError(t, err)
			amounts = append(amounts, transaction.Amount.String())
		}
		assert.Equal(t, []string{"5", "4", "3", "2", "1"}, amounts)
	}
	assert.Equal(t, 2*3, w.Sent("ListTransactions"))
}

// Only a page without a next cursor is the last one, whatever can be read of it.
func TestAllGoesOnAfterAPageThatCannotBeRead(t *testing.T) {
	pages := map[string]string{
		"": `{"items":[null,"tx"],"nextCursor":"b"}`, "b": `{"items":[7],"nextCursor":"c"}`,
		"c": `{"items":[],"nextCursor":"d"}`,
		"d": `{"items":[` + txJSON + `,null]}`,
	}
	w, account, params := newLedger(t)
	w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
		inprocess.SetBody(answer, []byte(pages[r.URL.Query().Get("cursor")]))
		answer.StatusCode = http.StatusOK
	})
	found := 0
	for _, err := range account.Transactions.All(t.Context(), params) {
		require.NoError(t, err)
		found++
	}
	assert.Equal(t, 1, found)
	assert.Equal(t, 4, w.Sent("ListTransactions"))
}

func TestAllStartsAtACursor(t *testing.T) {
	_, account, params := newLedger(t)
	first, err := account.Transactions.List(t.Context(), params)
	require.NoError(t, err)
	params.Cursor = first.NextCursor
	var amounts []string
	for transaction, err := range account.Transactions.All(t.Context(), params) {
		require.NoError(t, err)
		amounts = append(amounts, transaction.Amount.String())
	}
	assert.Equal(t, []string{"3", "2", "1"}, amounts)
}

func TestAllReadsNoFurtherThanItIsRanged(t *testing.T) {
	w, account, params := newLedger(t)
	seen := 0
	for _, err := range account.Transactions.All(t.Context(), params) {
		require.NoError(t, err)
		if seen++; seen == 3 {
			break
		}
	}
	assert.Equal(t, 2, w.Sent("ListTransactions"))
}

func TestAllEndsAfterAnError(t *testing.T) {
	w, account, params := newLedger(t)
	w.Host.Arm("GET", "/transactions", sandbox.Delay(1)) // the first page passes
	w.Host.Arm("GET", "/transactions", sandbox.Respond(http.StatusForbidden, "forbidden"))
	var failures []error
	seen := 0
	for transaction, err := range account.Transactions.All(t.Context(), params) {
		if err != nil {
			failures = append(failures, err)
			assert.Equal(t, dapi.Transaction{}, transaction)
			continue
		}
		seen++
	}
	assert.Equal(t, 2, seen)
	require.Len(t, failures, 1, "a consumer that goes on after an error is not fed errors for ever")
	as[*errors.Forbidden](t, failures[0])
}

func TestAllRefusesAListThatDoesNotAdvance(t *testing.T) {
	w, account, params := newLedger(t)
	w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
		if r.URL.Query().Has("cursor") {
			inprocess.SetBody(answer, []byte(`{"items":[],"nextCursor":"`+r.URL.Query().Get("cursor")+`"}`))
		}
	})
	var last error
	for _, err := range account.Transactions.All(t.Context(), params) {
		last = err
	}
	stuck := as[*errors.UnexpectedResponse](t, last)
	assert.Equal(t, "ListTransactions", stuck.Operation)
	assert.ErrorContains(t, stuck.Err, "does not advance")
	assert.Equal(t, 2, w.Sent("ListTransactions"))
}

// A circle of any length is noticed before a page comes twice.
func TestAllRefusesAListThatGoesInACircle(t *testing.T) {
	for _, length := range []int{1, 2, 7} {
		w, account, params := newLedger(t)
		asked := map[string]int{}
		w.Wire.OnAnswer(func(r *http.Request, answer *http.Response) {
			cursor := r.URL.Query().Get("cursor")
			asked[cursor]++
			number, _ := strconv.Atoi(cursor)
			inprocess.SetBody(answer, fmt.Appendf(nil, `{"items":[],"nextCursor":"%d"}`, number%length+1))
			answer.StatusCode = http.StatusOK
		})
		var last error
		for _, err := range account.Transactions.All(t.Context(), params) {
			last = err
		}
		stuck := as[*errors.UnexpectedResponse](t, last)
		assert.ErrorContains(t, stuck.Err, "does not advance")
		assert.Len(t, asked, length+1, "the first page has no cursor")
		for cursor, times := range asked {
			assert.Equal(t, 1, times, cursor)
		}
	}
}

// Rule: page.cursor-of-its-query
func TestCursorOfAnotherQuery(t *testing.T) {
	_, account, params := newLedger(t)
	first, err := account.Transactions.List(t.Context(), params)
	require.NoError(t, err)
	_, err = account.Transactions.List(t.Context(), dapi.ListTransactionsParams{
		Limit: 2, Cursor: first.NextCursor, Type: dapi.TransactionTypePayout,
	})
	as[*errors.InvalidCursor](t, err)
}

func TestFilters(t *testing.T) {
	_, account, _ := newLedger(t)
	payouts, err := account.Transactions.List(t.Context(),
		dapi.ListTransactionsParams{Type: dapi.TransactionTypePayout})
	require.NoError(t, err)
	assert.Empty(t, payouts.Items)

	all, err := account.Transactions.List(t.Context(), dapi.ListTransactionsParams{})
	require.NoError(t, err)
	require.Len(t, all.Items, 5)
	since, err := account.Transactions.List(t.Context(), dapi.ListTransactionsParams{Since: all.Items[1].CreatedAt})
	require.NoError(t, err)
	assert.Equal(t, all.Items[:2], since.Items)
}

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
