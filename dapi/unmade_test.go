package dapi_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/inprocess"
	"github.com/moneymovement/moneymovement-go/signing"
)

// refusedFields calls a method of a service with short texts, lists of one entry and else zero values, and returns the fields that are refused.
func refusedFields(t *testing.T, ctx context.Context, method reflect.Value) (fields []string) { //nolint:revive // the context is what is tested
	t.Helper()
	arguments := make([]reflect.Value, 0, method.Type().NumIn())
	for i := range method.Type().NumIn() {
		if method.Type().IsVariadic() && i == method.Type().NumIn()-1 {
			break
		}
		v := reflect.New(method.Type().In(i)).Elem()
		switch {
		case v.Type() == reflect.TypeFor[context.Context]() && ctx != nil:
			v.Set(reflect.ValueOf(ctx))
		case v.Kind() == reflect.String:
			v.SetString("x")
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		arguments = append(arguments, v)
	}
	results := method.Call(arguments)
	last := results[len(results)-1]
	if last.Kind() == reflect.Func { // a list: its first step tells
		walked := last
		walked.Call([]reflect.Value{reflect.MakeFunc(walked.Type().In(0), func(step []reflect.Value) []reflect.Value {
			last = step[len(step)-1]
			return []reflect.Value{reflect.ValueOf(false)}
		})})
	}
	if last.Kind() == reflect.Struct {
		last = last.FieldByName("Err")
	}
	err, _ := last.Interface().(error)
	for _, field := range as[*errors.InvalidInput](t, err).Fields {
		fields = append(fields, field.Field)
	}
	return fields
}

// A service that no constructor made, and a call without a context, are refused by each method before it does anything.
func TestCallsThatCannotBeMade(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	integrator, err := dapi.NewWhitelabel(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
		through(&inprocess.Transport{}))
	require.NoError(t, err)
	services := []any{integrator.Clients}
	account := reflect.ValueOf(integrator.Self()).Elem()
	for i := range account.NumField() {
		if account.Type().Field(i).IsExported() {
			services = append(services, account.Field(i).Interface())
		}
	}
	for _, service := range services {
		made := reflect.ValueOf(service)
		for i := range made.NumMethod() {
			name := made.Type().String() + "." + made.Type().Method(i).Name
			assert.Contains(t, refusedFields(t, nil, made.Method(i)), "context", name)
			assert.Contains(t, refusedFields(t, t.Context(), reflect.New(made.Type().Elem()).Method(i)), "client", name)
			assert.Contains(t, refusedFields(t, t.Context(), reflect.Zero(made.Type()).Method(i)), "client", name)
		}
	}
	for _, none := range []*dapi.Integrator{nil, {}} {
		assert.Equal(t, "UseKey", as[*errors.InvalidInput](t, none.UseKey(key)).Operation)
		_, err := none.For("cl_1").Payouts.Get(t.Context(), "po_1")
		assert.Equal(t, "client", as[*errors.InvalidInput](t, err).Fields[0].Field)
	}
	as[*errors.InvalidInput](t, (*dapi.Account)(nil).UseKey(key))
	//lint:ignore SA1012 a nil context must not panic
	_, err = dapi.FileTokenStore(t.TempDir() + "/session").Load(nil) //nolint:staticcheck // as above
	assert.Equal(t, "FileTokenStore", as[*errors.InvalidInput](t, err).Operation)
	for most := range 2 {
		var refused []dapi.PayoutID
		for waited := range new(dapi.Payouts).WaitAll(t.Context(), []dapi.PayoutID{"po_1", "po_2"}) {
			as[*errors.InvalidInput](t, waited.Err)
			if refused = append(refused, waited.ID); most == 0 {
				break
			}
		}
		assert.Equal(t, []dapi.PayoutID{"po_1", "po_2"}[:most+1], refused)
	}
}
