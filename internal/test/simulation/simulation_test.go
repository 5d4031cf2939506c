package simulation

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/tier"
	"github.com/moneymovement/moneymovement-go/payments"
)

// run makes one run in a bubble of its own.
func run(t *testing.T, seed Seed, plan Plan) *Result {
	t.Helper()
	var result *Result
	synctest.Test(t, func(t *testing.T) {
		plan.Reseed = func() { cryptotest.SetGlobalRandom(t, uint64(seed)) }
		var err error
		result, err = Run(seed, plan)
		if err != nil {
			t.Fatalf("%v: %s", err, failed(t, seed, result))
		}
	})
	return result
}

// programs are the programs under test.
var programs = map[string]func(*World) program{
	"dapi alone": func(w *World) program { return newJournal(w) },
	"payments":   func(w *World) program { return newProcessor(w, payments.NewMemoryStore()) },
}

// stormy is a plan in which everything goes wrong now and then.
func stormy(name string) Plan {
	plan := Plan{Program: programs[name], Payments: 10, Processes: 2, Faults: 0.2, Crashes: 0.005, Events: true}
	if name == "payments" {
		plan.StoreFaults, plan.Deck = 0.02, mixed()
	}
	return plan
}

// mixed is a deck in which six of ten payments are payouts.
func mixed() []payments.Kind {
	payout, transfer := payments.KindPayout, payments.KindTransfer
	deal, action := payments.KindEscrow, payments.KindEscrowAction
	return []payments.Kind{payout, payout, payout, payout, payout, payout, payout, payout, payout, payout, payout,
		payout, deal, deal, deal, action, action, transfer, transfer, transfer}
}

// failed writes the trace of a run to a file, and returns what to say about it.
func failed(t *testing.T, seed Seed, result *Result) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "simulation") //nolint:usetesting // it must outlive the test
	require.NoError(t, err)
	file, err := result.Trace.WriteTo(folder, fmt.Sprintf("seed-%d.trace", seed))
	require.NoError(t, err)
	return fmt.Sprintf("seed %d; its trace is in %s", seed, file)
}

// The same seed is the same run, byte by byte: what a failing seed shows can be looked at again.
func TestTheSameSeedIsTheSameRun(t *testing.T) {
	for name := range programs {
		t.Run(name, func(t *testing.T) {
			for i := range tier.Size(20, 1000) {
				seed := Seed(i + 1)
				first, second := run(t, seed, stormy(name)), run(t, seed, stormy(name))
				if !bytes.Equal(first.Trace.Bytes(), second.Trace.Bytes()) {
					one, two := first.Trace.Difference(second.Trace)
					t.Fatalf("two runs differ: %s and %s\n%s\n%s", failed(t, seed, first), failed(t, seed, second),
						one, two)
				}
			}
		})
	}
}

// mostBroken is how many broken runs are shown before a test ends.
const mostBroken = 10

// Payments end once, whatever goes wrong.
func TestPaymentsUnderFaults(t *testing.T) {
	for name := range programs {
		t.Run(name, func(t *testing.T) {
			pay(t, stormy(name), tier.Size(3_000, 10_000))
		})
	}
}

// A kind that is rare among mixed payments meets all that can happen to it when it is alone.
func TestEachKindUnderFaults(t *testing.T) {
	for _, kind := range []payments.Kind{payments.KindPayout, payments.KindEscrow, payments.KindEscrowAction,
		payments.KindTransfer} {
		t.Run(string(kind), func(t *testing.T) {
			plan := stormy("payments")
			plan.Deck = []payments.Kind{kind}
			pay(t, plan, tier.Size(50, 10_000))
		})
	}
}

// So many payments meet what happens once in a million.
func TestAMillionPaymentsUnderFaults(t *testing.T) {
	if !tier.Soak() {
		t.Skip("takes hours; make soak runs it")
	}
	plan := stormy("payments")
	plan.Faults = 0.3
	pay(t, plan, 1_000_000)
}

// pay makes so many payments, in runs of a plan.
func pay(t *testing.T, plan Plan, count int) {
	t.Helper()
	total, began, broken := newTotal(), time.Now(), 0
	for seed := Seed(1); seed <= Seed(count/plan.Payments) && broken < mostBroken; seed++ {
		result := run(t, seed, plan)
		if !assert.Empty(t, result.Violations) {
			t.Log(failed(t, seed, result))
			broken++
		}
		total.add(result)
	}
	t.Log(total.report(time.Since(began)))
}

// wholeRuns is how many runs have no crash, because they have fewer steps, before a test ends.
const wholeRuns = 5

// A process that ends at any step, between any two of its steps that last, leaves payments that the next process ends
// once. With two processes, the other one takes them over.
func TestACrashAtEveryStep(t *testing.T) {
	for name := range programs {
		for _, processes := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s, %d processes", name, processes), func(t *testing.T) {
				plan := Plan{Program: programs[name], Payments: 3, Processes: processes}
				if name == "payments" {
					plan.Deck = []payments.Kind{payments.KindPayout, payments.KindEscrow, payments.KindEscrowAction,
						payments.KindTransfer}
					plan.Payments = len(plan.Deck) // one of each kind
				}
				total, whole := newTotal(), 0
				for whole < wholeRuns {
					plan.CrashAt++
					result := run(t, Seed(plan.CrashAt), plan)
					if !assert.Empty(t, result.Violations) {
						t.Fatal(failed(t, Seed(plan.CrashAt), result))
					}
					total.add(result)
					if result.Processes == processes {
						whole++
					}
				}
				assert.Greater(t, plan.CrashAt, 30, "too few steps")
				assert.Equal(t, map[string]int{string(completed): total.payments}, total.ends)
				t.Logf("%d steps, %d payments", plan.CrashAt-1, total.payments)
			})
		}
	}
}

// total adds up what happened in many runs.
type total struct {
	ends                       map[string]int
	faults                     map[Kind]int
	payments, steps, processes int
}

func newTotal() *total { return &total{ends: map[string]int{}, faults: map[Kind]int{}} }

func (a *total) add(result *Result) {
	for end, n := range result.Ends {
		a.ends[end] += n
		a.payments += n
	}
	for kind, n := range result.Faults {
		a.faults[kind] += n
	}
	a.steps += result.Trace.Steps()
	a.processes += result.Processes
}

func (a *total) report(took time.Duration) string {
	return fmt.Sprintf("%d payments in %v, %.0f a second; %d steps, %d processes\n%v\n%v", a.payments,
		took.Round(time.Millisecond), float64(a.payments)/took.Seconds(), a.steps, a.processes, a.ends, a.faults)
}
