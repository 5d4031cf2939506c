package dapi_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
)

// ledgerOf is an account whose ledger has the pages that a function returns for their cursors. It keeps which were
// asked for.
func ledgerOf(t *testing.T, page func(cursor string) string) (account *dapi.Account, asked *[]string) {
	t.Helper()
	asked = new([]string)
	return sessionBy(t, testkit.Connection(func(r *http.Request) (*http.Response, error) {
		cursor := r.URL.Query().Get("cursor")
		*asked = append(*asked, cursor)
		assert.Equal(t, "2", r.URL.Query().Get("limit"))
		if text := page(cursor); text != "" {
			return testkit.Page(http.StatusOK, "application/json", text)(r)
		}
		return testkit.Page(http.StatusForbidden, "application/json", `{"error":{"code":"forbidden"}}`)(r)
	})).Self(), asked
}

// inPages are five entries, the newest first.
func inPages(cursor string) string {
	entry := func(id string) string { return `{"id":"tx_` + id + `","createdAt":"2026-01-02T03:04:05Z"}` }
	return map[string]string{
		"":  `{"items":[` + entry("5") + `,` + entry("4") + `],"nextCursor":"b"}`,
		"b": `{"items":[` + entry("3") + `,` + entry("2") + `],"nextCursor":"c"}`,
		"c": `{"items":[` + entry("1") + `]}`,
	}[cursor]
}

// Rule: page.next-cursor, ledger.whole-account
func TestAllWalksThePages(t *testing.T) {
	for name, c := range map[string]struct {
		page   func(cursor string) string
		cursor string
		most   int // entries that are taken
		found  []dapi.TransactionID
		asked  []string
	}{
		"to the last": {page: inPages, found: []dapi.TransactionID{"tx_5", "tx_4", "tx_3", "tx_2", "tx_1"},
			asked: []string{"", "b", "c"}},
		"from a cursor": {page: inPages, cursor: "b", found: []dapi.TransactionID{"tx_3", "tx_2", "tx_1"},
			asked: []string{"b", "c"}},
		"no further than they are ranged": {page: inPages, most: 3, found: []dapi.TransactionID{"tx_5", "tx_4", "tx_3"},
			asked: []string{"", "b"}},
		// Only a page without a next cursor is the last one, whatever can be read of it.
		"past those that cannot be read": {page: func(cursor string) string {
			return map[string]string{
				"": `{"items":[null,"tx"],"nextCursor":"b"}`, "b": `{"items":[7],"nextCursor":"c"}`,
				"c": `{"items":[],"nextCursor":"d"}`, "d": `{"items":[` + txJSON + `,null]}`,
			}[cursor]
		}, found: []dapi.TransactionID{"tx_1"}, asked: []string{"", "b", "c", "d"}},
	} {
		t.Run(name, func(t *testing.T) {
			account, asked := ledgerOf(t, c.page)
			all := account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 2,
				Cursor: c.cursor})
			for range 2 { // the same list can be walked again
				var found []dapi.TransactionID
				for transaction, err := range all {
					require.NoError(t, err)
					if found = append(found, transaction.ID); len(found) == c.most {
						break
					}
				}
				assert.Equal(t, c.found, found)
				assert.Equal(t, c.asked, *asked)
				*asked = nil
			}
		})
	}
}

func TestAllEndsAfterAnError(t *testing.T) {
	account, _ := ledgerOf(t, func(cursor string) string {
		if cursor == "" {
			return inPages(cursor)
		}
		return ""
	})
	var failures []error
	seen := 0
	for transaction, err := range account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 2}) {
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

// A circle of any length is noticed before a page comes twice.
func TestAllRefusesAListThatGoesInACircle(t *testing.T) {
	for _, length := range []int{1, 2, 7} {
		account, asked := ledgerOf(t, func(cursor string) string {
			number, _ := strconv.Atoi(cursor)
			return fmt.Sprintf(`{"items":[],"nextCursor":"%d"}`, number%length+1)
		})
		var last error
		for _, err := range account.Transactions.All(t.Context(), dapi.ListTransactionsParams{Limit: 2}) {
			last = err
		}
		stuck := as[*errors.UnexpectedResponse](t, last)
		assert.Equal(t, "ListTransactions", stuck.Operation)
		require.ErrorContains(t, stuck.Err, "does not advance")
		want := []string{""} // the first page has no cursor
		for number := range length {
			want = append(want, strconv.Itoa(number+1))
		}
		assert.Equal(t, want, *asked)
	}
}
