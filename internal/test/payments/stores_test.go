package payments_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// watched is a store that a test can make fail, and that counts its calls.
type watched struct {
	payments.Store

	mu      sync.Mutex
	calls   map[string]int
	fail    func(method string, n int) failure
	records map[moneymovement.Key]payments.Record // as they were last stored
}

// failure is how a call fails.
type failure string

const (
	fine   failure = ""
	before failure = "before" // nothing is stored
	after  failure = "after"  // it is stored, and the caller does not learn it
)

var errStore = errors.New("the disk is full")

func watch(store payments.Store) *watched {
	return &watched{Store: store, calls: map[string]int{}, records: map[moneymovement.Key]payments.Record{}}
}

// failing sets how calls fail from now on.
func (s *watched) failing(fail func(method string, n int) failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.calls = fail, map[string]int{}
}

func (s *watched) next(method string) failure {
	s.mu.Lock()
	s.calls[method]++
	fail, n := s.fail, s.calls[method]
	s.mu.Unlock()
	if fail == nil {
		return fine
	}
	return fail(method, n) // it may wait
}

// stored returns a payment as it was last stored.
func (s *watched) stored(key moneymovement.Key) payments.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[key]
}

func (s *watched) keep(record payments.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[record.Key] = record
}

func call[T any](s *watched, method string, call func() (T, error)) (T, error) {
	var none T
	how := s.next(method)
	if how == before {
		return none, errStore
	}
	result, err := call()
	if how == after && err == nil {
		return none, errStore
	}
	return result, err
}

func (s *watched) Insert(ctx context.Context, record payments.Record) (payments.Record, bool, error) {
	var inserted bool
	stored, err := call(s, "Insert", func() (stored payments.Record, err error) {
		stored, inserted, err = s.Store.Insert(ctx, record)
		return stored, err
	})
	return stored, inserted, err
}

func (s *watched) Load(ctx context.Context, key moneymovement.Key) (payments.Record, error) {
	return call(s, "Load", func() (payments.Record, error) { return s.Store.Load(ctx, key) })
}

func (s *watched) Claim(ctx context.Context, claim payments.Claim) ([]payments.Claimed, time.Time, error) {
	var next time.Time
	claimed, err := call(s, "Claim", func() (claimed []payments.Claimed, err error) {
		claimed, next, err = s.Store.Claim(ctx, claim)
		return claimed, err
	})
	return claimed, next, err
}

func (s *watched) Extend(
	ctx context.Context, leases map[moneymovement.Key]payments.Lease, d time.Duration,
) ([]moneymovement.Key, error) {
	return call(s, "Extend", func() ([]moneymovement.Key, error) { return s.Store.Extend(ctx, leases, d) })
}

func (s *watched) Save(
	ctx context.Context, claimed payments.Claimed, release bool,
) (payments.Position, error) {
	return call(s, "Save", func() (payments.Position, error) {
		position, err := s.Store.Save(ctx, claimed, release)
		if err == nil {
			s.keep(claimed.Record)
		}
		return position, err
	})
}

func (s *watched) Postpone(ctx context.Context, claimed payments.Claimed) error {
	_, err := call(s, "Postpone", func() (bool, error) { return true, s.Store.Postpone(ctx, claimed) })
	return err
}

func (s *watched) Summary(ctx context.Context) (payments.Summary, error) {
	return call(s, "Summary", func() (payments.Summary, error) { return s.Store.Summary(ctx) })
}

// assertStoredFirst checks, whenever the key signs, that the store already says that money may leave.
func (w *world) assertStoredFirst(store *watched, key moneymovement.Key) {
	w.Key.BeforeApproval(func(int) {
		assert.True(w, store.stored(key).MayHaveLeft, "signed before it was stored")
	})
}

