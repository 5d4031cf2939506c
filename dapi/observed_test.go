package dapi_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// begun keeps how calls begin.
type begun struct{ calls []moneymovement.CallStart }

func (b *begun) CallBegan(ctx context.Context, call moneymovement.CallStart) context.Context {
	b.calls = append(b.calls, call)
	return ctx
}

func (b *begun) AttemptEnded(context.Context, moneymovement.CallStart, moneymovement.CallAttempt) {}

func (b *begun) CallEnded(context.Context, moneymovement.CallStart, moneymovement.CallEnd) {}

// A payment that is refused before anything is sent belongs to an account and has a key, as one that is sent.
func TestObserverSeesForWhomAPaymentIsRefused(t *testing.T) {
	seen := new(begun)
	key, err := signing.Generate()
	require.NoError(t, err)
	platform, err := dapi.NewIntegrator("http://127.0.0.1:1", dapi.Developer{Email: "ops@example.com", Key: key},
		moneymovement.WithObserver(seen))
	require.NoError(t, err)
	account := platform.For("cl_1")
	nothing := dapi.PayoutCreate{ContactID: "ct_1", Amount: amount("-1"), Currency: dapi.USDC}
	escrow := dapi.EscrowCreate{Amount: amount("-1"), Currency: dapi.USDC, Payee: "0x1"}
	_, paid := account.Payouts.Pay(t.Context(), nothing, "key-1", dapi.PayTerms{})
	_, confirmed := account.Payouts.Confirm(t.Context(), nothing, &dapi.Payout{ID: "po_1", IdempotencyKey: "key-1"})
	_, unbooked := account.Payouts.Confirm(t.Context(), nothing, nil)
	_, acted := account.Escrows.Confirm(t.Context(), escrow, "esc_1", dapi.EscrowActionTypeRelease,
		&dapi.EscrowAction{IdempotencyKey: "key-1"})
	require.Len(t, seen.calls, 4)
	for i, err := range []error{paid, confirmed, unbooked, acted} {
		_ = as[*errors.InvalidInput](t, err)
		assert.Equal(t, "cl_1", seen.calls[i].Account)
		want := moneymovement.Key("key-1")
		if i == 2 {
			want = ""
		}
		assert.Equal(t, want, seen.calls[i].IdempotencyKey, seen.calls[i].Operation)
	}
}
