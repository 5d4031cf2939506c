package simulation

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// run makes one run in a bubble of its own.
func run(t *testing.T, seed Seed, plan Plan) *Result {
	t.Helper()
	var result *Result
	synctest.Test(t, func(t *testing.T) {
		plan.Reseed = func() { cryptotest.SetGlobalRandom(t, uint64(seed)) }
		var err error
		result, err = Run(seed, plan)
		require.NoError(t, err, "seed %d", seed)
	})
	return result
}

// count returns how many of something a test makes: the variable says how many, or else it is the given number.
func count(t *testing.T, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err, variable)
	return n
}

func stormy(payments int) Plan {
	return Plan{Payments: payments, Faults: 0.2, Crashes: 0.005, Events: true}
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
	for i := range count(t, "MONEYMOVEMENT_SIMULATION_SEEDS", 20) {
		seed := Seed(i + 1)
		first, second := run(t, seed, stormy(10)), run(t, seed, stormy(10))
		if !bytes.Equal(first.Trace.Bytes(), second.Trace.Bytes()) {
			one, two := first.Trace.Difference(second.Trace)
			t.Fatalf("two runs differ: %s and %s\n%s\n%s", failed(t, seed, first), failed(t, seed, second), one, two)
		}
	}
}

// Payments end once, whatever goes wrong.
func TestPaymentsUnderFaults(t *testing.T) {
	payments := count(t, "MONEYMOVEMENT_SIMULATION_PAYMENTS", 500)
	began := time.Now()
	ends, faults, steps, processes := map[string]int{}, map[Kind]int{}, 0, 0
	const each = 10
	for i := range payments / each {
		seed := Seed(i + 1)
		result := run(t, seed, stormy(each))
		if !assert.Empty(t, result.Violations) {
			t.Fatal(failed(t, seed, result))
		}
		for end, n := range result.Ends {
			ends[end] += n
		}
		for kind, n := range result.Faults {
			faults[kind] += n
		}
		steps += result.Trace.Steps()
		processes += result.Processes
	}
	took := time.Since(began)
	t.Logf("%d payments in %v, %.0f a second; %d steps, %d processes\n%v\n%v", payments, took,
		float64(payments)/took.Seconds(), steps, processes, ends, faults)
}
