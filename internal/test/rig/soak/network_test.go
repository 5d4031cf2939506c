package soak_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/test/rig"
	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// What the network does to connections, in turns.
var weathers = []struct {
	fault     rig.Fault
	direction rig.Direction
	share     float64
}{
	{rig.Latency{Delay: 20 * time.Millisecond, Jitter: 10 * time.Millisecond}, rig.Responses, 1},
	{rig.Limit{Bytes: 1500}, rig.Responses, 0.5},
	{rig.Slices{Size: 40, Variation: 20, Pause: 100 * time.Microsecond}, rig.Requests, 1},
	{rig.Reset{}, rig.Responses, 0.5},
	{rig.Reset{After: 20 * time.Millisecond}, rig.Requests, 0.5},
	{rig.Silence{CloseAfter: 100 * time.Millisecond}, rig.Responses, 0.5},
	{nil, "", 0}, // all connections are cut
}

// All requests to the host go through a proxy that delays, cuts, resets and swallows.
func TestPaymentsThroughABadNetwork(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tier.Size(200, 20_000))
	proxy := rig.NewProxy(t, w.host.Address())
	w.work.URL = "http://" + proxy.Address()
	w.work.Engine, w.work.Store = onSQLite, filepath.Join(t.TempDir(), "payments.db")
	worker := w.start(w.work.All)
	w.said(worker, saidResumed, startWithin)
	changes := 0
	deadline := time.Now().Add(settleWithin + time.Duration(w.work.All)*200*time.Millisecond)
	for ; w.settled() < w.work.All && time.Now().Before(deadline); changes++ {
		proxy.Heal()
		now := weathers[changes%len(weathers)]
		if now.fault != nil {
			proxy.Add(now.fault, now.direction, now.share)
		} else {
			proxy.Cut()
			proxy.Mend()
		}
		rest(t.Context(), 150*time.Millisecond)
	}
	proxy.Heal()
	w.settle(settleWithin, worker)
	w.notes = append(w.notes, fmt.Sprintf("the network changed %d times", changes))
	w.check()
}
