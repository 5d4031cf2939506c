package testkit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
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

// ErrCustom is an error of a type that the SDK does not know.
var ErrCustom = errors.New("an error of your own kind")

// Fault is a way for a call to fail. A nil field changes nothing.
type Fault struct {
	Context func(context.Context) (context.Context, context.CancelFunc)
	Service Connection
}

// Canceled happens before the call.
var Canceled = Fault{Context: func(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx, cancel
}}

// CommonFaults returns the faults that can happen to any call.
func CommonFaults() map[string]Fault {
	return map[string]Fault{
		"canceled before": Canceled,
		"no network":      {Service: func(*http.Request) (*http.Response, error) { return nil, ErrCustom }},
		"not the service": {Service: Page(http.StatusOK, "text/html", "<html>hello</html>")},
		"a gateway":       {Service: Page(http.StatusBadGateway, "text/html", "<html>sorry</html>")},
		"another status":  {Service: Page(http.StatusTeapot, "application/json", "{}")},
		"a slug of its own": {Service: Page(http.StatusConflict, "application/json",
			`{"error":{"code":"of_its_own"}}`)},
	}
}

// CheckCall makes a call fail in this way, on a clock of its own, and checks the error that the call returns. It
// accepts nil: the call must check that itself.
func (f Fault) CheckCall(t *testing.T, call func(*testing.T, context.Context, *http.Client) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		if f.Context != nil {
			begun, cancel := f.Context(ctx)
			defer cancel()
			ctx = begun
		}
		if err := call(t, ctx, &http.Client{Transport: f.Service}); err != nil {
			CheckError(t, err)
		}
	})
}

// CheckError checks that an error names its operation, says whether money may have moved, and is one line.
func CheckError(t *testing.T, err error) {
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

// Surface describes the surface under test.
type Surface struct {
	Constructors string // the names of the constructors, as in the refusal
	Clients      []any  // clients from their constructors
	ZeroClients  []any  // clients that no constructor made
	Arguments    []any  // for parameters of interface types; each gets the first that fits
}

// Test calls the methods of all services, and returns how many calls it made.
func (s Surface) Test(t *testing.T) (calls int) {
	t.Helper()
	var without context.Context
	noClient := func(t *testing.T, err error) { t.Helper(); CheckNoClient(t, err, s.Constructors) }
	for _, client := range s.Clients {
		for _, made := range servicesOf(client) {
			calls += s.each(t, reflect.Zero(made.Type()), "of nil", t.Context(), noClient)
			calls += s.each(t, reflect.New(made.Type().Elem()), "of zero", t.Context(), noClient)
			calls += s.each(t, made, "without context", without, CheckNoContext)
		}
	}
	for _, client := range s.ZeroClients {
		for _, service := range servicesOf(client) {
			calls += s.each(t, service, "of a zero client", t.Context(), noClient)
		}
	}
	return calls
}

// Wallet signs everything.
type Wallet struct{ Asked bool }

// Address implements model.CardSigner.
func (*Wallet) Address() string { return "0x1" }

// SignMessage implements model.CardSigner.
func (w *Wallet) SignMessage(context.Context, []byte) (string, error) {
	w.Asked = true
	return "0x2", nil
}

// servicesOf returns the services of a client. For a zero client, services are nil pointers.
func servicesOf(client any) (services []reflect.Value) {
	v := reflect.ValueOf(client).Elem()
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			services = append(services, v.Field(i))
		}
	}
	return services
}

//nolint:revive // the service is the subject, and the context an argument
func (s Surface) each(
	t *testing.T, service reflect.Value, kind string, ctx context.Context, refused func(*testing.T, error),
) (calls int) {
	t.Helper()
	for i := range service.NumMethod() {
		method := service.Method(i).Type()
		if method.NumIn() == 0 || method.In(0) != reflect.TypeFor[context.Context]() {
			continue // it makes no call
		}
		calls++
		name := fmt.Sprintf("%s.%s %s", strings.TrimPrefix(service.Type().String(), "*"), service.Type().Method(i).Name,
			kind)
		t.Run(name, func(t *testing.T) { refused(t, s.call(t, service.Method(i), ctx)) })
	}
	return calls
}

