package platform_test

import (
	"context"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

const payee = "0x52908400098527886E0F7030069857D2E4169EE7"

// agreement is an escrow over an amount of USDC with these windows. Empty windows have their defaults.
func agreement(amount string, approveWithin, holdFor platformwire.EscrowDuration) platformwire.EscrowCreate {
	return platformwire.EscrowCreate{
		Amount: decimal.RequireFromString(amount), Currency: platformwire.AssetUSDC, Payee: payee,
		ApproveWithin: approveWithin, HoldFor: holdFor,
	}
}

// agreed creates an escrow that must succeed.
func (b *bench) agreed(account, key string, body platformwire.EscrowCreate) platformwire.Escrow {
	escrow, err := b.escrow(account, key, body)
	require.NoError(b, err)
	return escrow
}

func TestEscrowWindowUnits(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for window, lasts := range map[platformwire.EscrowDuration]time.Duration{
		"1s": time.Second, "0090m": 90 * time.Minute, "36h": 36 * time.Hour, "9999d": 9999 * 24 * time.Hour,
		"": time.Hour,
	} {
		escrow := b.agreed(wire.Self, "", agreement("1", window, "0s"))
		assert.Equal(t, lasts, escrow.ApproveBy.Sub(escrow.CreatedAt), window)
		assert.Equal(t, escrow.ApproveBy, escrow.HoldUntil)
	}
}

func TestEscrowTermsAreNormalized(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.agreed(wire.Self, "k", agreement("5", "", "2d"))
	body := agreement("5.000", "3600s", "48h")
	body.Payee = "0x52908400098527886e0f7030069857d2e4169ee7"
	assert.Equal(t, first, b.agreed(wire.Self, "k", body))
	assert.Equal(t, payee, first.Payee, "echoed as given")
}

func TestEscrowExplicitKeyReplaysForSevenDays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.agreed(wire.Self, "k", agreement("5", "", ""))
	b.clock.Advance(7*24*time.Hour - time.Second)
	assert.Equal(t, first.ID, b.agreed(wire.Self, "k", agreement("5", "", "")).ID)
	b.clock.Advance(time.Second)
	assert.NotEqual(t, first.ID, b.agreed(wire.Self, "k", agreement("5", "", "")).ID)
}

// An approval is useless after the window of the escrow, also if it has not expired itself.
func TestEscrowApprovalEndsWithItsWindow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	escrow := b.agreed(client, "k", agreement("5", "30s", ""))
	b.clock.Advance(30 * time.Second)
	_, err := b.act(client, escrow.ID, *escrow.Action)
	assert.ErrorIs(t, err, wire.Conflict(""))
	assert.Equal(t, "100", b.balance(client, platformwire.AssetUSDC))
}

func TestAnyIssuedEscrowApprovalConfirmsOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	escrow := b.agreed(client, "k", agreement("5", "", ""))
	b.clock.Advance(30 * time.Second)
	later, err := b.prepare(client, "k", escrow.ID, platformwire.EscrowActionTypeApprove)
	require.NoError(t, err)
	separate, err := b.prepare(client, "another", escrow.ID, platformwire.EscrowActionTypeApprove)
	require.NoError(t, err)

	_, err = b.act(client, escrow.ID, *escrow.Action)
	require.NoError(t, err, "the first approval has 30 seconds left")
	_, err = b.act(client, escrow.ID, later)
	assert.ErrorIs(t, err, wire.ApprovalConsumed())
	_, err = b.act(client, escrow.ID, separate)
	assert.ErrorIs(t, err, wire.Conflict(""), "the escrow is approved already")
	assert.Equal(t, "95", b.balance(client, platformwire.AssetUSDC))
}

func TestEscrowActionDerivedKeyIsItsAddress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	escrow := b.agreed(client, "", agreement("5", "", ""))
	assert.Equal(t, escrow.IdempotencyKey, escrow.Action.IdempotencyKey)
	_, err := b.act(client, escrow.ID, *escrow.Action)
	require.NoError(t, err)
	release, err := b.prepare(client, "", escrow.ID, platformwire.EscrowActionTypeRelease)
	require.NoError(t, err)
	again, err := b.prepare(client, "", escrow.ID, platformwire.EscrowActionTypeRelease)
	require.NoError(t, err)
	assert.Equal(t, release.IdempotencyKey, again.IdempotencyKey)
	_, err = b.act(client, escrow.ID, again)
	require.NoError(t, err)
	assert.Equal(t, "0", b.balance(escrow.ID, platformwire.AssetUSDC))
	assert.Equal(t, "-999995", b.balance("outside", platformwire.AssetUSDC),
		"the payee is outside, and so was what filled the faucet")
}

// A key that was deleted after the login cannot sign.
func TestDeveloperKeyIsRecheckedBeforeEscrowCosigning(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	escrow := b.agreed(client, "k", agreement("5", "", ""))
	c := wire.CallerOf(b.as(client, ""))
	c.Signer = b.signer(wire.Forbidden())
	ctx := wire.WithCaller(context.Background(), c)
	_, err := b.ConfirmEscrowAction(ctx, escrow.ID, "k", platformwire.ApprovalConfirm{
		ApprovalID: escrow.Action.Approval.ID, PublicKey: b.public, Signature: b.sign(escrow.Action.Approval.Payload),
	})
	assert.ErrorIs(t, err, wire.Forbidden())
	assert.Equal(t, "100", b.balance(client, platformwire.AssetUSDC))
}
