// Package rehearsal gives the tests of the examples a sandbox host and checks of its ledger.
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

// Host starts a sandbox host whose steps are quick. It returns the host and the flags that point a program at it.
func Host(t *testing.T, options ...sandbox.Option) (host *sandbox.Host, flags []string) {
	t.Helper()
	return HostBehind(t, func(h http.Handler) http.Handler { return h }, options...)
}

// HostBehind is [Host] with another handler in front of the host.
func HostBehind(
	t *testing.T, front func(http.Handler) http.Handler, options ...sandbox.Option,
) (host *sandbox.Host, flags []string) {
	t.Helper()
	host = sandbox.New(append([]sandbox.Option{sandbox.WithInstantProgress(),
		sandbox.WithResponseValidation(func(operation string, err error) {
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

// Run runs a program. It fails the test if the program fails, or if its output does not have the steps in this order.
// It returns the output after the last step.
func Run(
	t *testing.T, program func(context.Context, []string, io.Writer) error, args []string, steps ...string,
) (rest string) {
	t.Helper()
	var out bytes.Buffer
	if err := program(t.Context(), args, &out); err != nil {
		t.Fatal(err)
	}
	return CheckSteps(t, out.String(), steps...)
}

// RunAlone runs a program as its first line does: without flags and variables, on a host of its own, in an empty
// folder.
func RunAlone(t *testing.T, program func(context.Context, []string, io.Writer) error) {
	t.Helper()
	t.Setenv("MONEYMOVEMENT_BASE_URL", "")
	t.Setenv("TMPDIR", t.TempDir())
	t.Chdir(t.TempDir())
	Run(t, program, nil, "started a sandbox host")
}

// CheckSteps fails the test unless the output has the steps in this order. It returns the output after the last step.
func CheckSteps(t *testing.T, output string, steps ...string) (rest string) {
	t.Helper()
	rest = output
	for _, step := range steps {
		_, after, found := strings.Cut(rest, step)
		if !found {
			t.Fatalf("%q is missing, or in the wrong place, in:\n%s", step, output)
		}
		rest = after
	}
	return rest
}

// Left returns how much money left client accounts, by the id of the resource, for the resources whose id has the
// prefix, such as "po_". Money that came back is subtracted.
func Left(host *sandbox.Host, prefix string) map[string]decimal.Decimal {
	left := map[string]decimal.Decimal{}
	for _, entry := range host.Ledger().Entries {
		if strings.HasPrefix(entry.Account, "cl_") && strings.HasPrefix(entry.ResourceID, prefix) {
			left[entry.ResourceID] = left[entry.ResourceID].Sub(entry.Amount)
		}
	}
	return left
}

// PaidOnce fails the test unless exactly one payout, of this amount, left client accounts.
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
