package sandbox_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store/storetest"
	"github.com/moneymovement/moneymovement-go/signing"
)

// startedAgain returns a host on a store, at noon of the machine's clock.
func startedAgain(kept sandbox.Store, options ...sandbox.Option) *sandbox.Host {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	return sandbox.New(append([]sandbox.Option{
		sandbox.WithStore(kept), sandbox.WithClock(func() time.Time { return noon }),
	}, options...)...)
}

// secrets are the credentials as texts, which can be compared.
func secrets(t *testing.T, c sandbox.Credentials) []string {
	t.Helper()
	key, err := c.Key.PEM()
	require.NoError(t, err)
	purse, err := c.Wallet.PEM()
	require.NoError(t, err)
	return []string{c.Email, c.KeyID, string(key), c.APIKey.Reveal(), c.AccessToken.Reveal(), string(purse)}
}

func TestTheCredentialsStayWithTheStore(t *testing.T) {
	kept := new(storetest.Encoded)
	first := startedAgain(kept)
	second := startedAgain(kept)
	assert.Equal(t, secrets(t, first.Credentials()), secrets(t, second.Credentials()))
	assert.Len(t, second.Keys(), 1)
	assert.Len(t, second.AppKeys(), 1)
	second.Reset()
	assert.Equal(t, secrets(t, first.Credentials()), secrets(t, startedAgain(kept).Credentials()))
	assert.Empty(t, kept.Stale())
}

func TestOptionsWinOverTheCredentialsInTheStore(t *testing.T) {
	kept := new(storetest.Encoded)
	before := startedAgain(kept).Credentials()
	key, err := signing.Generate()
	require.NoError(t, err)
	given := []sandbox.Option{sandbox.WithDeveloperKey(key), sandbox.WithAPIKey("a-key-of-the-test")}
	first := startedAgain(kept, given...)
	assert.Equal(t, before.Email, first.Credentials().Email)
	assert.Equal(t, key, first.Credentials().Key)
	assert.Equal(t, "a-key-of-the-test", first.Credentials().APIKey.Reveal())
	assert.Equal(t, before.AccessToken.Reveal(), first.Credentials().AccessToken.Reveal())
	assert.Len(t, first.Keys(), 2, "what was registered before stays")

	again := startedAgain(kept, given...)
	assert.Equal(t, secrets(t, first.Credentials()), secrets(t, again.Credentials()))
	assert.Len(t, again.Keys(), 2)
	assert.Len(t, again.AppKeys(), 2)
	without := startedAgain(kept)
	assert.Equal(t, secrets(t, first.Credentials()), secrets(t, without.Credentials()), "they are kept from then on")

	other := startedAgain(kept, sandbox.WithEmail(" Other@example.com"), sandbox.WithAPIKey("a-key-of-the-test"))
	assert.Equal(t, "other@example.com", other.Credentials().Email)
	assert.NotEqual(t, first.Credentials().KeyID, other.Credentials().KeyID)
	assert.NotEqual(t, first.Credentials().AccessToken.Reveal(), other.Credentials().AccessToken.Reveal())
	for _, key := range other.AppKeys() {
		if key.Key.Reveal() == "a-key-of-the-test" {
			assert.Equal(t, "other@example.com", key.Email, "a text is one key at a time")
		}
	}
}

func TestADeletedKeyStaysDeleted(t *testing.T) {
	kept := new(storetest.Encoded)
	first := startedAgain(kept)
	require.NoError(t, first.DeleteKey(first.Credentials().KeyID))
	second := startedAgain(kept, sandbox.WithDeveloperKey(first.Credentials().Key))
	assert.Empty(t, second.Keys())
	second.Reset()
	assert.Equal(t, first.Credentials().KeyID, second.Keys()[0].ID)
}

