package simulation

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/internal/tier"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
)

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
	for i := range tier.Size(10, 200) {
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
