package fakes

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/recorded"
)

// call is one call that the backend made.
type call struct {
	method string
	payout dapi.PayoutCreate
	key    moneymovement.Key
	maxFee string
}

// fakePayouts records the calls. Book returns booked. Pay signs, and returns the ends in turn.
type fakePayouts struct {
	booked *dapi.Payout
	ends   []dapi.Payment
	calls  []call
}

func (f *fakePayouts) Book(
	_ context.Context, payout dapi.PayoutCreate, options ...moneymovement.WriteOption,
) (*dapi.Payout, error) {
	f.calls = append(f.calls, call{method: "Book", payout: payout, key: moneymovement.CallSettingsOf(options...).Key})
	return f.booked, nil
}

func (f *fakePayouts) Pay(
	ctx context.Context, payout dapi.PayoutCreate, key moneymovement.Key, terms dapi.PayTerms,
	_ ...moneymovement.CallOption,
) (dapi.Payment, error) {
	f.calls = append(f.calls, call{"Pay", payout, key, terms.Bounds.MaxFee.String()})
	if err := terms.Journal(ctx, dapi.History{PayoutID: "po_1"}); err != nil {
		return dapi.Payment{}, err
	}
	end := f.ends[0]
	f.ends = f.ends[1:]
	switch end.State {
	case moneymovement.PaymentPaid:
		return end, nil
	case moneymovement.PaymentNotPaid, moneymovement.PaymentNeedsDecision, moneymovement.PaymentEnded:
		return end, end.Refusal
	}
	return end, &errors.OutcomeUnknown{}
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
