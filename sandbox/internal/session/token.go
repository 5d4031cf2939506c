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

	mu      sync.Mutex
	keeper  *store.Keeper
	access  *store.Table[token]
	refresh *store.Table[token]
	foreign *store.Table[foreign]
	sweepAt int
}

// token is an access or refresh token of a session.
type token struct {
	KeyID     string
	ExpiresAt time.Time
}

// foreign is a token of another surface.
type foreign struct{}

// grant is the response to a login or a refresh.
type grant struct {
	access, refresh                   string
	accessExpiresAt, refreshExpiresAt time.Time
}

// NewTokens returns Tokens with the stored sessions.
func NewTokens(clk *clock.Clock, kept store.Store) *Tokens {
	t := &Tokens{clock: clk, keeper: store.NewKeeper(kept), sweepAt: sweepAt}
	t.access = store.Open[token](t.keeper, "session.access_token")
	t.refresh = store.Open[token](t.keeper, "session.refresh_token")
	t.foreign = store.Open[foreign](t.keeper, "session.foreign_token")
	return t
}

// leave stores what has changed, and releases the lock.
func (t *Tokens) leave() {
	defer t.mu.Unlock()
	t.keeper.Commit()
}

// Reset deletes every token.
func (t *Tokens) Reset() {
	t.mu.Lock()
	defer t.leave()
	t.access.Clear()
	t.refresh.Clear()
	t.foreign.Clear()
	t.sweepAt = sweepAt
}

// AddForeign adds a token of another surface. The platform API knows that it is a token, and does not accept it.
func (t *Tokens) AddForeign(tokens ...string) {
	t.mu.Lock()
	defer t.leave()
	for _, known := range tokens {
		t.foreign.Put(known, &foreign{})
	}
}

// Authenticate returns the id of the key behind an access token. It refuses other tokens with unauthenticated, with
// token_expired, or with forbidden and the reason developerSessionRequired for another kind of token.
func (t *Tokens) Authenticate(bearer string) (keyID string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if held := t.access.Get(bearer); held != nil {
		if !t.clock.Now().Before(held.ExpiresAt) {
			return "", wire.TokenExpired()
		}
		return held.KeyID, nil
	}
	if t.refresh.Get(bearer) != nil || t.foreign.Get(bearer) != nil {
		return "", wire.DeveloperSessionRequired()
	}
	return "", wire.Unauthenticated()
}

// Expire ends an access token now. It ignores an unknown token.
func (t *Tokens) Expire(bearer string) {
	t.mu.Lock()
	defer t.leave()
	if held := t.access.Get(bearer); held != nil {
		held.ExpiresAt = t.clock.Now()
		t.access.Put(bearer, held)
	}
}

// mint creates a session for a key.
func (t *Tokens) mint(keyID string) grant {
	t.mu.Lock()
	defer t.leave()
	refresh := "rt_" + rand.Text() + rand.Text()
	t.refresh.Put(refresh, &token{KeyID: keyID, ExpiresAt: t.clock.Now().Add(RefreshLifetime)})
	return t.mintAccess(refresh)
}

// renew creates a new access token. The refresh token stays the same.
func (t *Tokens) renew(refresh string) grant {
	t.mu.Lock()
	defer t.leave()
	return t.mintAccess(refresh)
}

// mintAccess must be called with the lock held.
func (t *Tokens) mintAccess(refresh string) grant {
	now, held := t.clock.Now(), token{}
	if known := t.refresh.Get(refresh); known != nil { // a Reset may have deleted it
		held = *known
	}
	if t.access.Len() >= t.sweepAt {
		t.forgetLongExpired(now)
		t.sweepAt = max(sweepAt, 2*t.access.Len())
	}
	access, minted := "at_"+rand.Text()+rand.Text(), &token{KeyID: held.KeyID, ExpiresAt: now.Add(AccessLifetime)}
	t.access.Put(access, minted)
	return grant{
		access: access, accessExpiresAt: minted.ExpiresAt,
		refresh: refresh, refreshExpiresAt: held.ExpiresAt,
	}
}

// holder returns the id of the key behind a valid refresh token.
func (t *Tokens) holder(refresh string) (keyID string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	held := t.refresh.Get(refresh)
	if held == nil {
		return "", false
	}
	return held.KeyID, t.clock.Now().Before(held.ExpiresAt)
}

// Records returns how many tokens there are.
func (t *Tokens) Records() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.access.Len() + t.refresh.Len() + t.foreign.Len()
}

// sweepAt is how many tokens there are before tokens that expired long ago are deleted.
const sweepAt = 4096

// forgetLongExpired keeps a token for a day after it expired, so that it is refused as expired and not as unknown.
func (t *Tokens) forgetLongExpired(now time.Time) {
	for _, held := range []*store.Table[token]{t.access, t.refresh} {
		held.DeleteFunc(func(_ string, held *token) bool { return now.Sub(held.ExpiresAt) > 24*time.Hour })
	}
}
