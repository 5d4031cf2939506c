package session

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// The lifetimes of a session.
const (
	AccessLifetime  = 60 * time.Minute
	RefreshLifetime = 60 * 24 * time.Hour
)

// Tokens holds the sessions of logins. It is safe for concurrent use.
type Tokens struct {
	clock *clock.Clock

	mu            sync.Mutex
	keeper        *store.Keeper
	access        *store.Table[token]
	refresh       *store.Table[token]
	otherSurfaces *store.Table[otherToken]
	sweepAt       int
}

// token is an access or refresh token of a session.
type token struct {
	KeyID     string
	ExpiresAt time.Time
}

// otherToken is a token of another surface.
type otherToken struct{}

// grant is the response to a login or a refresh.
type grant struct {
	access, refresh                   string
	accessExpiresAt, refreshExpiresAt time.Time
}

// NewTokens returns Tokens with the stored sessions.
func NewTokens(clk *clock.Clock, backend store.Store) *Tokens {
	t := &Tokens{clock: clk, keeper: store.NewKeeper(backend), sweepAt: sweepAt}
	t.access = store.Open[token](t.keeper, "session.access_token")
	t.refresh = store.Open[token](t.keeper, "session.refresh_token")
	t.otherSurfaces = store.Open[otherToken](t.keeper, "session.foreign_token")
	return t
}

// commit stores what has changed, and releases the lock.
func (t *Tokens) commit() {
	defer t.mu.Unlock()
	t.keeper.Commit()
}

// Reset deletes every token.
func (t *Tokens) Reset() {
	t.mu.Lock()
	defer t.commit()
	t.access.Clear()
	t.refresh.Clear()
	t.otherSurfaces.Clear()
	t.sweepAt = sweepAt
}

// AddOtherSurfaces adds tokens of other surfaces. The platform API refuses them as known tokens.
func (t *Tokens) AddOtherSurfaces(tokens ...string) {
	t.mu.Lock()
	defer t.commit()
	for _, existing := range tokens {
		t.otherSurfaces.Put(existing, &otherToken{})
	}
}

// Authenticate returns the id of the key behind an access token. It refuses other tokens with unauthenticated, with
// token_expired, or with forbidden and the reason developerSessionRequired for another kind of token.
func (t *Tokens) Authenticate(bearer string) (keyID string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if stored := t.access.Get(bearer); stored != nil {
		if !t.clock.Now().Before(stored.ExpiresAt) {
			return "", wire.TokenExpired()
		}
		return stored.KeyID, nil
	}
	if t.refresh.Get(bearer) != nil || t.otherSurfaces.Get(bearer) != nil {
		return "", wire.DeveloperSessionRequired()
	}
	return "", wire.Unauthenticated()
}

// Expire ends an access token now. It ignores an unknown token.
func (t *Tokens) Expire(bearer string) {
	t.mu.Lock()
	defer t.commit()
	if stored := t.access.Get(bearer); stored != nil {
		stored.ExpiresAt = t.clock.Now()
		t.access.Put(bearer, stored)
	}
}

// mint creates a session for a key.
func (t *Tokens) mint(keyID string) grant {
	t.mu.Lock()
	defer t.commit()
	refresh := "rt_" + rand.Text() + rand.Text()
	t.refresh.Put(refresh, &token{KeyID: keyID, ExpiresAt: t.clock.Now().Add(RefreshLifetime)})
	return t.mintAccess(refresh)
}

// renew creates a new access token. The refresh token stays the same.
func (t *Tokens) renew(refresh string) grant {
	t.mu.Lock()
	defer t.commit()
	return t.mintAccess(refresh)
}

// mintAccess must be called with the lock held.
func (t *Tokens) mintAccess(refresh string) grant {
	now, stored := t.clock.Now(), token{}
	if existing := t.refresh.Get(refresh); existing != nil { // a Reset may have deleted it
		stored = *existing
	}
	if t.access.Len() >= t.sweepAt {
		t.forgetLongExpired(now)
		t.sweepAt = max(sweepAt, 2*t.access.Len())
	}
	access, minted := "at_"+rand.Text()+rand.Text(), &token{KeyID: stored.KeyID, ExpiresAt: now.Add(AccessLifetime)}
	t.access.Put(access, minted)
	return grant{
		access: access, accessExpiresAt: minted.ExpiresAt,
		refresh: refresh, refreshExpiresAt: stored.ExpiresAt,
	}
}

// keyOfRefresh returns the id of the key behind a valid refresh token.
func (t *Tokens) keyOfRefresh(refresh string) (keyID string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	stored := t.refresh.Get(refresh)
	if stored == nil {
		return "", false
	}
	return stored.KeyID, t.clock.Now().Before(stored.ExpiresAt)
}

// Records returns how many tokens there are.
func (t *Tokens) Records() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.access.Len() + t.refresh.Len() + t.otherSurfaces.Len()
}

// sweepAt is how many tokens there are before tokens that expired long ago are deleted.
const sweepAt = 4096

// forgetLongExpired keeps a token for a day after it expired, so that it is refused as expired and not as unknown.
func (t *Tokens) forgetLongExpired(now time.Time) {
	for _, stored := range []*store.Table[token]{t.access, t.refresh} {
		stored.DeleteFunc(func(_ string, stored *token) bool { return now.Sub(stored.ExpiresAt) > 24*time.Hour })
	}
}
