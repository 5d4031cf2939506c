package session

import (
	"encoding/base64"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/signing"
)

// TestLoginsAreKept opens everything a second time: it stands where it stood.
func TestLoginsAreKept(t *testing.T) {
	kept, clk := new(storetest.Encoded), frozen()
	registry, tokens, challenges := NewRegistry(clk, kept), NewTokens(clk, kept), NewChallenges(clk, kept)
	register := func(email string, allowlist ...string) Key {
		made, err := signing.Generate()
		require.NoError(t, err)
		key, err := registry.Register(Registration{
			Email: email, PublicKey: base64.StdEncoding.EncodeToString(made.PublicKey()), Allowlist: allowlist,
		})
		require.NoError(t, err)
		return key
	}
	key, gone := register("ops@example.com", "192.0.2.0/24", "2001:db8::1"), register("dev@example.com")
	require.NoError(t, registry.Delete(gone.ID))
	opened, expired := tokens.mint(key.ID), tokens.mint(key.ID)
	tokens.Expire(expired.access)
	tokens.AddForeign("uat_1")
	usable, err := challenges.issue("ops@example.com", clk.Now().Add(time.Minute))
	require.NoError(t, err)
	used, err := challenges.issue("ops@example.com", clk.Now().Add(time.Minute))
	require.NoError(t, err)
	require.NoError(t, challenges.consume(used.ID))
	assert.Empty(t, kept.Stale())

	again, renewed, asked := NewRegistry(clk, kept), NewTokens(clk, kept), NewChallenges(clk, kept)
	assert.Equal(t, registry.Keys(), again.Keys())
	assert.Equal(t, registry.Records(), again.Records())
	_, standing := again.lookUp(gone.Email, gone.PublicKey)
	assert.Equal(t, deletedBefore, standing)
	_, err = again.Check(key.ID, netip.MustParseAddr("192.0.2.7"), ScopeRead)
	assert.NoError(t, err)
	_, err = again.Check(key.ID, netip.MustParseAddr("198.51.100.7"), ScopeRead)
	assert.ErrorIs(t, err, wire.Forbidden())

	assert.Equal(t, tokens.Records(), renewed.Records())
	holder, err := renewed.Authenticate(opened.access)
	require.NoError(t, err)
	assert.Equal(t, key.ID, holder)
	_, err = renewed.Authenticate(expired.access)
	assert.ErrorIs(t, err, wire.TokenExpired())
	_, err = renewed.Authenticate("uat_1")
	assert.ErrorIs(t, err, wire.DeveloperSessionRequired())
	assert.Equal(t, opened.refreshExpiresAt, renewed.renew(opened.refresh).refreshExpiresAt)

	found, err := asked.open(usable.ID)
	require.NoError(t, err)
	assert.Equal(t, usable, found)
	_, err = asked.open(used.ID)
	assert.ErrorIs(t, err, wire.ChallengeConsumed())

	again.Reset(key)
	renewed.Reset()
	asked.Reset()
	assert.Equal(t, 2, NewRegistry(clk, kept).Records(), "the account and the key")
	assert.Zero(t, NewTokens(clk, kept).Records())
	assert.Zero(t, NewChallenges(clk, kept).issued.Len())
}
