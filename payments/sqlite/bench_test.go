package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
)

// typical is the size of the record of a payout that has completed.
const typical = 1200

func typicalRecord(n int, state moneymovement.PaymentState) payments.Record {
	r := pattern()
	r.Key = moneymovement.DeriveKey("payroll", "2026-11", strconv.Itoa(n))
	r.Account, r.State, r.Due = dapi.ClientID(r.Key[:2]), state, time.Now()
	if state.Final() {
		r.Due = time.Time{}
	}
	return r
}

// pattern returns a record of the typical size. Its copies have their own keys.
var pattern = sync.OnceValue(func() payments.Record {
	r := record(moneymovement.DeriveKey("payroll", "2026-11", "0"), 0, moneymovement.PaymentAccepted)
	text, err := r.Encode()
	if err != nil {
		panic(err)
	}
	r.Metadata["filling"] = strings.Repeat("x", typical-len(text))
	return r
})

// latencies is how long calls took.
type latencies struct {
	mu   sync.Mutex
	took []time.Duration
}

func (l *latencies) time(call func() error) error {
	began := time.Now()
	err := call()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, time.Since(began))
	return err
}

func (l *latencies) report(b *testing.B, name string) {
	b.Helper()
	slices.Sort(l.took)
	for _, percent := range []int{50, 99} {
		at := l.took[min(len(l.took)*percent/100, len(l.took)-1)]
		b.ReportMetric(float64(at.Microseconds()), fmt.Sprintf("µs-p%d-%s", percent, name))
	}
}

// each calls a function b.N times from so many goroutines.
func each(b *testing.B, callers int, call func(n int) error) {
	b.Helper()
	var group sync.WaitGroup
	numbers := make(chan int, callers)
	for range callers {
		group.Go(func() {
			for n := range numbers {
				if err := call(n); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ResetTimer()
	for n := range b.N {
		numbers <- n
	}
	close(numbers)
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "payments/s")
}

func benchStore(b *testing.B) *Store {
	b.Helper()
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "p.db"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	return s
}

// BenchmarkInsert measures what a Submit waits for.
func BenchmarkInsert(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			s := benchStore(b)
			var inserts latencies
			each(b, callers, func(n int) error {
				return inserts.time(func() error {
					_, _, err := s.Insert(b.Context(), typicalRecord(n, moneymovement.PaymentAccepted))
					return err
				})
			})
			inserts.report(b, "insert")
		})
	}
}

// BenchmarkPayment measures a payment that was stored: claimed, and saved as begun, signed, paid and completed.
func BenchmarkPayment(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprint("callers=", callers), func(b *testing.B) {
			s := benchStore(b)
			fill(b, s, 0, b.N, moneymovement.PaymentAccepted)
			var claims, saves latencies
			each(b, callers, func(int) error {
				var claimed []payments.Claimed
				err := claims.time(func() (err error) {
					claimed, _, err = s.Claim(b.Context(),
						payments.Claim{Owner: "b", Work: payments.WorkBegin, Limit: 1,
							Now: time.Now(), For: time.Hour})
					return err
				})
				if err != nil {
					return err
				}
				states := []moneymovement.PaymentState{moneymovement.PaymentPaying, moneymovement.PaymentPaying,
					moneymovement.PaymentPaid, moneymovement.PaymentCompleted}
				for i, state := range states {
					claimed[0].State, claimed[0].Calls = state, 1
					if state == moneymovement.PaymentCompleted {
						claimed[0].Due = time.Time{}
					}
					err := saves.time(func() error {
						_, err := s.Save(b.Context(), claimed[0], i == 3)
						return err
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
			claims.report(b, "claim")
			saves.report(b, "save")
		})
	}
}

// fill stores rows at once.
func fill(t testing.TB, s *Store, from, to int, state moneymovement.PaymentState) {
	t.Helper()
	for from < to {
		chunk := make([]*request, min(batchSize, to-from))
		for i := range chunk {
			r := typicalRecord(from+i, state)
			row, err := rowOf(&r)
			require.NoError(t, err)
			chunk[i] = &request{write: &insertion{row: row}, result: make(chan error, 1)}
			s.queue <- chunk[i]
		}
		for _, r := range chunk {
			require.NoError(t, <-r.result)
		}
		from += len(chunk)
	}
}

// A million payments that have ended cost a start nothing.
func TestStartWithAMillionPayments(t *testing.T) {
	finished := testkit.Size(400, 1_000_000)
	open := min(finished/2, 10_000)
	path := filepath.Join(t.TempDir(), "p.db")
	s := opened(t, path)
	empty := resident(t)
	fill(t, s, 0, finished, moneymovement.PaymentCompleted)
	require.NoError(t, s.Close())
	info, err := os.Stat(path)
	require.NoError(t, err)
	t.Logf("%d bytes per finished payment, whose record has %d", info.Size()/int64(finished), typical)
	s = opened(t, path)
	fill(t, s, finished, finished+open, moneymovement.PaymentAccepted)
	require.NoError(t, s.Close())
	runtime.GC()
	filled := resident(t)

	began := time.Now()
	s = opened(t, path)
	_, err = s.Summary(t.Context())
	require.NoError(t, err)
	claimed, _, err := s.Claim(t.Context(), payments.Claim{
		Owner: "w", Work: payments.WorkBegin, Limit: 100, Now: time.Now(), For: time.Hour,
	})
	require.NoError(t, err)
	took := time.Since(began)
	assert.Len(t, claimed, 100)
	assert.Less(t, took, 2*time.Second)
	runtime.GC()
	t.Logf("%d finished and %d open payments: open, summary and first claim took %v", finished, open, took)
	t.Logf("%d MiB resident when empty, %d when filled, %d after the start", empty>>20, filled>>20, resident(t)>>20)
	began = time.Now()
	_, err = s.Check(t.Context())
	require.NoError(t, err)
	t.Logf("Check took %v", time.Since(began))
}

// resident returns how many bytes of memory the process has.
func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}
