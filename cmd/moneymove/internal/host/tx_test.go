package host_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/internal/app"
)

// txEntry is an entry of the ledger as tx prints it.
type txEntry struct {
	ID, Type, Status, Previous, Direction, Amount, PayoutID string
}

func (f *fixture) entries(args ...string) []txEntry {
	f.Helper()
	var list struct{ Items []txEntry }
	require.NoError(f, json.Unmarshal([]byte(f.ok(append([]string{"tx"}, args...)...)), &list))
	return list.Items
}

// lines reads the output of a command that prints a line for each entry.
func (f *fixture) lines(output string) (entries []txEntry) {
	f.Helper()
	for line := range strings.Lines(output) {
		var e txEntry
		require.NoError(f, json.Unmarshal([]byte(line), &e), line)
		entries = append(entries, e)
	}
	return entries
}

func TestTxLists(t *testing.T) {
	f := newFixture(t)
	assert.NotNil(t, f.entries(), "an empty list, and not null")
	assert.Empty(t, f.entries())
	f.funded()
	for _, key := range []string{"a", "b", "c"} {
		f.made("1", key)
	}
	all := f.entries()
	require.Len(t, all, 4)
	assert.Equal(t, "payout", all[0].Type, "the newest comes first")
	assert.Equal(t, "deposit", all[3].Type)
	assert.Len(t, f.entries("-limit", "2"), 2)
	assert.Len(t, f.entries("-type", "deposit"), 1)
	assert.Len(t, f.entries("-since", "1h"), 4)
	f.host.Advance(48 * time.Hour)
	f.made("1", "d")
	assert.Len(t, f.entries("-since", time.Now().Add(24*time.Hour).Format(time.RFC3339)), 1)
	f.terminal = true
	table := f.ok("tx", "-limit", "1")
	assert.Contains(t, table, "-1  USDC")
	assert.Contains(t, table, "po_")
}

func TestTxRefusals(t *testing.T) {
	f := newFixture(t)
	for says, args := range map[string][]string{
		"-limit is 0": {"-limit", "0"}, "-limit does not go with": {"-f", "-limit", "5"},
		"-every goes with -f": {"-every", "1s"},
		"such as 90m":         {"-since", "yesterday"}, "-every is": {"-f", "-every", "1ns"},
		"does not hold a position": {"-position", f.write("other", "{}x")},
		"not hold a position":      {"-position", f.write("package.json", `{"name":"other"}`)},
	} {
		r := f.run(append([]string{"tx"}, args...)...)
		assert.Equal(t, app.ExitUsage, r.code, r.stderr)
		assert.Contains(t, r.stderr, says)
	}
	assert.Zero(t, f.requests("GET", "/dapi/v1/transactions"))
}

// following is tx -f, as it runs beside the test.
type following struct {
	*fixture
	stop  context.CancelFunc
	ended chan result
	out   *growing
}

// growing is output that a test reads while it grows.
type growing struct {
	mu   sync.Mutex
	text strings.Builder
}

func (g *growing) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.Write(b)
}

func (g *growing) String() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.text.String()
}

func (f *fixture) follow(args ...string) *following {
	f.Helper()
	ctx, stop := context.WithCancel(f.Context())
	f.Cleanup(stop)
	g := &following{fixture: f, stop: stop, ended: make(chan result, 1), out: &growing{}}
	beside := *f
	beside.ctx, beside.out = ctx, g.out
	go func() { g.ended <- beside.run(append([]string{"tx", "-f", "-every", "2ms"}, args...)...) }()
	return g
}

// until waits until an entry is printed.
func (g *following) until(matches func(txEntry) bool) {
	g.Helper()
	require.Eventually(g, func() bool {
		whole := g.out.String()
		for _, e := range g.lines(whole[:strings.LastIndex(whole, "\n")+1]) {
			if matches(e) {
				return true
			}
		}
		return false
	}, 20*time.Second, time.Millisecond)
}

