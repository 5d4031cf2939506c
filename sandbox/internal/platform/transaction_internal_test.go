package platform

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// The history index finds the same transactions as a full scan, after any additions and deletions.
func TestHistoryIndexEqualsFullScan(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	kinds := []platformwire.TransactionType{"deposit", "payout", "refund"}
	rapid.Check(t, func(t *rapid.T) {
		var h history
		var all []*transaction
		for range rapid.IntRange(0, 60).Draw(t, "changes") {
			if at := rapid.IntRange(-1, len(all)-1).Draw(t, "forgotten"); at >= 0 && !all[at].isForgotten() {
				h.drop(all[at])
			}
			late := time.Duration(rapid.IntRange(0, 30).Draw(t, "late")) * time.Second
			added := &transaction{Sequence: 2 * len(all), Transaction: platformwire.Transaction{
				ID: "tx_1", Type: rapid.SampledFrom(kinds).Draw(t, "type"),
				CreatedAt: start.Add(time.Duration(len(all))*time.Second - late),
			}}
			h.add(added)
			all = append(all, added)
		}
		for _, kind := range append(kinds, "") {
			before := rapid.IntRange(-1, 2*len(all)+1).Draw(t, "before")
			want := []*transaction{}
			for _, entry := range all {
				require.LessOrEqual(t, entry.CreatedAt.UnixMilli(), entry.latest)
				if !entry.isForgotten() && entry.Sequence < before && (kind == "" || entry.Type == kind) {
					want = append(want, entry)
				}
			}
			got := append([]*transaction{}, h.of(kind).before(before)...)
			require.True(t, slices.IsSortedFunc(got, func(a, b *transaction) int { return int(a.latest - b.latest) }))
			require.Equal(t, want, slices.DeleteFunc(got, (*transaction).isForgotten))
		}
	})
}

// The largest time up to an entry never decreases, also if the latest entry is deleted. Otherwise a search would depend
// on deleted entries that are still in the list.
func TestHistoryIsOrderedByTime(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var h history
	add := func(kind platformwire.TransactionType, seconds int) *transaction {
		added := &transaction{Sequence: len(h.all.list), Transaction: platformwire.Transaction{
			ID: "tx_1", Type: kind, CreatedAt: start.Add(time.Duration(seconds) * time.Second),
		}}
		h.add(added)
		return added
	}
	add("deposit", 0)
	add("deposit", 1)
	forgotten := []*transaction{add("deposit", 10), add("payout", 2), add("payout", 3), add("payout", 4)}
	for _, entry := range forgotten {
		h.drop(entry)
	}
	last := add("deposit", 5)
	require.Len(t, h.all.list, 3)
	require.Len(t, h.of("deposit").list, 4)
	require.GreaterOrEqual(t, last.latest, forgotten[0].latest)
}

// FuzzPosition: a text is refused as invalid_cursor, or it is the only cursor of one position in one list. Each
// position survives the round trip.
func FuzzPosition(f *testing.F) {
	list := queryOf(wire.Caller{Owner: "acc_1"}, "ListTransactions", "payout")
	others := []query{
		queryOf(wire.Caller{Owner: "acc_2"}, "ListTransactions", "payout"),
		queryOf(wire.Caller{Owner: "acc_1", Account: "cl_1"}, "ListTransactions", "payout"),
		queryOf(wire.Caller{Owner: "acc_1"}, "ListPayins", "payout"),
		queryOf(wire.Caller{Owner: "acc_1"}, "ListTransactions", "payin"),
	}
	for _, text := range []string{"", "AAAA", "=", list.cursor(0), list.cursor(7), list.cursor(-1),
		list.cursor(math.MaxInt), others[0].cursor(7), list.cursor(7) + "\n"} {
		f.Add(text, 7)
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		if back, err := list.position(list.cursor(at), -1); at >= 0 && (err != nil || back != at) {
			t.Fatalf("%d came back as %d: %v", at, back, err)
		} else if at < 0 && !errors.Is(err, wire.InvalidCursor()) {
			t.Fatalf("%d came back as %d: %v", at, back, err)
		}
		position, err := list.position(text, -1)
		switch {
		case text == "":
			if position != -1 || err != nil {
				t.Fatalf("the start is %d: %v", position, err)
			}
			return
		case err != nil:
			if position != 0 || !errors.Is(err, wire.InvalidCursor()) {
				t.Fatalf("%d beside %v", position, err)
			}
			return
		case position < 0 || list.cursor(position) != text:
			t.Fatalf("%q is position %d", text, position)
		}
		for _, other := range others {
			if _, err := other.position(text, -1); err == nil {
				t.Fatalf("%q is a cursor of two lists", text)
			}
		}
	})
}
