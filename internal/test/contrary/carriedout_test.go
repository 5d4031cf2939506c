package contrary_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// What moves the money of a flow, and is refused though it was carried out.
var moves = []struct {
	flow      string
	operation string
}{
	{"pay", "dapi ConfirmPayout"},
	{"escrow", "dapi ConfirmEscrowAction"},
	{"transfer", "appapi CreateTransfer"},
}

// We conclude from most refusals that no money moved. A service that refuses what it has carried out makes us wrong,
// for one call: the same call made again moves no more money, and says that it moved.
func TestARefusalThatMovedMoney(t *testing.T) {
	d := describe(t)
	var slugs []errors.Code
	for _, mark := range derive(t) {
		for _, change := range behaviours(mark) {
			if change.Kind == contrary.CarriedOut {
				slugs = append(slugs, slugsOf(mark)...)
			}
		}
	}
	slices.Sort(slugs)
	for _, slug := range slices.Compact(slugs) {
		if slug.Status() == 0 {
			continue // never raised
		}
		for _, move := range moves {
			t.Run(string(slug)+"/"+move.flow, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { refuseCarriedOut(t, d, slug, move.flow, move.operation) })
			})
		}
	}
}

func refuseCarriedOut(t *testing.T, d *wire.Description, slug errors.Code, flowName, operation string) {
	w := newWorld(t, d)
	w.other, w.lenient = true, true
	refused := 0
	w.contrary.seen = func(o *wire.Operation, _ []byte, a *answered) {
		if o.Name() == operation && a.status < 300 && a.header.Get("Idempotency-Replayed") == "" {
			*a = *refusal(slug.Status(), string(slug), "It says so, and has done it.", nil)
			refused++
		}
	}
	i := slices.IndexFunc(flows, func(f flow) bool { return f.name == flowName })
	flows[i].run(w)
	require.Positive(t, refused)
}
