// Package unmade is a test that each surface passes. It calls every method on a client that no constructor made, and
// without a context. Each call must be refused, and must not panic.
package unmade

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/moneymovement/moneymovement-go/errors"
)

// Surface describes the surface under test.
type Surface struct {
	Makers    string // the names of the constructors, as in the refusal
	Made      []any  // clients from their constructors
	Unmade    []any  // clients that no constructor made
	Arguments []any  // for parameters of interface types; each gets the first that fits
}

// Test calls the methods of all services, and returns how many calls it made.
func (s Surface) Test(t *testing.T) (calls int) {
	t.Helper()
	var without context.Context
	noClient := func(t *testing.T, err error) { t.Helper(); Client(t, err, s.Makers) }
	for _, client := range s.Made {
		for _, made := range servicesOf(client) {
			calls += s.each(t, reflect.Zero(made.Type()), "of nil", t.Context(), noClient)
			calls += s.each(t, reflect.New(made.Type().Elem()), "of zero", t.Context(), noClient)
			calls += s.each(t, made, "without context", without, Context)
		}
	}
	for _, client := range s.Unmade {
		for _, service := range servicesOf(client) {
			calls += s.each(t, service, "of an unmade client", t.Context(), noClient)
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

// Client checks that a call was refused because no constructor made its client.
func Client(t *testing.T, err error, makers string) {
	t.Helper()
	Refused(t, err, errors.Field{Field: "client", Code: "not_made", Message: "was not made by " + makers})
}

// Context checks that a call was refused because it has no context, even if something else is wrong with it too.
func Context(t *testing.T, err error) {
	t.Helper()
	reason := errors.Field{Field: "context", Code: "required",
		Message: "is nil: pass context.Background() if there is no other"}
	if !slices.Contains(reasons(t, err), reason) {
		t.Errorf("is not refused for %q: %v", reason, err)
	}
}

// Refused checks that an operation was refused, and that this reason is the first.
func Refused(t *testing.T, err error, reason errors.Field) {
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
