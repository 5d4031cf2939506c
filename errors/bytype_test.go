package errors_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
)

func TestHasCode(t *testing.T) {
	reused := &errors.IdempotencyKeyReused{}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"itself":                      {reused, true},
		"the common part alone":       {&errors.Refusal{Code: errors.CodeIdempotencyKeyReused}, true},
		"wrapped":                     {fmt.Errorf("paying: %w", reused), true},
		"second of two":               {errors.Join(&errors.Gone{}, fmt.Errorf("then: %w", reused)), true},
		"not sent":                    {&errors.NotDelivered{Err: reused}, true},
		"another":                     {&errors.Gone{}, false},
		"no refusal":                  {errors.Join(io.EOF, nil), false},
		"nothing":                     {nil, false},
		"inside of an unknown":        {&errors.InDoubt{Cause: reused}, false},
		"inside of a wrapped unknown": {fmt.Errorf("paying: %w", &errors.InDoubt{Cause: reused}), false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, errors.HasCode(tc.err, errors.CodeIdempotencyKeyReused))
		})
	}
	unknown := &errors.Unrecognized{Refusal: errors.Refusal{Code: "wallet_frozen"}}
	assert.True(t, errors.HasCode(unknown, "wallet_frozen"), "the set of slugs is open")
}

func TestLowBalanceIsToldFromNoRouting(t *testing.T) {
	const low = `{"error":{"code":%q,"message":"no","details":{"available":"0","currency":"USDC"}}}`
	var fundable *errors.PayoutNotFundable
	require.ErrorAs(t, decode(409, fmt.Sprintf(low, "payout_not_fundable")), &fundable)
	assert.True(t, fundable.LowBalance())
	assert.True(t, fundable.Available.IsZero())
	assert.Equal(t, "USDC", fundable.Currency)
	assert.Equal(t, errors.RemedyChangeAccount, fundable.Remedy())
	assert.False(t, fundable.Retryable(), "not before an operator has acted")

	var conflict *errors.Conflict
	require.ErrorAs(t, decode(409, fmt.Sprintf(low, "conflict")), &conflict)
	assert.True(t, conflict.LowBalance())
	assert.Equal(t, errors.RemedyChangeAccount, conflict.Remedy())

	require.ErrorAs(t, decode(409, `{"error":{"code":"payout_not_fundable","message":"no"}}`), &fundable)
	assert.False(t, fundable.LowBalance())
	require.ErrorAs(t, decode(409, `{"error":{"code":"conflict","message":"no"}}`), &conflict)
	assert.False(t, conflict.LowBalance())
	assert.True(t, (&errors.PayoutNotFundable{Available: decimal.NewFromInt(3)}).LowBalance())
	assert.True(t, (&errors.Conflict{Currency: "EURC"}).LowBalance())
}

func TestUnknownCodeHasNoEntry(t *testing.T) {
	unknown := errors.Code("escrow_not_open")
	assert.False(t, unknown.Known())
	assert.Zero(t, unknown.Status())
	assert.Empty(t, unknown.Condition())
}