// Each method of the store fails at each of its calls during a payment, before or after it took effect, once or for a
// minute. Nothing is lost, paid twice, or signed before it is stored.
func TestAStoreThatFails(t *testing.T) {
	for _, method := range []string{"Insert", "Claim", "Extend", "Save", "Postpone", "Load", "Summary"} {
		for _, how := range []failure{before, after} {
			for n := 1; n <= 3; n++ {
				for _, long := range []bool{false, true}[:max(1, 3-n)] {
					t.Run(fmt.Sprintf("%s %d %s %t", method, n, how, long), func(t *testing.T) {
						eachKind(t, func(w *world, k kind) {
							w.payWhileTheStoreFails(k, func(from time.Time) func(string, int) failure {
								return func(called string, i int) failure {
									if called == method && (i == n || long && i > n && time.Since(from) < time.Minute) {
										return how
									}
									return fine
								}
							})
						})
					})
				}
			}
		}
	}
}

func (w *world) payWhileTheStoreFails(k kind, faults func(from time.Time) func(method string, n int) failure) {
	w.Helper()
	store, moves := watch(w.store), len(w.Moved(k.moves))
	p := w.process(k, store)
	record, err := payments.Prepare(k.submission, time.Now())
	require.NoError(w, err)
	w.assertStoredFirst(store, record.Key)
	store.failing(faults(time.Now()))
	for {
		if _, err = p.Resume(w.Context()); err == nil {
			break
		}
		require.ErrorIs(w, err, errStore)
		time.Sleep(time.Second)
	}
	for {
		if _, err = p.Submit(w.Context(), k.submission); err == nil {
			break
		}
		require.ErrorIs(w, err, errStore)
		time.Sleep(time.Second)
	}
	for {
		r, err := p.Await(w.Context(), record.Key)
		if err == nil {
			require.Equal(w, moneymovement.PaymentCompleted, r.State, "%+v", r.Reason)
			break
		}
		require.ErrorIs(w, err, errStore)
		time.Sleep(time.Second)
	}
	w.assertMoved(k, moves+1)
	require.NoError(w, p.Stop(w.Context()))
}

// The store is away for an hour in the middle of a payment.
func TestAStoreThatIsAwayForAnHour(t *testing.T) {
	for _, method := range []string{"Claim", "Save"} {
		t.Run(method, func(t *testing.T) {
			eachKind(t, func(w *world, k kind) {
				if opened, is := k.submission.(payments.EscrowPayment); is { // without it, the deal expires in an hour
					opened.Escrow.ApproveWithin = "2h"
					k.submission = opened
				}
				w.payWhileTheStoreFails(k, func(from time.Time) func(string, int) failure {
					return func(called string, n int) failure {
						if called == method && n > 1 && time.Since(from) < time.Hour {
							return before
						}
						return fine
					}
				})
			})
		})
	}
}

// dying is a store of a process that dies after so many calls.
func dying(store *watched, calls int) {
	var mu sync.Mutex
	store.failing(func(method string, _ int) failure {
		mu.Lock()
		defer mu.Unlock()
		if calls--; calls >= 0 {
			return fine
		}
		return before
	})
}

// A process dies at each of its calls to the store. The next one goes on when the lease has ended, and the money moves
// once.
func TestAProcessThatDies(t *testing.T) {
	eachKind(t, func(w *world, k kind) {
		record, err := payments.Prepare(k.submission, time.Now())
		require.NoError(w, err)
		_, _, err = w.store.Insert(w.Context(), record)
		require.NoError(w, err)
		moves, dead := len(w.Moved(k.moves)), []*payments.Processor{}
		for calls := range 6 {
			store := watch(w.store)
			dying(store, calls)
			ctx, cancel := context.WithTimeout(w.Context(), 30*time.Second)
			p := w.process(k, store)
			_, err := p.Step(ctx, record.Key)
			w.Logf("%d calls: %v", calls, err)
			cancel()
			dead = append(dead, p)
			time.Sleep(20 * time.Second)
		}
		p := w.process(k, w.store)
		_, err = p.Resume(w.Context())
		require.NoError(w, err)
		done := w.becomes(p, record.Key, moneymovement.PaymentCompleted)
		assert.Empty(w, done.Bounds)
		w.assertMoved(k, moves+1)
		for _, p := range slices.Insert(dead, 0, p) {
			require.NoError(w, p.Stop(w.Context()))
		}
	})
}
