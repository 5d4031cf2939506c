package session

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
	"github.com/moneymovement/moneymovement-go/signing"
)

func frozen() *clock.Clock {
	start := time.Unix(1_800_000_000, 0)
	return clock.New(func() time.Time { return start })
}

func publicKey(t *testing.T) string {
	t.Helper()
	key, err := signing.Generate()
	require.NoError(t, err)
	return key.PublicKeyBase64()
}

func TestAllowlists(t *testing.T) {
	registry := NewKeyRegistry(frozen(), store.Memory{})
	for _, c := range []struct {
		name      string
		allowlist []string
		source    string
		want      bool
	}{
		{"none: every address", nil, "203.0.113.9", true},
		{"an address", []string{"203.0.113.9"}, "203.0.113.9", true},
		{"another address", []string{"203.0.113.9"}, "203.0.113.10", false},
		{"a network", []string{"203.0.113.77/24"}, "203.0.113.10", true},
		{"another network", []string{"203.0.113.0/24"}, "198.51.100.1", false},
		{"one of several", []string{"203.0.113.0/24", "2001:db8::/32"}, "2001:db8::7", true},
		{"IPv4 in IPv6", []string{"203.0.113.0/24"}, "::ffff:203.0.113.9", true},
		{"an entry as IPv4 in IPv6", []string{"::ffff:203.0.113.9"}, "203.0.113.9", true},
		{"a network as IPv4 in IPv6", []string{"::ffff:203.0.113.0/120"}, "203.0.113.9", true},
		{"another network as IPv4 in IPv6", []string{"::ffff:203.0.113.0/120"}, "203.0.114.9", false},
		{"a network around IPv4 in IPv6", []string{"::/0"}, "203.0.113.9", false},
		{"with a zone", []string{"fe80::/10"}, "fe80::1%eth0", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, err := registry.Register(Registration{Email: "ops@example.com", PublicKey: publicKey(t),
				Allowlist: c.allowlist})
			require.NoError(t, err)
			_, err = registry.Check(key.ID, netip.MustParseAddr(c.source), ScopeRead)
			if c.want {
				assert.NoError(t, err)
			} else {
				assert.Equal(t, wire.Forbidden(), err)
			}
		})
	}
}

func TestRegistrationErrorsNameFields(t *testing.T) {
	registry := NewKeyRegistry(frozen(), store.Memory{})
	good := Registration{Email: "ops@example.com", PublicKey: publicKey(t)}
	other, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	otherCurve, err := x509.MarshalPKIXPublicKey(&other.PublicKey)
	require.NoError(t, err)
	for field, change := range map[string]func(*Registration){
		"email":     func(r *Registration) { r.Email = " " },
		"publicKey": func(r *Registration) { r.PublicKey = base64.StdEncoding.EncodeToString(otherCurve) },
		"scopes.1":  func(r *Registration) { r.Scopes = []string{"read", "write"} },
		"allowlist": func(r *Registration) { r.Allowlist = []string{} },
		"allowlist.64": func(r *Registration) {
			r.Allowlist = append(slices.Repeat([]string{"10.0.0.0/8"}, 64), "everywhere")
		},
		"allowlist.0": func(r *Registration) { r.Allowlist = []string{"fe80::1%eth0"} },
	} {
		t.Run(field, func(t *testing.T) {
			registration := good
			change(&registration)
			_, err := registry.Register(registration)
			var refusal *wire.Refusal
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, "validation_failed", refusal.Code)
			fields, ok := refusal.Details["fields"].([]wire.Field)
			require.True(t, ok)
			var names []string
			for _, wrong := range fields {
				names = append(names, wrong.Field)
			}
			assert.Contains(t, names, field)
		})
	}
	tooLong := good
	tooLong.PublicKey = base64.StdEncoding.EncodeToString(make([]byte, 3073))
	_, err = registry.Register(tooLong)
	assert.ErrorIs(t, err, wire.ValidationFailed(""))
	assert.Empty(t, registry.Keys())
}

func TestDeveloperKeyIsUniquePerAccount(t *testing.T) {
	registry := NewKeyRegistry(frozen(), store.Memory{})
	registration := Registration{Email: "ops@example.com", PublicKey: publicKey(t)}
	first, err := registry.Register(registration)
	require.NoError(t, err)
	_, err = registry.Register(registration)
	assert.Equal(t, wire.DeveloperKeyAlreadyExists(), err)

	registration.Email = "Other@Example.com "
	other, err := registry.Register(registration)
	require.NoError(t, err)
	assert.Equal(t, "other@example.com", other.Email)
	assert.NotEqual(t, first.Owner, other.Owner)

	registry.Reset(first)
	assert.Equal(t, []Key{first}, registry.Keys())
	_, standing := registry.lookup("other@example.com", other.PublicKey)
	assert.Equal(t, unknownAccount, standing)
}

func TestConcurrentConsumeSucceedsOnce(t *testing.T) {
	challenges := NewChallenges(frozen(), store.Memory{})
	issued, err := challenges.issue("ops@example.com", challenges.clock.Now().Add(time.Minute))
	require.NoError(t, err)
	var succeeded atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if challenges.consume(issued.ID) == nil {
				succeeded.Add(1)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, succeeded.Load())
	assert.Equal(t, wire.ChallengeConsumed(), challenges.consume(issued.ID))
}

// concurrentConsumer is a context that calls a function when a value is first read, right before the challenge is
// consumed.
type concurrentConsumer struct {
	context.Context
	happens func()
}

func (m *concurrentConsumer) Value(key any) any {
	if happens := m.happens; happens != nil {
		m.happens = nil
		happens()
	}
	return m.Context.Value(key)
}

