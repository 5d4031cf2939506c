package dapi_test

import (
	"net/http"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// baseURL is where the tests' clients send; the wire delivers whatever the address is.
const baseURL = "http://127.0.0.1"

// through makes a client send its requests by a transport.
func through(transport http.RoundTripper) moneymovement.Option {
	return moneymovement.WithHTTPClient(&http.Client{Transport: transport})
}

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// as finds an error type or fails the test.
func as[E error](t *testing.T, err error) E {
	t.Helper()
	found, ok := errors.AsType[E](err)
	require.True(t, ok, "%T: %v", err, err)
	return found
}
