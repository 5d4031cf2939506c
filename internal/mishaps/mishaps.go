// Package mishaps is a test that each surface passes. It makes calls fail in many ways. Every error must name its call,
// and say whether money may have moved.
package mishaps

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Connection is a connection to the service in one function.
type Connection func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (c Connection) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

// Page returns the same response to every request.
func Page(status int, kind, body string) Connection {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}},
			Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// ErrUnlike is an error of a kind that the SDK does not know.
var ErrUnlike = errors.New("an error of your own kind")

// Mishap is a way for a call to fail. A nil field changes nothing.
type Mishap struct {
	Context func(context.Context) (context.Context, context.CancelFunc)
	Service Connection
}

// Canceled happens before the call.
var Canceled = Mishap{Context: func(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx, cancel
}}

// Usual returns the mishaps that can happen to any call.
func Usual() map[string]Mishap {
	return map[string]Mishap{
		"canceled before": Canceled,
		"no network":      {Service: func(*http.Request) (*http.Response, error) { return nil, ErrUnlike }},
		"not the service": {Service: Page(http.StatusOK, "text/html", "<html>hello</html>")},
		"a gateway":       {Service: Page(http.StatusBadGateway, "text/html", "<html>sorry</html>")},
		"another status":  {Service: Page(http.StatusTeapot, "application/json", "{}")},
		"a slug of its own": {Service: Page(http.StatusConflict, "application/json",
			`{"error":{"code":"of_its_own"}}`)},
	}
}

// Befall makes a call fail in this way, on a clock of its own, and checks the error that the call returns. It accepts
// nil: the call must check that itself.
func (m Mishap) Befall(t *testing.T, call func(*testing.T, context.Context, *http.Client) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		if m.Context != nil {
			begun, cancel := m.Context(ctx)
			defer cancel()
			ctx = begun
		}
		if err := call(t, ctx, &http.Client{Transport: m.Service}); err != nil {
			Check(t, err)
		}
	})
}

// Check fails the test if an error does not name its operation, does not say whether money may have moved, or has more
// than one line.
func Check(t *testing.T, err error) {
	t.Helper()
	failure, ok := errors.AsType[errors.Failure](err)
	if !ok || failure.MovedByCall() == "" {
		t.Errorf("does not say whether money may have moved: %T: %v", err, err)
	}
	if head, ok := errors.CallInfoOf(err); !ok || head.Operation == "" {
		t.Errorf("does not name the operation: %T: %v", err, err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("is not one line: %q", err)
	}
}
