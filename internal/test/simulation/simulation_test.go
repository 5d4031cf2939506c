package simulation

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
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
	escrow, action := payments.KindEscrow, payments.KindEscrowAction
	return []payments.Kind{payout, payout, payout, payout, payout, payout, payout, payout, payout, payout, payout,
		payout, escrow, escrow, escrow, action, action, transfer, transfer, transfer}
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
func TestSeedRepeatsARun(t *testing.T) {
	for name := range programs {
		t.Run(name, func(t *testing.T) {
			for i := range testkit.Size(20, 1000) {
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
			pay(t, stormy(name), testkit.Size(1_000, 10_000))
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
			pay(t, plan, testkit.Size(50, 10_000))
		})
	}
}

// No sequence of submissions, crashes, clocks and processes passes a cap, and what the limits refuse ends as well.
func TestCapsUnderFaults(t *testing.T) {
	plan := stormy("payments")
	plan.Limits = limits()
	pay(t, plan, testkit.Size(500, 10_000))
}

// So many payments meet what happens once in a million.
func TestAMillionPaymentsUnderFaults(t *testing.T) {
	if !testkit.Soak() {
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

// onFile returns a stormy plan for package payments on one file. Each process opens the file, after the end of the one
// before it.
func onFile(t *testing.T) Plan {
	t.Helper()
	plan := stormy("payments")
	plan.Processes = 1
	plan.Program = func(w *World) program {
		file := filepath.Join(t.TempDir(), "payments.db")
		m := newProcessor(w, nil)
		m.reopen = func(before payments.Store) (payments.Store, error) {
			if store, open := before.(*sqlite.Store); open {
				if err := store.Close(); err != nil {
					return nil, err
				}
			}
			return sqlite.Open(context.Background(), file)
		}
		m.closed = func() error { return m.store.(*sqlite.Store).Close() } //nolint:forcetypeassert // of reopen
		return m
	}
	return plan
}

// Payments on one file end once as well, and the same seed is the same run.
func TestPaymentsOnOneFile(t *testing.T) {
	total := newTotal()
	for i := range testkit.Size(10, 200) {
		seed := Seed(i + 1)
		first, second := run(t, seed, onFile(t)), run(t, seed, onFile(t))
		if !assert.Empty(t, first.Violations) || !bytes.Equal(first.Trace.Bytes(), second.Trace.Bytes()) {
			one, two := first.Trace.Difference(second.Trace)
			t.Fatalf("%s and %s\n%s\n%s", failed(t, seed, first), failed(t, seed, second), one, two)
		}
		total.add(first)
	}
	t.Log(total.ends, total.steps, total.processes)
}

// variant is a program with a broken rule.
type variant struct {
	name  string
	on    string // the program: "dapi alone" or "payments"
	broke Break
	deck  []payments.Kind // in place of the usual one; nil for that
	// limits are those of the program.
	limits *payments.Limits
}

// Each broken rule is noticed. The output says after how many payments, and by what. A short run makes few payments for
// each of them, and most of the rules are noticed even so.
func TestEveryBrokenRuleIsNoticed(t *testing.T) {
	seeds := testkit.Size(2, 1_000)
	variants := slices.Concat(journalVariants(), storeVariants(), connectionVariants(), kindVariants(),
		limitVariants())
	names, table, unnoticed := map[string]bool{}, new(strings.Builder), []string{}
	for _, v := range variants {
		name := v.on + ": " + v.name
		require.False(t, names[name], "two variants have the name %q", name)
		names[name] = true
		made, noticed := notice(t, v, seeds)
		if noticed == "" {
			unnoticed = append(unnoticed, name)
		}
		fmt.Fprintf(table, "%-10s  %-46s %6d  %s\n", v.on, v.name, made, noticed)
	}
	t.Logf("%d broken rules\n%-10s  %-46s %6s  %s\n%s", len(variants), "program", "the broken rule", "after",
		"noticed by", table)
	if testkit.Soak() {
		assert.Empty(t, unnoticed, "not noticed")
	}
	assert.Greater(t, len(variants)-len(unnoticed), 30, "too few are noticed")
}

// notice makes runs until one breaks a rule. It returns how many payments that took, and the first broken rule.
func notice(t *testing.T, v variant, seeds int) (made int, noticed string) {
	t.Helper()
	for i := range seeds {
		plan := stormy(v.on)
		plan.Break, plan.Limits = v.broke, v.limits
		if v.deck != nil {
			plan.Deck = v.deck
		}
		made += plan.Payments
		result, err := attempt(t, Seed(i+1), plan)
		switch {
		case err != nil:
			return made, err.Error()
		case len(result.Violations) > 0:
			return made, cut(result.Violations[0])
		}
	}
	return made, ""
}

// attempt is run for a plan that may fail.
func attempt(t *testing.T, seed Seed, plan Plan) (result *Result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		plan.Reseed = func() { cryptotest.SetGlobalRandom(t, uint64(seed)) }
		result, err = Run(seed, plan)
	})
	return result, err
}

// cut shortens a text for a table.
func cut(text string) string {
	if len(text) > 90 {
		return text[:90] + "..."
	}
	return text
}
