package dapi

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/signing"
)

// keptSession is a store whose session is fresh.
type keptSession struct{ credential string }

func (s keptSession) Load(context.Context) (Session, error) {
	return Session{AccessToken: moneymovement.NewSecret("token"), Credential: s.credential,
		ExpiresAt: time.Now().Add(time.Hour)}, nil
}

func (keptSession) Save(context.Context, Session) error { return nil }

func sessionWithToken(tb testing.TB) *session {
	tb.Helper()
	key, err := signing.Generate()
	require.NoError(tb, err)
	const host = "https://service.example"
	developer := Developer{Email: "ops@example.com", Key: key}
	developer.Store = keptSession{developer.Credential(host)}
	integrator, err := NewIntegrator(host, developer)
	require.NoError(tb, err)
	s := integrator.platform.keys.current.Load()
	_, err = s.bearer(tb.Context())
	require.NoError(tb, err)
	return s
}

// A call with a fresh token waits for no other call.
func TestFreshTokenNeedsNoLock(t *testing.T) {
	s := sessionWithToken(t)
	s.changing.Lock()
	defer s.changing.Unlock()
	got := make(chan []string, 1)
	go func() {
		bearer, err := s.bearer(t.Context())
		assert.NoError(t, err)
		got <- bearer
	}()
	select {
	case bearer := <-got:
		assert.Equal(t, []string{"Bearer token"}, bearer)
	case <-time.After(10 * time.Second):
		assert.Fail(t, "the call waits for the lock")
	}
}

// BenchmarkBearer is what 512 callers for each core pay for the token of an attempt. With -mutexprofile it shows
// whether they wait for each other.
func BenchmarkBearer(b *testing.B) {
	s := sessionWithToken(b)
	b.SetParallelism(512)
	b.RunParallel(func(each *testing.PB) {
		for each.Next() {
			if _, err := s.bearer(b.Context()); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// issuer is a store that always has a newer session, and sometimes none. A login is refused by the test's transport.
type issuer struct {
	credential string
	renewing   atomic.Int32
	fails      atomic.Bool
	issued     atomic.Int64
}

func (i *issuer) Load(context.Context) (Session, error) {
	defer i.renewing.Add(-1)
	if i.renewing.Add(1) > 1 {
		return Session{}, errors.New("two renewals run at once")
	}
	time.Sleep(rand.N(3 * time.Second))
	if i.fails.Load() {
		return Session{}, nil
	}
	return Session{
		AccessToken: moneymovement.NewSecret(fmt.Sprint("token-", i.issued.Add(1))), Credential: i.credential,
		ExpiresAt: time.Now().Add(100*time.Second + rand.N(time.Minute)),
	}, nil
}

func (i *issuer) Save(context.Context, Session) error { return nil }

// unreachable is a network without the service.
type unreachable struct{}

func (unreachable) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Err: errors.New("no way")}
}

// For any order of calls, refusals and cancellations, one renewal runs at a time, each call gets a token that works,
// and a refused token is not used again.
func TestManyCallsShareOneSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key, err := signing.Generate()
		require.NoError(t, err)
		const host = "https://service.example"
		developer := Developer{Email: "ops@example.com", Key: key}
		store := &issuer{credential: developer.Credential(host)}
		developer.Store = store
		integrator, err := NewIntegrator(host, developer, moneymovement.WithoutPacing(),
			moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}),
			moneymovement.WithHTTPClient(&http.Client{Transport: unreachable{}}))
		require.NoError(t, err)
		s := integrator.platform.keys.current.Load()

		var calls sync.WaitGroup
		var worked atomic.Int64
		call := func(ctx context.Context) {
			bearer, err := s.bearer(ctx)
			if err != nil {
				assert.True(t, store.fails.Load() || ctx.Err() != nil, "%v", err)
				return
			}
			worked.Add(1)
			assert.Len(t, bearer, 1)
			time.Sleep(rand.N(time.Second))
			if rand.N(100) == 0 && s.Renew(ctx, http.Header{"Authorization": bearer}) == nil {
				assert.NotEqual(t, bearer, s.state.Load().bearer.Value())
			}
		}
		for range 64 {
			calls.Go(func() {
				for range 200 {
					time.Sleep(rand.N(10 * time.Second))
					ctx, cancel := context.WithTimeout(t.Context(), rand.N(5*time.Second))
					call(ctx)
					cancel()
				}
			})
		}
		for range 10 {
			time.Sleep(time.Minute)
			store.fails.Store(!store.fails.Load())
		}
		calls.Wait()
		time.Sleep(renewalTimeout)
		assert.Nil(t, s.state.Load().renewal)
		assert.Positive(t, worked.Load())
		assert.Greater(t, store.issued.Load(), int64(5))
		assert.LessOrEqual(t, store.issued.Load(), worked.Load())
	})
}

func TestSessionThatCannotBeExportedIsNotSaved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session")
	session := Session{AccessToken: moneymovement.NewSecret("token"), Credential: "c"}
	session.ExpiresAt = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC) // which no JSON can say
	require.Error(t, NewFileTokenStore(path).Save(t.Context(), session))
	assert.NoFileExists(t, path)
}

func TestTokensThatAHeaderCanCarry(t *testing.T) {
	for token, can := range map[string]bool{"!": true, "~": true, "a-b_c.d~e+f/g=": true, "": false, " ": false,
		"\x7f": false, "a b": false, "é": false} {
		assert.Equal(t, can, sendable(moneymovement.NewSecret(token)), "%q", token)
	}
}

func TestFileTokenStoreTakesTheLongestTokens(t *testing.T) {
	store := NewFileTokenStore(filepath.Join(t.TempDir(), "session"))
	escaped := strings.Repeat(`"`, 64<<10)
	session := Session{AccessToken: moneymovement.NewSecret(escaped), RefreshToken: moneymovement.NewSecret(escaped),
		Credential: strings.Repeat("c", 32)}
	for range 3 {
		require.NoError(t, store.Save(t.Context(), session))
		kept, err := store.Load(t.Context())
		require.NoError(t, err)
		require.Equal(t, escaped, kept.AccessToken.Reveal())
		require.Equal(t, escaped, kept.RefreshToken.Reveal())
	}
	session.RefreshToken = moneymovement.NewSecret(escaped + strings.Repeat("secret", 64<<10))
	err := store.Save(t.Context(), session)
	require.ErrorContains(t, err, "too long to store")
	assert.Less(t, len(err.Error()), 300, "which quotes no token")
}
