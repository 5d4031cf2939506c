package dapi

import (
	"context"
	"testing"
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
func TestAFreshTokenNeedsNoLock(t *testing.T) {
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