func TestTheClockGoesOn(t *testing.T) {
	kept := new(storetest.Encoded)
	first := startedAgain(kept)
	first.Advance(time.Hour)
	moved := first.Advance(61 * time.Second)
	assert.Equal(t, moved, startedAgain(kept).Now())
	assert.Equal(t, moved, startedAgain(kept).Advance(-time.Hour))

	furthest := startedAgain(kept).Advance(1<<63 - 1)
	assert.Equal(t, furthest, startedAgain(kept).Now(), "as far as a clock goes")
	second := startedAgain(kept)
	second.Reset()
	assert.Equal(t, moved.Add(-time.Hour-61*time.Second), startedAgain(kept).Now())
}

func TestChangedSettingsStay(t *testing.T) {
	kept := new(storetest.Encoded)
	first := startedAgain(kept, sandbox.WithInstantProgress())
	require.NoError(t, first.Configure(func(s *sandbox.Settings) {
		s.FailOneIn, s.RateLimits, s.RailsHidden = 3, true, []string{"sepa"}
	}))
	require.NoError(t, first.Configure(func(s *sandbox.Settings) { s.FailOneIn = 4 }))
	require.Error(t, first.Configure(func(s *sandbox.Settings) { s.FailOneIn = -1 }))

	second := startedAgain(kept)
	want := sandbox.DefaultSettings()
	want.FailOneIn, want.RateLimits, want.RailsHidden = 4, true, []string{"sepa"}
	assert.Equal(t, want, second.Settings(), "and not what an option of the first start set")

	third := startedAgain(kept, sandbox.WithSettings(func(s *sandbox.Settings) { s.RateLimits = false }))
	assert.False(t, third.Settings().RateLimits, "an option wins")
	assert.Equal(t, 4, third.Settings().FailOneIn)

	third.Reset()
	assert.Equal(t, sandbox.DefaultSettings(), startedAgain(kept).Settings())
}

func TestSettingsInTheStoreThatAreInvalidAreRefused(t *testing.T) {
	kept := new(storetest.Encoded)
	require.NoError(t, startedAgain(kept).Configure(func(s *sandbox.Settings) { s.FailOneIn = 3 }))
	defer func() {
		err, _ := recover().(error)
		assert.ErrorContains(t, err, "failOneIn must not be negative")
		assert.ErrorContains(t, err, "WithStore: the settings in the store")
	}()
	// As a version with other bounds could have written it.
	require.NoError(t, kept.Commit([]store.Change{store.Put("host.settings", "host",
		&struct{ Changed map[string]int }{map[string]int{"failOneIn": -3}})}))
	startedAgain(kept)
}

// ending is a store that takes a number of commits, and then none.
type ending struct {
	storetest.Encoded
	left int
}

func (i *ending) Commit(changes []store.Change) error {
	if i.left == 0 {
		return errors.New("the process has ended")
	}
	i.left--
	return i.Encoded.Commit(changes)
}

// A crash at each commit of a reset leaves a host that is as before, or as at its start.
func TestAResetThatACrashEndsIsDoneAgain(t *testing.T) {
	ended := false
	for commits := 0; !ended; commits++ {
		kept := &ending{left: -1}
		w := newWorld(t, sandbox.WithStore(kept))
		session := w.login()
		session.must(http.StatusCreated, "POST", "/clients", object{"email": "acme@example.com"})
		session.must(http.StatusCreated, "POST", "/sandbox/deposits", object{"amount": "100", "currency": "USDC"},
			"Idempotency-Key", "fund")
		w.host.Advance(time.Hour)
		before := w.host.Records()
		kept.left = commits
		func() {
			defer func() { ended = recover() == nil }()
			w.host.Reset()
		}()
		kept.left = -1

		again := startedAgain(kept)
		if commits == 0 {
			assert.Equal(t, before, again.Records())
			continue
		}
		fresh := startedAgain(new(storetest.Encoded))
		assert.Equal(t, fresh.Records(), again.Records(), "after %d commits", commits)
		assert.Equal(t, fresh.Ledger(), again.Ledger(), "after %d commits", commits)
		assert.Equal(t, fresh.Now(), again.Now())
	}
}
