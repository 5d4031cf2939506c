package fakes

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/recorded"
)

// call is one call that the backend made.
type call struct {
	method  string
	payout  dapi.PayoutCreate
	key     moneymovement.Key
	options dapi.PayOptions // of Pay
}

// fakePayouts records the calls. It fails with errs in turn, and then returns payout.
type fakePayouts struct {
	payout *dapi.Payout
	errs   []error
	calls  []call
}

func (f *fakePayouts) Book(
	_ context.Context, payout dapi.PayoutCreate, options ...moneymovement.WriteOption,
) (*dapi.Payout, error) {
	settings := moneymovement.CallSettingsOf(options...)
	return f.respond(call{method: "Book", payout: payout, key: settings.Key})
}

func (f *fakePayouts) Pay(
	_ context.Context, payout dapi.PayoutCreate, key moneymovement.Key, options ...dapi.PayOption,
) (*dapi.Payout, error) {
	return f.respond(call{"Pay", payout, key, dapi.PayOptionsOf(options...)})
}

func (f *fakePayouts) respond(c call) (*dapi.Payout, error) {
	f.calls = append(f.calls, c)
	if len(f.errs) > 0 {
		err := f.errs[0]
		f.errs = f.errs[1:]
		return nil, err
	}
	return f.payout, nil
}

// recordedPayout returns a payout with all the fields that the service sends.
func recordedPayout(t *testing.T, operation string) *dapi.Payout {
	t.Helper()
	body, err := recorded.Body(operation, time.Now())
	require.NoError(t, err)
	var payout dapi.Payout
	require.NoError(t, json.Unmarshal(body, &payout))
	return &payout
}
