package platform_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// depositMany makes n credits of 1, 2, 3 ... a second apart.
func (b *bench) depositMany(account string, n int) {
	for i := range n {
		_, err := b.deposit(account, fmt.Sprintf("%s-%d", account, i), fmt.Sprint(i+1), platformwire.AssetUSDC)
		require.NoError(b, err)
		b.clock.Advance(time.Second)
	}
}

func TestTransactionPagesAreNewestFirst(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.depositMany(wire.Self, 60)
	byDefault, err := b.transactions(wire.Self, platformwire.ListTransactionsParams{})
	require.NoError(t, err)
	assert.Len(t, byDefault.Items, 50)

	for _, size := range []int{1, 7, 20, 60, 100} {
		var seen []string
		params := platformwire.ListTransactionsParams{Limit: size}
		for {
			page, err := b.transactions(wire.Self, params)
			require.NoError(t, err)
			require.NotEmpty(t, page.Items)
			for _, item := range page.Items {
				seen = append(seen, item.Amount.String())
			}
			if page.NextCursor == "" {
				break
			}
			require.Len(t, page.Items, size)
			assert.LessOrEqual(t, len(page.NextCursor), 512)
			params.Cursor = page.NextCursor
		}
		require.Len(t, seen, 60)
		for i, amount := range seen {
			require.Equal(t, fmt.Sprint(60-i), amount)
		}
	}
}

func TestCursorIsStableWhenEntriesAreAdded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.depositMany(wire.Self, 4)
	first, err := b.transactions(wire.Self, platformwire.ListTransactionsParams{Limit: 2})
	require.NoError(t, err)
	_, err = b.deposit(wire.Self, "late", "50", platformwire.AssetUSDC)
	require.NoError(t, err)
	second, err := b.transactions(wire.Self, platformwire.ListTransactionsParams{Limit: 2, Cursor: first.NextCursor})
	require.NoError(t, err)
	assert.Equal(t, "2", second.Items[0].Amount.String())
	assert.Equal(t, "1", second.Items[1].Amount.String())
	assert.Empty(t, second.NextCursor)
}

func TestCursorIsBoundToItsQuery(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.readyClient("acme@example.com")
	b.depositMany(wire.Self, 3)
	b.depositMany(client, 3)
	page, err := b.transactions(wire.Self, platformwire.ListTransactionsParams{Limit: 1})
	require.NoError(t, err)
	cursor := page.NextCursor
	require.NotEmpty(t, cursor)

	_, err = b.transactions(wire.Self, platformwire.ListTransactionsParams{Limit: 2, Cursor: cursor})
	assert.NoError(t, err, "the page size may change")
	for name, tc := range map[string]struct {
		account string
		params  platformwire.ListTransactionsParams
	}{
		"another account": {client, platformwire.ListTransactionsParams{Cursor: cursor}},
		"another type": {wire.Self,
			platformwire.ListTransactionsParams{Cursor: cursor, Type: platformwire.TransactionTypeDeposit}},
		"another time": {wire.Self, platformwire.ListTransactionsParams{Cursor: cursor, Since: b.clock.Now()}},
		"garbage":      {wire.Self, platformwire.ListTransactionsParams{Cursor: "%%%"}},
		"cut":          {wire.Self, platformwire.ListTransactionsParams{Cursor: cursor[:len(cursor)-4]}},
		"no position":  {wire.Self, platformwire.ListTransactionsParams{Cursor: cursor[:20]}},
	} {
		_, err := b.transactions(tc.account, tc.params)
		assert.ErrorIs(t, err, wire.InvalidCursor(), name)
	}
	_, err = b.ListChains(b.as(wire.Self, ""), platformwire.ListChainsParams{Cursor: cursor})
	assert.ErrorIs(t, err, wire.InvalidCursor(), "another list")
}

func TestTransactionsAreFiltered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	booked := b.booked(client, "", order(b.contact(client, achContact).ID, "20"))
	b.clock.Advance(time.Minute)
	_, err := b.confirm(client, booked)
	require.NoError(t, err)
	funded := b.clock.Now()

	all, err := b.transactions(client, platformwire.ListTransactionsParams{})
	require.NoError(t, err)
	require.Len(t, all.Items, 2)
	assert.Equal(t, platformwire.TransactionStatusPending, all.Items[0].Status)
	for name, params := range map[string]platformwire.ListTransactionsParams{
		"type": {Type: platformwire.TransactionTypePayout}, "since": {Since: funded},
	} {
		page, err := b.transactions(client, params)
		require.NoError(t, err)
		require.Len(t, page.Items, 1, name)
		assert.Equal(t, booked.ID, page.Items[0].PayoutID)
	}
	none, err := b.transactions(wire.Self, platformwire.ListTransactionsParams{})
	require.NoError(t, err)
	assert.Empty(t, none.Items, "the integrator's own ledger is another one")

	b.clock.Advance(time.Minute)
	settled, err := b.transactions(client, platformwire.ListTransactionsParams{Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, platformwire.TransactionStatusCompleted, settled.Items[0].Status)
}

func TestListChainsPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	list := func(params platformwire.ListChainsParams) platformwire.ChainPage {
		response, err := b.ListChains(b.as(wire.Self, ""), params)
		require.NoError(t, err)
		return read[platformwire.ChainPage](t, render(t, response))
	}
	all := list(platformwire.ListChainsParams{})
	assert.Empty(t, all.NextCursor)
	assert.Equal(t, "base", all.Items[0].Code)
	assert.EqualValues(t, 8453, all.Items[0].ChainID)
	var paged []platformwire.Chain
	for params := (platformwire.ListChainsParams{Limit: 2}); ; {
		page := list(params)
		paged = append(paged, page.Items...)
		if params.Cursor = page.NextCursor; params.Cursor == "" {
			break
		}
	}
	assert.Equal(t, all.Items, paged)
	for _, chain := range all.Items {
		for _, token := range chain.Tokens {
			assert.Regexp(t, `^0x[0-9a-fA-F]{40}$`, token.Address)
			assert.Positive(t, token.Decimals)
		}
	}
}