// call calls a method with valid arguments, and returns its error.
func (s Surface) call(t *testing.T, method reflect.Value, ctx context.Context) error { //nolint:revive // as above
	t.Helper()
	defer func() {
		if reason := recover(); reason != nil {
			t.Errorf("panics: %v", reason)
		}
	}()
	arguments := make([]reflect.Value, 0, method.Type().NumIn())
	for i := range method.Type().NumIn() {
		if method.Type().IsVariadic() && i == method.Type().NumIn()-1 {
			break
		}
		arguments = append(arguments, s.argument(method.Type().In(i), ctx))
	}
	results := method.Call(arguments)
	last := results[len(results)-1]
	if last.Kind() == reflect.Func { // an iterator of a list
		last = firstOf(last)
	}
	return errorOf(last)
}

func (s Surface) argument(of reflect.Type, ctx context.Context) reflect.Value { //nolint:revive // as above
	v := reflect.New(of).Elem()
	switch {
	case of == reflect.TypeFor[context.Context]():
		if ctx != nil {
			v.Set(reflect.ValueOf(ctx))
		}
	case of.Kind() == reflect.Interface:
		for _, given := range slices.Backward(s.Arguments) {
			if reflect.TypeOf(given).Implements(of) {
				v.Set(reflect.ValueOf(given))
			}
		}
	case of.Kind() == reflect.String:
		v.SetString("x")
	case of.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(of, 1, 1))
	}
	return v
}

// firstOf returns the last value of the first step of an iterator: an error, or a struct that holds one.
func firstOf(list reflect.Value) (first reflect.Value) {
	yield := reflect.MakeFunc(list.Type().In(0), func(values []reflect.Value) []reflect.Value {
		first = values[len(values)-1]
		return []reflect.Value{reflect.ValueOf(false)}
	})
	list.Call([]reflect.Value{yield})
	return first
}

func errorOf(v reflect.Value) error {
	if !v.IsValid() {
		return nil
	}
	if v.Kind() == reflect.Struct {
		v = v.FieldByName("Err")
	}
	err, _ := v.Interface().(error)
	return err
}

// CheckNoClient checks that a call was refused because no constructor made its client.
func CheckNoClient(t *testing.T, err error, makers string) {
	t.Helper()
	CheckRefused(t, err, errors.Field{Field: "client", Code: "not_made", Message: "was not made by " + makers})
}

// CheckNoContext checks that a call was refused because it has no context, even if something else is wrong with it too.
func CheckNoContext(t *testing.T, err error) {
	t.Helper()
	reason := errors.Field{Field: "context", Code: "required",
		Message: "is nil: pass context.Background() if there is no other"}
	if !slices.Contains(reasons(t, err), reason) {
		t.Errorf("is not refused for %q: %v", reason, err)
	}
}

// CheckRefused checks that an operation was refused, and that this reason is the first.
func CheckRefused(t *testing.T, err error, reason errors.Field) {
	t.Helper()
	if all := reasons(t, err); len(all) == 0 || all[0] != reason {
		t.Errorf("is not refused for %q: %v", reason, err)
	}
}

func reasons(t *testing.T, err error) []errors.Field {
	t.Helper()
	refused, is := errors.AsType[*errors.InvalidInput](err)
	if !is {
		t.Fatalf("is not refused: %v", err)
	}
	if refused.Operation == "" {
		t.Errorf("does not name what was refused: %v", err)
	}
	return refused.Fields
}

// CountingKey counts how often another signer signs, and can call a function just before. It is safe for concurrent
// use.
type CountingKey struct {
	signing.Signer

	Fails error // the error of signing an approval; nil signs it. Set it while nothing is signed

	mu                sync.Mutex
	logins, approvals int
	before            func(approvals int)
}

// Sign implements signing.Signer.
func (k *CountingKey) Sign(ctx context.Context, message []byte) ([]byte, error) {
	k.mu.Lock()
	before, approvals := k.before, 0
	if bytes.Contains(message, []byte(`"approvalId"`)) {
		k.approvals++
		approvals = k.approvals
	} else {
		k.logins++
	}
	k.mu.Unlock()
	if before != nil && approvals > 0 {
		before(approvals)
	}
	if approvals > 0 && k.Fails != nil {
		return nil, k.Fails
	}
	return k.Signer.Sign(ctx, message)
}

// BeforeApproval sets a function that is called before each approval is signed. It gets the approval's number, 1 for
// the first of this key.
func (k *CountingKey) BeforeApproval(f func(n int)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.before = f
}

// Approvals returns how many approvals the key was asked to sign.
func (k *CountingKey) Approvals() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.approvals
}

// Logins returns how many login challenges the key was asked to sign.
func (k *CountingKey) Logins() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.logins
}
