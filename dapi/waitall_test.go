package dapi_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// underWay is a host with so many payouts that complete at different times.
func underWay(count int, completes func(number int) time.Duration) (*busyHost, []dapi.PayoutID) {
	host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
	ids := make([]dapi.PayoutID, count)
	for i := range ids {
		ids[i] = dapi.PayoutID(fmt.Sprint("po_", i))
		host.payouts[string(ids[i])] = &busyPayout{id: string(ids[i]), contact: "ct_bob", amount: "1", paid: true,
			completes: time.Now().Add(completes(i))}
	}
	return host, ids
}

func (h *busyHost) payoutReads() (reads int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, payout := range h.payouts {
		reads += payout.reads
	}
	return reads
}

// Progress is reported for one payout at a time, however many are read at once.
func TestWaitAllReportsOneAtATime(t *testing.T) {
	answers, ids := map[string][]string{}, []dapi.PayoutID{}
	for i := range 10 {
		id := fmt.Sprint("po_", i)
		ids = append(ids, dapi.PayoutID(id))
		answers["GET /payouts/"+id] = []string{`{"id":"` + id + `","status":"completed"}`}
	}
	_, integrator := newScript(t, answers)
	var inside atomic.Int32
	for waited := range integrator.Self().Payouts.WaitAll(t.Context(), ids,
		moneymovement.OnProgress(func(moneymovement.Progress) {
			assert.EqualValues(t, 1, inside.Add(1))
			time.Sleep(5 * time.Millisecond) // until the other responses are there
			inside.Add(-1)
		})) {
		require.NoError(t, waited.Err)
	}
}

func TestWaitAllEndsWithItsLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, ids := underWay(100, func(number int) time.Duration { return time.Duration(number) * time.Hour })
		for waited := range host.integrator(t).Self().Payouts.WaitAll(t.Context(), ids) {
			assert.Equal(t, ids[0], waited.ID)
			break
		}
		reads := host.payoutReads()
		time.Sleep(time.Hour)
		// and synctest knows of no goroutine that is left
		assert.Equal(t, reads, host.payoutReads(), "nothing goes on behind the caller's back")
		for range host.integrator(t).Self().Payouts.WaitAll(t.Context(), nil) {
			assert.Fail(t, "there is nothing to wait for")
		}
	})
}

// Two thousand payouts are read in turn, within the share of waits, and other reads do not wait for them.
func TestWaitAllIsFairAndLeavesRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hours = 1
		host, ids := underWay(2000, func(int) time.Duration { return hours * time.Hour })
		host.payouts["po_other"] = &busyPayout{id: "po_other", contact: "ct_bob", amount: "1", paid: true}
		account := host.integrator(t).Self()
		ctx, stop := context.WithCancel(t.Context())
		var others sync.WaitGroup
		others.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				_, err := account.Payouts.Get(t.Context(), "po_other")
				assert.NoError(t, err)
				assert.Less(t, time.Since(began), time.Second)
				time.Sleep(2 * time.Second)
			}
		})
		ended := 0
		for waited := range account.Payouts.WaitAll(t.Context(), ids) {
			assert.NoError(t, waited.Err)
			ended++
		}
		stop()
		others.Wait()
		assert.Len(t, ids, ended)
		assert.Zero(t, host.counts().limited)
		least, most := host.payouts["po_0"].reads, 0
		for _, id := range ids {
			reads := host.payouts[string(id)].reads
			least, most = min(least, reads), max(most, reads)
		}
		assert.LessOrEqual(t, most-least, 2, "%d to %d reads", least, most)
		assert.GreaterOrEqual(t, least, 10, "a read of each in less than 4 minutes")
	})
}
