package session

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Login implements the three login operations.
type Login struct {
	Clock      *clock.Clock
	Registry   *KeyRegistry
	Tokens     *Tokens
	Challenges *Challenges
	Windows    *clock.Counters
	Settings   func() *deployment.Settings
}

// CreateChallenge starts a login. An unknown email gets a challenge as well.
func (l *Login) CreateChallenge(_ context.Context, body platformwire.ChallengeRequest) (wire.Response, error) {
	if err := l.checkAvailable(); err != nil {
		return wire.Response{}, err
	}
	email := CanonicalEmail(body.Email)
	if err := l.Windows.Take(clock.LoginEmail, email); err != nil {
		return wire.Response{}, err
	}
	issued, err := l.Challenges.issue(email, body.RequestExpiry.UTC())
	if err != nil {
		return wire.Response{}, err
	}
	return wire.Created(platformwire.Challenge{
		ChallengeID: issued.ID, Payload: issued.Payload, ExpiresAt: issued.ExpiresAt,
	}), nil
}

// CreateToken completes a login. Only a success consumes the challenge.
func (l *Login) CreateToken(ctx context.Context, body platformwire.TokenRequest) (wire.Response, error) {
	if err := l.checkAvailable(); err != nil {
		return wire.Response{}, err
	}
	id := body.ChallengeID
	if err := l.Windows.Take(clock.LoginChallenge, id); err != nil {
		return wire.Response{}, err
	}
	issued, err := l.Challenges.get(id)
	if err != nil {
		return wire.Response{}, err
	}
	key, err := l.authenticate(ctx, issued, body.PublicKey, body.Signature)
	if err != nil {
		return wire.Response{}, err
	}
	if err := l.Challenges.consume(id); err != nil {
		return wire.Response{}, err
	}
	return wire.Created(l.tokenResponse(l.Tokens.mint(key.ID))), nil
}

// authenticate checks a proof of identity: the account, the key, and the signature. It makes all other checks
// afterwards, because only a caller with a valid proof may see their results.
func (l *Login) authenticate(ctx context.Context, issued challenge, publicKey, signature []byte) (Key, error) {
	key, standing := l.Registry.lookup(issued.Email, publicKey)
	switch standing {
	case unknownAccount:
		return Key{}, wire.InvalidCredentials()
	case notRegistered:
		return Key{}, wire.KeyNotRegistered()
	}
	settings := l.Settings()
	if refused := wire.CheckSignature(publicKey, issued.Payload, signature, settings.RequireLowS); refused != nil {
		if settings.OpaqueLogin {
			return Key{}, wire.InvalidCredentials()
		}
		return Key{}, refused
	}
	if standing == deletedBefore || !key.allowsSource(wire.CallerOf(ctx).Source) {
		return Key{}, wire.InvalidCredentials()
	}
	return key, nil
}

// RefreshToken creates a new access token, after the checks of every request. It returns the same refresh token.
func (l *Login) RefreshToken(ctx context.Context, body platformwire.RefreshRequest) (wire.Response, error) {
	if !l.Settings().LoginAvailable {
		return wire.Response{}, wire.LoginUnavailable()
	}
	refresh := body.RefreshToken
	keyID, ok := l.Tokens.keyOfRefresh(refresh)
	if !ok {
		return wire.Response{}, wire.InvalidCredentials()
	}
	if err := l.Windows.Take(clock.Writes, keyID); err != nil {
		return wire.Response{}, err
	}
	if _, err := l.Registry.Check(keyID, wire.CallerOf(ctx).Source, ""); err != nil {
		return wire.Response{}, err
	}
	return wire.Created(l.tokenResponse(l.Tokens.renew(refresh))), nil
}

// checkAvailable reports whether the host accepts logins.
func (l *Login) checkAvailable() error {
	switch settings := l.Settings(); {
	case !settings.LoginAvailable:
		return wire.LoginUnavailable()
	case settings.LoginMode != deployment.LoginModeDeveloperKey:
		return wire.LoginModeUnavailable(settings.LoginMode)
	default:
		return nil
	}
}

func (l *Login) tokenResponse(g grant) platformwire.TokenGrant {
	now := l.Clock.Now()
	return platformwire.TokenGrant{
		AccessToken: g.access, ExpiresIn: seconds(g.accessExpiresAt.Sub(now)),
		RefreshToken: g.refresh, RefreshExpiresIn: seconds(g.refreshExpiresAt.Sub(now)),
		TokenType: "Bearer",
	}
}

// seconds rounds to the nearest second, because time has passed since the token was created.
func seconds(d time.Duration) int {
	return int(d.Round(time.Second) / time.Second)
}

