package storetest

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/payments"
)

// The checks of the tests. A library for tests would be a requirement of the SDK.

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("unexpected error: %v", err)
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// failure checks the type of an error, and returns it.
func failure[E error](t *testing.T, err error) (found E) {
	t.Helper()
	if !errors.As(err, &found) {
		t.Fatalf("got the error %v, want one of the type %T", err, found)
	}
	return found
}

// fails checks the type of an error.
func fails[E error](t *testing.T, err error) {
	t.Helper()
	_ = failure[E](t, err)
}

// leaseLost checks that a call failed because of its lease.
func leaseLost(t *testing.T, err error, row payments.Row) {
	t.Helper()
	lost := failure[*payments.LeaseLost](t, err)
	equal(t, "the key of the lost lease", lost.Key, row.Key)
	equal(t, "the lost lease", lost.Lease, row.Lease)
}

// sameRow compares what a store keeps of a row.
func sameRow(t *testing.T, got, want payments.Row) {
	t.Helper()
	if !got.Due.Equal(want.Due) {
		t.Fatalf("%q: due %v, want %v", got.Key, got.Due, want.Due)
	}
	equal(t, "data of "+string(got.Key), string(got.Data), string(want.Data))
	got.Due, got.Data, got.Position, got.Lease = want.Due, want.Data, want.Position, want.Lease
	equal(t, "row", got, want)
}

func keysOf(rows []payments.Row) []moneymovement.Key {
	keys := make([]moneymovement.Key, len(rows))
	for i, row := range rows {
		keys[i] = row.Key
	}
	return keys
}

// isCanceled reports the error of a context that was canceled.
func isCanceled(err error) bool { return errors.Is(err, context.Canceled) }

func equalKeys(t *testing.T, what string, rows []payments.Row, want ...moneymovement.Key) {
	t.Helper()
	if got := keysOf(rows); !slices.Equal(got, want) {
		t.Fatalf("%s: got %q, want %q", what, got, want)
	}
}
