package platform

import (
	"errors"
	"math"
	"testing"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// FuzzPosition: a text is refused as invalid_cursor, or is the one cursor of a position of its own list and of no
// other. Each position comes back.
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