// maxRequestExpiry is how far ahead a login's requestExpiry may be.
const maxRequestExpiry = 5 * time.Minute

// maxChallenges is the maximum number of stored challenges: anybody can ask for one.
const maxChallenges = 100_000

// Challenges holds the logins that were started. It is safe for concurrent use.
type Challenges struct {
	clock *clock.Clock

	mu      sync.Mutex
	keeper  *store.Keeper
	issued  *store.Table[challenge] // by id
	sweepAt int
	limit   int // how many are stored
}

// challenge is the content that one login signs. It can be used once.
type challenge struct {
	ID        string
	Email     string
	Payload   []byte
	ExpiresAt time.Time
	Consumed  bool
}

// NewChallenges returns Challenges with the stored records.
func NewChallenges(clk *clock.Clock, backend store.Store) *Challenges {
	c := &Challenges{clock: clk, keeper: store.NewKeeper(backend), sweepAt: sweepAt, limit: maxChallenges}
	c.issued = store.Open[challenge](c.keeper, "session.challenge")
	return c
}

// commit stores what has changed, and releases the lock.
func (c *Challenges) commit() {
	defer c.mu.Unlock()
	c.keeper.Commit()
}

// Reset deletes every challenge.
func (c *Challenges) Reset() {
	c.mu.Lock()
	defer c.commit()
	c.issued.Clear()
	c.sweepAt = sweepAt
}

// issue creates a challenge for any email, also an unknown one, so that the response says nothing about accounts.
func (c *Challenges) issue(email string, expiresAt time.Time) (challenge, error) {
	now := c.clock.Now()
	if expiresAt.Before(now) || expiresAt.After(now.Add(maxRequestExpiry)) {
		return challenge{}, wire.RequestExpired()
	}
	issued := &challenge{ID: "ch_" + rand.Text(), Email: email, ExpiresAt: expiresAt}
	var err error
	if issued.Payload, err = issued.encode(); err != nil {
		return challenge{}, err
	}

	c.mu.Lock()
	defer c.commit()
	if c.issued.Len() >= c.sweepAt {
		c.forgetLongExpired(now)
		c.sweepAt = max(sweepAt, 2*c.issued.Len())
	}
	if c.issued.Len() >= c.limit && !c.makeRoom(now) {
		return challenge{}, wire.LoginUnavailable()
	}
	c.issued.Put(issued.ID, issued)
	return *issued, nil
}

// makeRoom deletes challenges that cannot be used any more, and reports whether there were any.
func (c *Challenges) makeRoom(now time.Time) bool {
	c.issued.DeleteFunc(func(_ string, issued *challenge) bool {
		return issued.Consumed || !now.Before(issued.ExpiresAt)
	})
	return c.issued.Len() < c.limit
}

// encode returns the bytes to sign: canonical JSON with its purpose, so that a login's signature is never valid for an
// approval.
func (c *challenge) encode() ([]byte, error) {
	text, err := json.Marshal(map[string]string{
		"purpose":     "login",
		"challengeId": c.ID,
		"email":       c.Email,
		"expiresAt":   c.ExpiresAt.UTC().Format(time.RFC3339Nano),
		"nonce":       rand.Text(),
	})
	if err != nil {
		return nil, err
	}
	canonical := jsontext.Value(text)
	return canonical, canonical.Canonicalize()
}

// get returns a challenge that can still be used.
func (c *Challenges) get(id string) (challenge, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	issued, err := c.find(id)
	if err != nil {
		return challenge{}, err
	}
	return *issued, nil
}

// consume uses a challenge. If several callers do so at the same time, one succeeds.
func (c *Challenges) consume(id string) error {
	c.mu.Lock()
	defer c.commit()
	issued, err := c.find(id)
	if err != nil {
		return err
	}
	issued.Consumed = true
	c.issued.Put(id, issued)
	return nil
}

// find needs the lock to be held.
func (c *Challenges) find(id string) (*challenge, error) {
	issued := c.issued.Get(id)
	switch {
	case issued == nil:
		return nil, wire.ChallengeNotFound()
	case issued.Consumed:
		return nil, wire.ChallengeConsumed()
	case !c.clock.Now().Before(issued.ExpiresAt):
		return nil, wire.ChallengeExpired()
	default:
		return issued, nil
	}
}

// forgetLongExpired keeps a challenge for a day after it expired, so that it is
// refused as consumed or expired.
func (c *Challenges) forgetLongExpired(now time.Time) {
	c.issued.DeleteFunc(func(_ string, issued *challenge) bool { return now.Sub(issued.ExpiresAt) > 24*time.Hour })
}
