package contrary_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/test/contrary"
)

// The service does not have an operation that we assume: its error says which, and that nothing was done.
func TestAnOperationIsNotThere(t *testing.T) {
	d := describe(t)
	for _, mark := range derive(t) {
		if !mark.Is(contrary.ClassOperation) {
			continue
		}
		for _, change := range mark.Changes() {
			t.Run(fmt.Sprintf("%s/%s of %s", mark.Name(), change.Name(), change.Site.Operation.Name()),
				func(t *testing.T) {
					t.Parallel()
					host := &contraryHost{next: sampleService{description: d}, description: d, refuses: lacking(change)}
					made := newCall(t, change.Site.Operation, host)
					made.ask(nil)
					_, err := callOf(change.Site.Operation)(made)
					met, _ := host.occurred()
					require.Positive(t, met)
					requireLacking(t, change, err)
				})
		}
	}
}

// lacking answers as a service without the operation.
func lacking(c contrary.Change) func(*wire.Operation, *http.Request, []byte) *answered {
	return func(o *wire.Operation, _ *http.Request, _ []byte) *answered {
		switch {
		case o.Name() != c.Site.Operation.Name():
			return nil
		case c.Kind == contrary.WrongMethod:
			return refusal(http.StatusMethodNotAllowed, "method_not_allowed", "Wrong verb.", nil)
		}
		return refusal(http.StatusNotFound, "not_found", "No such resource.", nil)
	}
}

func requireLacking(t *testing.T, c contrary.Change, err error) {
	t.Helper()
	refused, is := errors.AsType[*errors.Refusal](err)
	require.True(t, is, "%T: %v", err, err)
	assert.Equal(t, c.Site.Operation.ID, refused.Operation)
	assert.ErrorContains(t, err, c.Site.Operation.ID)
	want := http.StatusNotFound
	if c.Kind == contrary.WrongMethod {
		want = http.StatusMethodNotAllowed
	}
	assert.Equal(t, want, refused.Status)
}

// A service whose short paths are under a prefix is reached by naming the prefix in the base address.
func TestTheShortPathsAreUnderAPrefix(t *testing.T) {
	d := describe(t)
	service := http.StripPrefix("/api/v1", sampleService{description: d})
	for _, o := range d.Operations {
		if o.Surface != "appapi.yaml" {
			continue
		}
		made := newCallAt(t, baseURL+"/api/v1", o, service)
		made.ask(nil)
		_, err := callOf(o)(made)
		assert.NoError(t, err, o.Name())
	}
}
