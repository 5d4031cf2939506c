// Package rehearsal gives the tests of the examples a host whose books they can open.
package rehearsal

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Host starts a sandbox host on which everything progresses at once, and returns it with the flags that point a program at it.
func Host(t *testing.T, options ...sandbox.Option) (host *sandbox.Host, flags []string) {
	t.Helper()
	return HostBehind(t, func(h http.Handler) http.Handler { return h }, options...)
}

// HostBehind is [Host] with something in front of it.
func HostBehind(
	t *testing.T, front func(http.Handler) http.Handler, options ...sandbox.Option,
) (host *sandbox.Host, flags []string) {
	t.Helper()
	host = sandbox.New(append([]sandbox.Option{sandbox.WithInstantProgress(), sandbox.WithResponseValidation(func(operation string, err error) {
		t.Errorf("%s: %v", operation, err)
	})}, options...)...)
	server := httptest.NewServer(front(host))
	t.Cleanup(server.Close)
	keyFile := filepath.Join(t.TempDir(), "developer.pem")
	if err := host.Credentials().Key.Save(keyFile); err != nil {
		t.Fatal(err)
	}
	return host, []string{"-base-url", server.URL, "-email", host.Credentials().Email, "-key", keyFile}
}

// Run runs a program, which has to end well and to tell the steps in this order, and returns what it tells after the
// last.
func Run(
	t *testing.T, program func(context.Context, []string, io.Writer) error, args []string, steps ...string,
) (rest string) {
	t.Helper()
	var out bytes.Buffer
	if err := program(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	return Told(t, out.String(), steps...)
}

// Told fails the test unless the steps occur in the output, in this order, and answers what comes after the last.
func Told(t *testing.T, output string, steps ...string) (rest string) {
	t.Helper()
	rest = output
	for _, step := range steps {
		_, after, found := strings.Cut(rest, step)
		if !found {
			t.Fatalf("%q does not come in its place in:\n%s", step, output)
		}
		rest = after
	}
	return rest
}

// Left adds up, by resource, what left client accounts under a kind of movement such as "payout". Money that came back
// counts against it.
func Left(host *sandbox.Host, prefix string) map[string]decimal.Decimal {
	left := map[string]decimal.Decimal{}
	for _, entry := range host.Ledger().Entries {
		if strings.HasPrefix(entry.Account, "cl_") && strings.HasPrefix(entry.ResourceID, prefix) {
			left[entry.ResourceID] = left[entry.ResourceID].Sub(entry.Amount)
		}
	}
	return left
}

// PaidOnce fails the test unless one payout, of this amount, left client accounts.
func PaidOnce(t *testing.T, host *sandbox.Host, amount string) {
	t.Helper()
	left := Left(host, "po_")
	for _, paid := range left {
		if len(left) == 1 && paid.String() == amount {
			return
		}
	}
	t.Errorf("%s should have left in one payout, and not %v", amount, left)
}
