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

// agreement is a deal over an amount of USDC with its windows, empty ones being the defaults.
func agreement(amount string, approveWithin, holdFor platformwire.EscrowDuration) platformwire.EscrowCreate {
	return platformwire.EscrowCreate{
		Amount: decimal.RequireFromString(amount), Currency: platformwire.AssetUSDC, Payee: payee,
		ApproveWithin: approveWithin, HoldFor: holdFor,
	}
}

// agreed creates a deal that must succeed.
func (b *bench) agreed(account, key string, body platformwire.EscrowCreate) platformwire.Escrow {
	deal, err := b.escrow(account, key, body)
	require.NoError(b, err)
	return deal
}

func TestWindowsInEveryUnit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for window, lasts := range map[platformwire.EscrowDuration]time.Duration{
		"1s": time.Second, "0090m": 90 * time.Minute, "36h": 36 * time.Hour, "9999d": 9999 * 24 * time.Hour,
		"": time.Hour,
	} {
		deal := b.agreed(wire.Self, "", agreement("1", window, "0s"))
		assert.Equal(t, lasts, deal.ApproveBy.Sub(deal.CreatedAt), window)
		assert.Equal(t, deal.ApproveBy, deal.HoldUntil)
	}
}

func TestSpellingsOfOneDeal(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.agreed(wire.Self, "k", agreement("5", "", "2d"))
	body := agreement("5.000", "3600s", "48h")
	body.Payee = "0x52908400098527886e0f7030069857d2e4169ee7"
	assert.Equal(t, first, b.agreed(wire.Self, "k", body))
	assert.Equal(t, payee, first.Payee, "echoed as given")
}

func TestExplicitKeyOfADealReplaysForSevenDays(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.agreed(wire.Self, "k", agreement("5", "", ""))
	b.clock.Advance(7*24*time.Hour - time.Second)
	assert.Equal(t, first.ID, b.agreed(wire.Self, "k", agreement("5", "", "")).ID)
	b.clock.Advance(time.Second)
	assert.NotEqual(t, first.ID, b.agreed(wire.Self, "k", agreement("5", "", "")).ID)
}

// An approval that outlives the deal's own window is of no use.
func TestApprovalsEndWithTheirWindow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	deal := b.agreed(client, "k", agreement("5", "30s", ""))
	b.clock.Advance(30 * time.Second)
	_, err := b.act(client, deal.ID, *deal.Action)
	assert.ErrorIs(t, err, wire.Conflict(""))
	assert.Equal(t, "100", b.balance(client, platformwire.AssetUSDC))
}

func TestEveryIssuedApprovalCountsAndOneIsUsed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	deal := b.agreed(client, "k", agreement("5", "", ""))
	b.clock.Advance(30 * time.Second)
	later, err := b.prepare(client, "k", deal.ID, platformwire.EscrowActionTypeApprove)
	require.NoError(t, err)
	separate, err := b.prepare(client, "another", deal.ID, platformwire.EscrowActionTypeApprove)
	require.NoError(t, err)

	_, err = b.act(client, deal.ID, *deal.Action)
	require.NoError(t, err, "the first approval has 30 seconds left")
	_, err = b.act(client, deal.ID, later)
	assert.ErrorIs(t, err, wire.ApprovalConsumed())
	_, err = b.act(client, deal.ID, separate)
	assert.ErrorIs(t, err, wire.Conflict(""), "the deal is approved already")
	assert.Equal(t, "95", b.balance(client, platformwire.AssetUSDC))
}

func TestDerivedKeyOfAnActionIsItsAddress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	deal := b.agreed(client, "", agreement("5", "", ""))
	assert.Equal(t, deal.IdempotencyKey, deal.Action.IdempotencyKey)
	_, err := b.act(client, deal.ID, *deal.Action)
	require.NoError(t, err)
	release, err := b.prepare(client, "", deal.ID, platformwire.EscrowActionTypeRelease)
	require.NoError(t, err)
	again, err := b.prepare(client, "", deal.ID, platformwire.EscrowActionTypeRelease)
	require.NoError(t, err)
	assert.Equal(t, release.IdempotencyKey, again.IdempotencyKey)
	_, err = b.act(client, deal.ID, again)
	require.NoError(t, err)
	assert.Equal(t, "0", b.balance(deal.ID, platformwire.AssetUSDC))
	assert.Equal(t, "-999995", b.balance("outside", platformwire.AssetUSDC),
		"the payee is outside, and so was what filled the faucet")
}

// A key that was deleted between login and confirm signs nothing.
func TestDeveloperKeyIsReadAnewBeforeADealIsCosigned(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	client := b.fundedClient("acme@example.com")
	deal := b.agreed(client, "k", agreement("5", "", ""))
	c := wire.CallerOf(b.as(client, ""))
	c.Signer = b.signer(wire.Forbidden())
	ctx := wire.WithCaller(context.Background(), c)
	_, err := b.ConfirmEscrowAction(ctx, deal.ID, "k", platformwire.ApprovalConfirm{
		ApprovalID: deal.Action.Approval.ID, PublicKey: b.public, Signature: b.sign(deal.Action.Approval.Payload),
	})
	assert.ErrorIs(t, err, wire.Forbidden())
	assert.Equal(t, "100", b.balance(client, platformwire.AssetUSDC))
}
