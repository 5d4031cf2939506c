package soak_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/tier"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// plan decides by a seed which requests a fault happens to.
type plan struct {
	seed    uint64
	percent uint64

	mu      sync.Mutex
	planned map[string]int // by kind, as the host names it
}

// faults are what can go wrong with a request for a payment. Each leaves the outcome of the payment open.
var faults = []struct {
	kind  string
	fault sandbox.Fault
}{
	{"drop_before", sandbox.DropBefore()},
	{"drop_after_commit", sandbox.DropAfterCommit()},
	{"respond", sandbox.Respond(http.StatusInternalServerError, "internal")},
	{"respond", sandbox.Respond(http.StatusServiceUnavailable, "internal").AfterCommit()},
	{"respond", sandbox.Respond(http.StatusTooManyRequests, "rate_limited").WithHeader("Retry-After", "1")},
	{"garbage", sandbox.Garbage()},
	{"garbage", sandbox.Garbage().AfterCommit()},
	{"truncate", sandbox.Truncate(0)},
	{"delay", sandbox.Delay(30 * time.Millisecond)},
	{"delay", sandbox.Delay(30 * time.Millisecond).AfterCommit()},
	{"duplicate", sandbox.Duplicate(0)},
	{"repeat", sandbox.Repeat()},
}

func (p *plan) decide(r sandbox.Request) sandbox.Fault {
	if !strings.Contains(r.Path, "/payouts") {
		return sandbox.Fault{}
	}
	digest := fnv.New64a()
	fmt.Fprintln(digest, p.seed, r.Method, r.Path, r.IdempotencyKey, r.Attempt)
	number := digest.Sum64() ^ digest.Sum64()>>29
	if number%100 >= p.percent {
		return sandbox.Fault{}
	}
	chosen := faults[number/100%uint64(len(faults))]
	p.mu.Lock()
	defer p.mu.Unlock()
	p.planned[chosen.kind]++
	return chosen.fault
}

// 30 % of the requests for payments fail, before or after the host has handled them.
func TestPaymentsAt30PercentFaults(t *testing.T) {
	t.Parallel()
	w := newWorld(t, tier.Size(200, 20_000))
	w.work.Engine, w.work.Store = onSQLite, filepath.Join(t.TempDir(), "payments.db")
	p := &plan{seed: 1, percent: 30, planned: map[string]int{}}
	happened := w.host.Intercept(p.decide)
	worker := w.start(w.work.All)
	w.settle(settleWithin+time.Duration(w.work.All)*200*time.Millisecond, worker)
	happened.End()
	p.mu.Lock()
	defer p.mu.Unlock()
	assert.Equal(t, p.planned, happened.Consumed(), "every planned fault happened")
	total := 0
	for count := range maps.Values(p.planned) {
		total += count
	}
	assert.Greater(t, total, w.work.All/2, "there were faults")
	w.notes = append(w.notes, fmt.Sprintf("%d faults %v", total, p.planned))
	w.check()
}
