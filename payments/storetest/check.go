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
func leaseLost(t *testing.T, err error, claimed payments.Claimed) {
	t.Helper()
	lost := failure[*payments.LeaseLost](t, err)
	equal(t, "the key of the lost lease", lost.Key, claimed.Key)
	equal(t, "the lost lease", lost.Lease, claimed.Lease)
}

// sameRecord compares what a store keeps of a record.
func sameRecord(t *testing.T, got, want payments.Record) {
	t.Helper()
	if !got.Due.Equal(want.Due) {
		t.Fatalf("%q: due %v, want %v", got.Key, got.Due, want.Due)
	}
	got, want = again(t, got), again(t, want)
	got.Due, got.Position = want.Due, want.Position
	equal(t, "record", got, want)
}

// again returns a record as it is read again.
func again(t *testing.T, record payments.Record) payments.Record {
	t.Helper()
	if record.Err() != nil {
		return record
	}
	text, err := record.Encode()
	noError(t, err)
	return payments.Decode(record.Key, text)
}

func keysOf(records []payments.Record) []moneymovement.Key {
	keys := make([]moneymovement.Key, len(records))
	for i, record := range records {
		keys[i] = record.Key
	}
	return keys
}

func recordsOf(claimed []payments.Claimed) []payments.Record {
	records := make([]payments.Record, len(claimed))
	for i, one := range claimed {
		records[i] = one.Record
	}
	return records
}

// isCanceled reports the error of a context that was canceled.
func isCanceled(err error) bool { return errors.Is(err, context.Canceled) }

func equalKeys(t *testing.T, what string, records []payments.Record, want ...moneymovement.Key) {
	t.Helper()
	if got := keysOf(records); !slices.Equal(got, want) {
		t.Fatalf("%s: got %q, want %q", what, got, want)
	}
}

func equalClaims(t *testing.T, what string, claimed []payments.Claimed, want ...moneymovement.Key) {
	t.Helper()
	equalKeys(t, what, recordsOf(claimed), want...)
}
