package dapi_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
)

// servicesOf maps the services of a client to their types.
func servicesOf[T any]() map[string]reflect.Type {
	services := map[string]reflect.Type{}
	for field := range reflect.TypeFor[T]().Fields() {
		if field.IsExported() {
			services[field.Name] = field.Type
		}
	}
	return services
}

// A service that accounts get one day is not forgotten for self-serve.
func TestSelfServeOffersWhatAnyAccountHas(t *testing.T) {
	want := servicesOf[dapi.Account]()
	delete(want, "Verification")
	delete(want, "Rails")
	assert.Equal(t, want, servicesOf[dapi.SelfServe]())
	_, acts := reflect.TypeFor[*dapi.SelfServe]().MethodByName("For")
	assert.False(t, acts)
}

func TestAnAmountHasASign(t *testing.T) {
	for direction, want := range map[dapi.TransactionDirection]string{"in": "12.5", "out": "-12.5"} {
		signed, ok := dapi.Transaction{Amount: amount("12.5"), Direction: direction}.Signed()
		assert.True(t, ok)
		assert.Equal(t, want, signed.String())
	}
	signed, ok := dapi.Transaction{Amount: amount("12.5"), Direction: "sideways"}.Signed()
	require.False(t, ok, "it is not known whether the money arrived")
	assert.True(t, signed.IsZero())
}