func TestChallengeConsumedConcurrentlyIsRefused(t *testing.T) {
	clk := frozen()
	login := &Login{
		Clock: clk, Registry: NewKeyRegistry(clk, store.Memory{}), Tokens: NewTokens(clk, store.Memory{}),
		Challenges: NewChallenges(clk, store.Memory{}),
		Windows:    clock.NewCounters(clk, func() time.Duration { return 0 }),
		Settings:   func() *deployment.Settings { settings := deployment.DefaultSettings(); return &settings },
	}
	key, err := signing.Generate()
	require.NoError(t, err)
	_, err = login.Registry.Register(Registration{Email: "ops@example.com", PublicKey: key.PublicKeyBase64()})
	require.NoError(t, err)
	issued, err := login.Challenges.issue("ops@example.com", clk.Now().Add(time.Minute))
	require.NoError(t, err)
	signature, err := key.Sign(t.Context(), issued.Payload)
	require.NoError(t, err)
	request := platformwire.TokenRequest{
		ChallengeID: issued.ID, PublicKey: key.PublicKey(), Signature: signature,
	}

	var first error
	ctx := &concurrentConsumer{t.Context(), func() { _, first = login.CreateToken(t.Context(), request) }}
	_, second := login.CreateToken(ctx, request)
	assert.NoError(t, first)
	assert.Equal(t, wire.ChallengeConsumed(), second)
	assert.Equal(t, 1, login.Tokens.access.Len())
}

func TestChallengePayloadHasPurposeLogin(t *testing.T) {
	challenges := NewChallenges(frozen(), store.Memory{})
	issued, err := challenges.issue("ops@example.com", challenges.clock.Now().Add(time.Minute))
	require.NoError(t, err)
	assert.Contains(t, string(issued.Payload), `"purpose":"login"`)
	canonical := jsontext.Value(slices.Clone(issued.Payload))
	require.NoError(t, canonical.Canonicalize())
	assert.Equal(t, string(canonical), string(issued.Payload))
}

func TestExpiredChallengesAndTokensAreDeleted(t *testing.T) {
	clk := frozen()
	challenges, tokens := NewChallenges(clk, store.Memory{}), NewTokens(clk, store.Memory{})
	fill := func() {
		for range sweepAt {
			_, err := challenges.issue("ops@example.com", clk.Now().Add(time.Minute))
			require.NoError(t, err)
			tokens.mint("dk_1")
		}
	}
	fill()
	old := tokens.mint("dk_1")
	clk.Advance(RefreshLifetime + 25*time.Hour)
	fill()
	assert.LessOrEqual(t, challenges.issued.Len(), sweepAt+1)
	assert.LessOrEqual(t, tokens.access.Len(), 2*sweepAt)
	_, err := tokens.Authenticate(old.access)
	assert.Error(t, err)
}

func TestTokensAreRandom(t *testing.T) {
	tokens := NewTokens(frozen(), store.Memory{})
	a, b := tokens.mint("dk_1"), tokens.mint("dk_1")
	assert.NotEqual(t, a.access, b.access)
	assert.GreaterOrEqual(t, len(strings.TrimPrefix(a.refresh, "rt_")), 52, "at least 256 bits")
}

// Anybody can request challenges, so they have a limit of their own. Challenges that cannot be used any more are
// deleted first.
func TestChallengeLimit(t *testing.T) {
	clk := frozen()
	challenges := NewChallenges(clk, store.Memory{})
	challenges.limit = 3
	for range challenges.limit {
		_, err := challenges.issue("anybody@example.com", clk.Now().Add(time.Minute))
		require.NoError(t, err)
	}
	_, err := challenges.issue("anybody@example.com", clk.Now().Add(time.Minute))
	require.ErrorIs(t, err, wire.LoginUnavailable())
	clk.Advance(time.Minute)
	_, err = challenges.issue("anybody@example.com", clk.Now().Add(time.Minute))
	require.NoError(t, err)
	assert.Equal(t, 1, challenges.issued.Len())
}

// TestSessionsAreRestoredFromStore opens the same store again and compares.
func TestSessionsAreRestoredFromStore(t *testing.T) {
	backend, clk := new(storetest.Encoded), frozen()
	registry, tokens, challenges := NewKeyRegistry(clk, backend), NewTokens(clk, backend), NewChallenges(clk, backend)
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
	tokens.AddOtherSurfaces("uat_1")
	usable, err := challenges.issue("ops@example.com", clk.Now().Add(time.Minute))
	require.NoError(t, err)
	used, err := challenges.issue("ops@example.com", clk.Now().Add(time.Minute))
	require.NoError(t, err)
	require.NoError(t, challenges.consume(used.ID))
	assert.Empty(t, backend.Stale())

	again, renewed, asked := NewKeyRegistry(clk, backend), NewTokens(clk, backend), NewChallenges(clk, backend)
	assert.Equal(t, registry.Keys(), again.Keys())
	assert.Equal(t, registry.Records(), again.Records())
	_, standing := again.lookup(gone.Email, gone.PublicKey)
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

	found, err := asked.get(usable.ID)
	require.NoError(t, err)
	assert.Equal(t, usable, found)
	_, err = asked.get(used.ID)
	assert.ErrorIs(t, err, wire.ChallengeConsumed())

	again.Reset(key)
	renewed.Reset()
	asked.Reset()
	assert.Equal(t, 2, NewKeyRegistry(clk, backend).Records(), "the account and the key")
	assert.Zero(t, NewTokens(clk, backend).Records())
	assert.Zero(t, NewChallenges(clk, backend).issued.Len())
}
