package dapi

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

// session holds the access token of one credential and renews it. It is the authorizer of the request path.
//
// Goroutines that need a token at the same time share one renewal. The renewal runs on its own: a caller whose context
// ends stops waiting for it, and the others still get its result.
type session struct {
	developer  Developer
	credential string // the name of the credential, for sessions in the store
	key        string // the fingerprint of the developer key, for the log
	low        lowLevel
	logger     *slog.Logger
	seen       *signing.SeenApprovals // the approvals that any account of the credential has seen

	state    atomic.Pointer[sessionState] // read without a lock, because every attempt needs it
	changing sync.Mutex                   // guards changes of state
}

// sessionState is the state of a session at one time. It never changes: each step stores another one.
type sessionState struct {
	Session
	renewal *renewal  // the running renewal, or nil
	pauseTo time.Time // after a failed renewal, no early renewal before this time
}

// settled reports that the access token works, and that no renewal has to begin.
func (h *sessionState) settled(now time.Time) bool {
	return h.usable(now) && (h.fresh(now) || h.renewal != nil || now.Before(h.pauseTo))
}

// renewal is one login or refresh that callers wait for.
type renewal struct {
	done chan struct{}
	err  error
}

const (
	// refreshBefore is how long before its expiry an access token is renewed, so calls rarely fail with token_expired.
	// It is longer than calls wait for a full window of a minute: the renewal then goes first, and the calls behind it
	// find the new token.
	refreshBefore = 90 * time.Second
	// refreshShare limits how early a token with a short life is renewed: in the last 1/refreshShare of its life.
	// Without this limit, each call would renew it.
	refreshShare = 4
	// renewalPause keeps calls from repeating a failed renewal at once, while the token still works.
	renewalPause = 10 * time.Second
	// renewalTimeout limits a renewal, which has no deadline of its callers.
	renewalTimeout = 2 * time.Minute
)

func newSession(baseURL string, developer Developer, seen *signing.SeenApprovals, logger *slog.Logger) *session {
	s := &session{developer: developer, credential: developer.Credential(baseURL), logger: logger, seen: seen,
		key: transport.Fingerprint(string(developer.Key.PublicKey()))}
	s.state.Store(new(sessionState))
	return s
}

// Authorize implements transport.Authorizer.
func (s *session) Authorize(ctx context.Context, h http.Header) error {
	bearer, err := s.bearer(ctx)
	if err != nil {
		return err
	}
	h["Authorization"] = bearer
	return nil
}

// KeyFingerprint implements transport.KeyHolder.
func (s *session) KeyFingerprint() string { return s.key }

// bearer returns the header value of a token that has not expired. It renews a token that will expire soon in the
// background. Calls go on with the old token until it expires. They do not wait for the new one, and do not fail if the
// renewal fails.
func (s *session) bearer(ctx context.Context) ([]string, error) {
	h, now := s.state.Load(), time.Now()
	if h.settled(now) {
		return h.bearer.Value(), nil
	}
	s.changing.Lock()
	if h = s.state.Load(); !h.settled(now) {
		h = s.renewing(ctx, h)
	}
	s.changing.Unlock()
	if h.usable(now) {
		return h.bearer.Value(), nil
	}
	if err := h.renewal.wait(ctx); err != nil {
		return nil, err
	}
	return s.state.Load().bearer.Value(), nil
}

// Renew implements transport.Authorizer. If another call has renewed the token since the refused call was sent, it does
// nothing.
func (s *session) Renew(ctx context.Context, refused http.Header) error {
	s.changing.Lock()
	h := s.state.Load()
	if bearer := h.bearer.Value(); bearer == nil || refused.Get("Authorization") == bearer[0] {
		expired := *h
		expired.ExpiresAt = time.Time{}
		h = &expired
		s.state.Store(h)
	}
	fresh := h.fresh(time.Now())
	if !fresh {
		h = s.renewing(ctx, h)
	}
	s.changing.Unlock()
	if fresh {
		return nil
	}
	return h.renewal.wait(ctx)
}

// renewing joins the running renewal, or starts one. It returns what the session holds then. The caller holds changing.
func (s *session) renewing(ctx context.Context, h *sessionState) *sessionState {
	if h.renewal != nil {
		return h
	}
	next := *h
	next.renewal = &renewal{done: make(chan struct{})}
	s.state.Store(&next)
	go s.run(context.WithoutCancel(ctx), next.renewal, next.Session)
	return &next
}

