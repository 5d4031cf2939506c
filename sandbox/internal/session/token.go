package session

import (
	"crypto/rand"
	"maps"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// The lifetimes of a session. Source: Limits, Lifetimes.
const (
	AccessLifetime  = 60 * time.Minute
	RefreshLifetime = 60 * 24 * time.Hour
)

// Tokens holds the sessions that logins minted. It is safe for concurrent use.
type Tokens struct {
	clock *clock.Clock

	mu      sync.Mutex
	access  map[string]token
	refresh map[string]token
	foreign map[string]struct{}
	sweepAt int
}

// token is one half of a session.
type token struct {
	keyID     string
	expiresAt time.Time
}

// grant is what a login or a refresh answers.
type grant struct {
	access, refresh                   string
	accessExpiresAt, refreshExpiresAt time.Time
}

// NewTokens returns a store without sessions.
func NewTokens(clk *clock.Clock) *Tokens {
	t := &Tokens{clock: clk}
	t.Reset()
	return t
}

// Reset forgets every token.
func (t *Tokens) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.access, t.refresh, t.foreign = map[string]token{}, map[string]token{}, map[string]struct{}{}
	t.sweepAt = sweepAt
}

// AddForeign makes known a token of another surface: it is a token, and none of
// the platform API.
func (t *Tokens) AddForeign(tokens ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, foreign := range tokens {
		t.foreign[foreign] = struct{}{}
	}
}

// Authenticate answers the id of the key that minted an access token, or refuses
// the token: unauthenticated, token_expired, or forbidden with the reason
// developerSessionRequired for any other kind of token.
func (t *Tokens) Authenticate(bearer string) (keyID string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if held, ok := t.access[bearer]; ok {
		if !t.clock.Now().Before(held.expiresAt) {
			return "", refuse.TokenExpired()
		}
		return held.keyID, nil
	}
	_, isRefresh := t.refresh[bearer]
	_, isForeign := t.foreign[bearer]
	if isRefresh || isForeign {
		return "", refuse.DeveloperSessionRequired()
	}
	return "", refuse.Unauthenticated()
}

// Expire ends an access token now. An unknown one is left unknown.
func (t *Tokens) Expire(bearer string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if held, ok := t.access[bearer]; ok {
		held.expiresAt = t.clock.Now()
		t.access[bearer] = held
	}
}

// mint opens a session for a key.
func (t *Tokens) mint(keyID string) grant {
	t.mu.Lock()
	defer t.mu.Unlock()
	refresh := "rt_" + rand.Text() + rand.Text()
	t.refresh[refresh] = token{keyID: keyID, expiresAt: t.clock.Now().Add(RefreshLifetime)}
	return t.mintAccess(refresh)
}

// renew mints a new access token; the refresh token stays as it is.
func (t *Tokens) renew(refresh string) grant {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mintAccess(refresh)
}

// mintAccess needs the lock to be held.
func (t *Tokens) mintAccess(refresh string) grant {
	now, held := t.clock.Now(), t.refresh[refresh]
	if len(t.access) >= t.sweepAt {
		t.forgetLongExpired(now)
		t.sweepAt = max(sweepAt, 2*len(t.access))
	}
	access := "at_" + rand.Text() + rand.Text()
	t.access[access] = token{keyID: held.keyID, expiresAt: now.Add(AccessLifetime)}
	return grant{
		access: access, accessExpiresAt: t.access[access].expiresAt,
		refresh: refresh, refreshExpiresAt: held.expiresAt,
	}
}

// holder answers the id of the key behind a refresh token that is still alive.
func (t *Tokens) holder(refresh string) (keyID string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	held, ok := t.refresh[refresh]
	return held.keyID, ok && t.clock.Now().Before(held.expiresAt)
}

// Records is how many tokens there are.
func (t *Tokens) Records() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.access) + len(t.refresh) + len(t.foreign)
}

// sweepAt is how many entries a store has before it forgets those that nobody
// can be waiting for.
const sweepAt = 4096

// forgetLongExpired keeps a token for a day after it expired, so that it is
// refused as expired.
func (t *Tokens) forgetLongExpired(now time.Time) {
	for _, held := range []map[string]token{t.access, t.refresh} {
		maps.DeleteFunc(held, func(_ string, held token) bool { return now.Sub(held.expiresAt) > 24*time.Hour })
	}
}
