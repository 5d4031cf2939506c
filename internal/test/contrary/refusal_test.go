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

// A refusal of another form than that of the platform API is still a typed one, with its status and what it says.
func TestARefusalIsOfAnotherForm(t *testing.T) {
	d := describe(t)
	for _, mark := range derive(t) {
		for _, change := range refusals(mark) {
			t.Run(fmt.Sprintf("%s/%s of %s", mark.Name(), change.Name(), change.Site.Operation.Name()),
				func(t *testing.T) {
					t.Parallel()
					refuseOtherwise(t, d, change)
				})
		}
	}
}

// refusals are the mark's cases in refusals, each of a read and of a write.
func refusals(mark *contrary.Mark) []contrary.Change {
	type kind struct {
		contrary.Case
		read bool
	}
	return firsts(mark,
		func(c contrary.Change) bool {
			return c.Class == contrary.ClassAnswer && c.Site.Side == contrary.Answer && !c.Site.Success()
		},
		func(c contrary.Change) kind { return kind{c.Case, c.Site.Operation.Method == http.MethodGet} })
}

// refusing answers everything with one refusal.
func refusing(a *answered) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range a.header {
			w.Header()[name] = values
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
	})
}

func refuseOtherwise(t *testing.T, d *wire.Description, c contrary.Change) {
	status, code := http.StatusForbidden, "forbidden"
	if c.Site.Name() == "Retry-After" {
		status, code = http.StatusTooManyRequests, "rate_limited"
	}
	as := refusal(status, code, problem, nil)
	if c.Site.Status == "422" {
		status = http.StatusUnprocessableEntity
		as = fieldRefused(c.Site.Operation, "body", "status", "missing")
	}
	as.header.Set("Retry-After", "1")
	host := &contraryHost{next: refusing(as), description: d, changes: []contrary.Change{c}}
	made := newCall(t, c.Site.Operation, host)
	made.ask(nil)
	_, err := callOf(c.Site.Operation)(made)
	met, _ := host.occurred()
	require.Positive(t, met, "the case did not occur: %v", err)
	requireRefused(t, c, err, status)
}

// requireRefused: the reference endpoints' own form is a refusal with what it says; any other is an error with its
// status.
func requireRefused(t *testing.T, c contrary.Change, err error, status int) {
	t.Helper()
	require.Error(t, err)
	assert.ErrorContains(t, err, c.Site.Operation.ID)
	unexpected, is := errors.AsType[*errors.UnexpectedResponse](err)
	if is && (c.Kind != contrary.DetailText || c.Site.Operation.Surface != "refapi.yaml") {
		assert.Equal(t, status, unexpected.Status)
		return
	}
	refused, is := errors.AsType[*errors.Refusal](err)
	require.True(t, is, "%T: %v", err, err)
	assert.Equal(t, status, refused.Status)
	if c.Site.In == "" {
		assert.ErrorContains(t, err, problem)
	}
}