func (r *renewal) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return errorbase.Clone(r.err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run makes one renewal and publishes its result.
func (s *session) run(ctx context.Context, r *renewal, current Session) {
	ctx, cancel := context.WithTimeout(ctx, renewalTimeout)
	defer cancel()
	renewed, err := s.obtain(ctx, current)
	s.changing.Lock()
	defer s.changing.Unlock()
	next := *s.state.Load()
	next.renewal = nil
	if err == nil {
		next.Session = renewed.withBearer()
	} else {
		next.pauseTo = time.Now().Add(renewalPause)
	}
	s.state.Store(&next)
	r.err = err
	close(r.done)
}

// obtain gets a session: one that another process left in the store, or else a new one, which it stores.
func (s *session) obtain(ctx context.Context, current Session) (Session, error) {
	stored, err := s.stored(ctx)
	locker, many := s.developer.Store.(SessionLocker)
	switch {
	case err != nil && (many || s.developer.StoreRequired):
		return s.obtainWithoutStore(ctx, current, err)
	case many && !(stored.newerThan(current) && stored.usable(time.Now())):
		return s.obtainShared(ctx, locker, current)
	}
	return s.obtainFrom(ctx, current, stored)
}

// obtainFrom returns the stored session if it is newer and works, or else a new one, which it stores.
func (s *session) obtainFrom(ctx context.Context, current, stored Session) (Session, error) {
	if stored.newerThan(current) {
		if stored.usable(time.Now()) {
			return stored, nil
		}
		current = stored
	}
	renewed, err := s.renewOrLogin(ctx, current)
	if err == nil {
		renewed.Credential = s.credential
		s.save(ctx, renewed)
	}
	return renewed, err
}

// renewOrLogin gets a new session: with the refresh token while it is valid, otherwise with a login.
func (s *session) renewOrLogin(ctx context.Context, current Session) (Session, error) {
	if current.refreshable(time.Now()) {
		renewed, err := s.refresh(ctx, current)
		if err == nil || !refreshRefused(err) {
			return renewed, err
		}
		s.logger.LogAttrs(ctx, slog.LevelInfo, "moneymovement logs in again: the refresh token was refused",
			slog.Any("refusal", err))
	}
	return s.login(ctx)
}

// refresh gets an access token for the refresh token.
func (s *session) refresh(ctx context.Context, current Session) (Session, error) {
	asked := time.Now()
	grant, err := s.low.as(moneymovement.ClassRefresh).RefreshToken(ctx,
		&refreshRequest{RefreshToken: current.RefreshToken}, nil)
	if err != nil {
		return Session{}, err
	}
	renewed, err := sessionOf(opRefreshToken.ID, grant, asked)
	if err == nil && renewed.RefreshToken.IsZero() { // a refresh does not change it, so a response may leave it out
		renewed.RefreshToken, renewed.RefreshExpiresAt = current.RefreshToken, current.RefreshExpiresAt
	}
	return renewed, err
}

// refreshRefused reports that the service refused the refresh token, so only a login helps. A 429 or a lost response
// does not count: a login would fail in the same way.
func refreshRefused(err error) bool {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	return ok && refusal.Status >= 400 && refusal.Status < 500 && refusal.Status != http.StatusTooManyRequests
}

// requestWindow is how long a login request is valid. The service accepts at most five minutes and nothing in the past.
// Half of that tolerates a clock that is ahead as well as one that is behind.
const requestWindow = 150 * time.Second

// login proves that this program has the developer key: challenge, signature, token. A challenge can be used once. If
// the response to its use was lost, it may be used up, and login asks once for a new challenge. If the service is down
// for a moment, login tries again as often as the retry policy says, each time with a new challenge, because everyone
// who needs the session waits for this one login.
func (s *session) login(ctx context.Context) (Session, error) {
	for tried, renewed := 0, false; ; tried++ {
		grant, err := s.loginOnce(ctx)
		switch {
		case challengeSpent(err) && !renewed:
			renewed = true
			continue
		case !unavailable(err):
			return grant, err
		}
		pause, allowed := s.low.transport.Again(ctx, tried, err)
		if !allowed || transport.Pause(ctx, pause) != nil {
			return grant, err
		}
	}
}

// unavailable reports that the service could not use the challenge now. The request path does not repeat a token call.
func unavailable(err error) bool {
	refusal, ok := errors.AsType[*errors.Refusal](err)
	return ok && refusal.Operation == opCreateToken.ID && refusal.Status == http.StatusServiceUnavailable
}

func (s *session) loginOnce(ctx context.Context) (Session, error) {
	challenge, err := s.challenge(ctx)
	if err != nil {
		return Session{}, err
	}
	signature, err := signing.SignChallenge(ctx, s.developer.Key,
		signing.Challenge{ID: challenge.ChallengeID, Payload: challenge.Payload},
		s.seen, signing.VerifyChallengeWith(s.developer.ChallengeVerifier))
	if _, unsigned := errors.AsType[*signing.NotSigned](err); unsigned {
		err = &errors.NotDelivered{CallInfo: opCreateToken.Head(""), Err: err}
	}
	if err != nil {
		return Session{}, err
	}
	asked := time.Now()
	low := s.low.countedIn(moneymovement.WindowLoginChallenge, challenge.ChallengeID)
	grant, err := low.CreateToken(ctx, &tokenRequest{
		ChallengeID: challenge.ChallengeID, PublicKey: s.developer.Key.PublicKey(),
		Signature: moneymovement.NewSecret(base64.StdEncoding.EncodeToString(signature)),
	}, nil)
	if err != nil {
		return Session{}, err
	}
	return sessionOf(opCreateToken.ID, grant, asked)
}

// challenge asks for the bytes to sign. If the service says that the request's expiry is out of range, this machine's
// clock is off by minutes. Then a second request is dated with the service's clock, from the Date header of its
// response.
func (s *session) challenge(ctx context.Context) (*challenge, error) {
	var response moneymovement.Response
	challenge, err := s.challengeAt(ctx, time.Now(), moneymovement.CaptureResponse(&response))
	if _, refused := errors.AsType[*errors.RequestExpired](err); refused {
		if now, parseErr := http.ParseTime(response.Header.Get("Date")); parseErr == nil {
			return s.challengeAt(ctx, now)
		}
	}
	return challenge, err
}

func (s *session) challengeAt(
	ctx context.Context, now time.Time, options ...moneymovement.CallOption,
) (*challenge, error) {
	return s.low.countedIn(moneymovement.WindowLoginEmail, s.developer.Email).CreateChallenge(ctx, &challengeRequest{
		Email:         s.developer.Email,
		RequestExpiry: now.Add(requestWindow).UTC().Truncate(time.Millisecond),
	}, options)
}

// challengeSpent reports that the token call used its challenge, or came too late for it, and returned no session.
func challengeSpent(err error) bool {
	var (
		consumed *errors.ChallengeConsumed
		expired  *errors.ChallengeExpired
		unknown  *errors.InDoubt
	)
	return errors.As(err, &consumed) || errors.As(err, &expired) || errors.As(err, &unknown) &&
		unknown.Operation == opCreateToken.ID
}

// UseKey changes to another developer key of the same account, for the integrator and all its clients. The key must be
// registered at the service.
//
//   - Calls that begin after UseKey log in and sign with the new key.
//   - Running calls end with the old key and its session. Delete the old key in the service's application after they
//     have ended.
//   - There are two exceptions. A running payment uses the new key from its next booking on, and a running wait from
//     its next read on.
//   - A [TokenStore] stays in use. After the next login, it has the session of the new key.
//   - If the key is already in use, its session continues.
//
// UseKey fails with *errors.InvalidInput if the key is nil or has no public key.
func (i *Integrator) UseKey(key signing.Signer) error { return transport.OrNew(i).platform.useKey(key) }

// UseKey does the same as [Integrator.UseKey]: it changes the key for the integrator and all its clients, not only for
// this account.
func (a *Account) UseKey(key signing.Signer) error { return transport.OrNew(a).platform.useKey(key) }

func (p *platform) useKey(key signing.Signer) error {
	p = transport.OrNew(p)
	err := transport.Validate("UseKey", func(c *transport.Check) { c.Constructed(p.transport, constructors) })
	if err != nil {
		return err
	}
	developer := p.keys.current.Load().developer
	developer.Key = key
	if err := developer.validate("UseKey"); err != nil {
		return err
	}
	p.use(developer)
	return nil
}

// use makes a session of the developer the one of calls that begin now. It sends nothing.
func (p *platform) use(developer Developer) {
	s := newSession(p.baseURL, developer, p.seen, p.logger)
	s.low = lowLevel{transport: p.transport}.with(transport.Origin{Auth: s}) // which only names the key in the log
	if before := p.keys.current.Load(); before != nil && before.credential == s.credential {
		// the same key needs no new login, even with another signer
		s.state.Store(&sessionState{Session: before.state.Load().Session})
	}
	p.keys.current.Store(s)
}

// keyring holds the session, with its developer key, of the calls that begin now.
type keyring struct{ current atomic.Pointer[session] }

// session returns the session of the calls, nil for logins.
func (c lowLevel) session() *session {
	if c.pinned != nil || c.keys == nil {
		return c.pinned
	}
	return c.keys.current.Load()
}

// withCurrentSession keeps the calls in the current session, even after UseKey: what was booked with a key is signed
// and confirmed with the same key.
func (c lowLevel) withCurrentSession() lowLevel {
	c.pinned = c.keys.current.Load()
	return c
}

// withHeaderOf returns the service for a method whose options may have headers.
func (s *Payouts) withHeaderOf(options []moneymovement.CallOption) *Payouts {
	if len(options) == 0 {
		return s
	}
	one := *s
	one.low = s.low.withHeaderOf(options)
	return &one
}

// withHeaderOf returns the service for a method whose options may have headers.
func (s *Escrows) withHeaderOf(options []moneymovement.CallOption) *Escrows {
	if len(options) == 0 {
		return s
	}
	one := *s
	one.low = s.low.withHeaderOf(options)
	return &one
}

// withCurrentKey returns the service for one payment, which is booked, signed and confirmed with one key.
func (s *Payouts) withCurrentKey() *Payouts {
	one := *s
	one.low = s.low.withCurrentSession()
	one.approver.low = one.low
	return &one
}

// withCurrentKey returns the service for one action of an escrow, which is prepared, signed and confirmed with one key.
func (s *Escrows) withCurrentKey() *Escrows {
	one := *s
	one.low = s.low.withCurrentSession()
	one.approver.low = one.low
	return &one
}
