package sqlite

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/tier"
	"github.com/moneymovement/moneymovement-go/payments"
)

// books are what a store has confirmed: for each key, the number of its last save.
type books struct {
	mu        sync.Mutex
	confirmed map[moneymovement.Key]int
}

func (b *books) confirm(key moneymovement.Key, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.confirmed[key] = n
}

func (b *books) copied() map[moneymovement.Key]int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.confirmed)
}

// record is a payment, which says how often it was saved.
func record(key moneymovement.Key, n int, state moneymovement.PaymentState) payments.Record {
	r, err := payments.Prepare(payments.Payment{
		Key: key, Account: dapi.ClientID("cl_" + key[:2]),
		Payout:   dapi.PayoutCreate{ContactID: "ct_1", Amount: decimal.NewFromInt(5), Currency: dapi.USDC},
		Metadata: map[string]string{"n": strconv.Itoa(n), "filling": strings.Repeat("x", n*197)},
	}, time.Unix(1_800_000_000, 0))
	if err != nil {
		panic(err)
	}
	r.State, r.Due = state, time.Unix(1e9, 0).UTC()
	if state.Final() {
		r.Due = time.Time{}
	}
	return r
}

func due(key moneymovement.Key, n int) payments.Record {
	return record(key, n, moneymovement.PaymentAccepted)
}

// work stores payments from several goroutines, and enters what was confirmed.
func work(t *testing.T, s *Store, b *books, workers, each int) {
	t.Helper()
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := range each {
				if err := pay(t, s, b, moneymovement.Key(fmt.Sprintf("w%d-%d", worker, i))); err != nil {
					t.Errorf("worker %d: %v", worker, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// pay takes a payment through its states.
func pay(t *testing.T, s *Store, b *books, key moneymovement.Key) error {
	if _, _, err := s.Insert(t.Context(), due(key, 0)); err != nil {
		return err
	}
	b.confirm(key, 0)
	claimed, _, err := s.Claim(t.Context(), payments.Claim{Owner: "w", Key: key, Now: time.Now(), For: time.Hour})
	if err != nil {
		return err
	}
	for n, state := range []moneymovement.PaymentState{moneymovement.PaymentPaying, moneymovement.PaymentPaid,
		moneymovement.PaymentCompleted} {
		claimed[0].Record = record(key, n+1, state)
		if _, err := s.Save(t.Context(), claimed[0], state == moneymovement.PaymentCompleted); err != nil {
			return err
		}
		b.confirm(key, n+1)
	}
	return nil
}

// lost opens what a crash has left, and returns what was confirmed and is not there.
func lost(t *testing.T, path string, confirmed map[moneymovement.Key]int) (missing []string) {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		return []string{err.Error()}
	}
	defer func() { require.NoError(t, s.Close()) }()
	checked, err := s.Check(t.Context())
	require.NoError(t, err)
	records, err := s.List(t.Context(), payments.List{Limit: checked.Payments + 1})
	require.NoError(t, err)
	found := map[moneymovement.Key]int{}
	for _, stored := range records {
		require.NoError(t, stored.Err())
		n, err := strconv.Atoi(stored.Metadata["n"])
		require.NoError(t, err)
		want := record(stored.Key, n, stored.State)
		want.Position = stored.Position
		assert.Equal(t, want, stored)
		found[stored.Key] = n
	}
	for key, n := range confirmed {
		stored, there := found[key]
		if !there || stored < n {
			missing = append(missing, fmt.Sprintf("%s was confirmed with save %d, and is there: %t, with save %d",
				key, n, there, stored))
		}
	}
	return missing
}

// A store loses power at any moment, between any two operations of its disk, and the disk keeps what it likes of what
// was not synced. All that was confirmed is there.
func TestLossOfPower(t *testing.T) {
	tier.Long(t, "cuts the power of a disk, again and again")
	for left, seed := tier.Size(50, 2000), uint64(1); left > 0 && !t.Failed(); seed++ {
		images, missing := losePower(t, min(left, 25), seed, "")
		require.NotZero(t, images)
		assert.Empty(t, missing, "seed %d", seed)
		left -= images
	}
}

// The same test finds a store that does not wait for the disk.
func TestLossOfPowerWithoutSync(t *testing.T) {
	tier.Long(t, "cuts the power of a disk, again and again")
	_, missing := losePower(t, 40, 1, "_synchronous=NORMAL&")
	assert.NotEmpty(t, missing)
}

// movesLogAfter makes SQLite move its log into the file after so many pages.
func movesLogAfter(pages int) Option {
	return func(s *settings) { s.parameters += "_pragma=wal_autocheckpoint(" + strconv.Itoa(pages) + ")&" }
}

// losePower works with a store, takes images of its disk at random moments, and returns how many, and what is missing
// in them.
func losePower(t *testing.T, most int, seed uint64, parameters string) (images int, missing []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 0))
	folder := t.TempDir()
	d := newDisk(t, folder)
	b := &books{confirmed: map[moneymovement.Key]int{}}
	type image struct {
		folder    string
		confirmed map[moneymovement.Key]int
	}
	var taken []image
	s, err := Open(t.Context(), filepath.Join(folder, "p.db"), onDisk, movesLogAfter(20+random.IntN(200)),
		func(s *settings) { s.parameters += parameters })
	require.NoError(t, err)
	d.mu.Lock()
	d.watch = func() {
		if random.IntN(25) != 0 || len(taken) >= most {
			return
		}
		crashed := image{t.TempDir(), b.copied()}
		d.snapshot(t, random, crashed.folder)
		taken = append(taken, crashed)
	}
	d.mu.Unlock()
	work(t, s, b, 8, 20)
	require.NoError(t, s.Close())
	for _, crashed := range taken {
		missing = append(missing, lost(t, filepath.Join(crashed.folder, "p.db"), crashed.confirmed)...)
		require.NoError(t, os.RemoveAll(crashed.folder))
	}
	return len(taken), missing
}