// end interrupts the command and returns what it printed.
func (g *following) end() []txEntry {
	g.Helper()
	g.stop()
	r := <-g.ended
	require.Equal(g, app.ExitFine, r.code, r.stderr)
	return g.lines(g.out.String())
}

func TestTxFollows(t *testing.T) {
	f := newFixture(t, slow())
	f.funded()
	g := f.follow()
	g.until(func(e txEntry) bool { return e.Type == "deposit" })
	id := f.made("25", "invoice-42")
	g.until(func(e txEntry) bool { return e.PayoutID == id && e.Status == "pending" })
	f.host.Advance(24 * time.Hour)
	g.until(func(e txEntry) bool { return e.PayoutID == id && e.Status == "completed" && e.Previous == "pending" })
	all := g.end()
	assert.Len(t, all, 3, "each change once: %v", all)
}

func TestTxFollowsOneType(t *testing.T) {
	f := newFixture(t)
	f.funded()
	g := f.follow("-type", "payout")
	f.made("25", "invoice-42")
	g.until(func(e txEntry) bool { return e.Status == "completed" })
	for _, e := range g.end() {
		assert.Equal(t, "payout", e.Type)
	}
	f.host.Advance(48 * time.Hour)
	g = f.follow("-since", time.Now().Add(47*time.Hour).Format(time.RFC3339))
	id := f.made("1", "invoice-43")
	g.until(func(e txEntry) bool { return e.PayoutID == id })
	for _, e := range g.end() {
		assert.Equal(t, id, e.PayoutID, "entries before -since are left out")
	}
}

func TestTxKeepsItsPosition(t *testing.T) {
	f := newFixture(t, slow())
	f.funded()
	position := f.path("ledger.position")
	assert.Len(t, f.lines(f.ok("tx", "-position", position)), 1)
	if runtime.GOOS != "windows" { // which has no such modes
		info, err := os.Stat(position)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode())
	}
	assert.Empty(t, f.ok("tx", "-position", position), "nothing has changed")
	id := f.made("25", "invoice-42")

	g := f.follow("-position", position)
	g.until(func(e txEntry) bool { return e.PayoutID == id })
	assert.Len(t, g.end(), 1)

	f.host.Advance(24 * time.Hour)
	changes := f.lines(f.ok("tx", "-position", position))
	require.Len(t, changes, 1)
	assert.Equal(t, "pending", changes[0].Previous)
	assert.Equal(t, "completed", changes[0].Status)
	left, err := filepath.Glob(f.path(".ledger.position-*"))
	require.NoError(t, err)
	assert.Empty(t, left)

	var acting struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(f.ok("call", "POST", "/dapi/v1/clients", "-d",
		`{"email":"acme@example.com","type":"business","entityName":"Acme","country":"US"}`)), &acting))
	r := f.run("tx", "-position", position, "-as", acting.ID)
	assert.Equal(t, app.ExitUsage, r.code, "the position of another account")
	assert.Contains(t, r.stderr, "store one position for each account")
}

// The position is on disk while the command runs: a crash repeats little.
func TestTxSavesItsPositionWhileItFollows(t *testing.T) {
	f := newFixture(t)
	f.funded()
	position := f.path("ledger.position")
	g := f.follow("-position", position)
	require.Eventually(t, func() bool {
		_, err := os.Stat(position)
		return err == nil
	}, 20*time.Second, time.Millisecond)
	copied, err := os.ReadFile(position)
	require.NoError(t, err)
	g.end()
	assert.Empty(t, f.ok("tx", "-position", f.write("copy", string(copied))))

	r := f.run("tx", "-position", f.path("no/such/folder"), "-o", "json")
	assert.Equal(t, app.ExitFailure, r.code)
	assert.Contains(t, r.stderr, "the position is not kept")
	assert.Len(t, f.lines(r.stdout), 1)
}

func TestTxFollowsForPeople(t *testing.T) {
	f := newFixture(t)
	f.funded()
	f.terminal = true
	table := f.ok("tx", "-position", f.path("p"))
	assert.Contains(t, table, "deposit")
	assert.Contains(t, table, "+90 USDC")
}
