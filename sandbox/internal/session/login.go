package session

import (
	"context"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/deployment"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/window"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire/platformwire"
)

// Login implements the three login operations.
type Login struct {
	Clock      *clock.Clock
	Registry   *Registry
	Tokens     *Tokens
	Challenges *Challenges
	Windows    *window.Counters
	Settings   func() *deployment.Settings
}

// CreateChallenge starts a login. An unknown email gets a challenge as well.
func (l *Login) CreateChallenge(_ context.Context, body platformwire.ChallengeRequest) (wire.Answer, error) {
	if err := l.open(); err != nil {
		return wire.Answer{}, err
	}
	email := CanonicalEmail(body.Email)
	if err := l.Windows.Take(window.LoginEmail, email); err != nil {
		return wire.Answer{}, err
	}
	issued, err := l.Challenges.issue(email, body.RequestExpiry.UTC())
	if err != nil {
		return wire.Answer{}, err
	}
	return wire.Created(platformwire.Challenge{
		ChallengeID: issued.ID, Payload: issued.Payload, ExpiresAt: issued.ExpiresAt,
	}), nil
}

// CreateToken completes a login. Only a success consumes the challenge.
func (l *Login) CreateToken(ctx context.Context, body platformwire.TokenRequest) (wire.Answer, error) {
	if err := l.open(); err != nil {
		return wire.Answer{}, err
	}
	id := body.ChallengeID
	if err := l.Windows.Take(window.LoginChallenge, id); err != nil {
		return wire.Answer{}, err
	}
	issued, err := l.Challenges.open(id)
	if err != nil {
		return wire.Answer{}, err
	}
	key, err := l.prove(ctx, issued, body.PublicKey, body.Signature)
	if err != nil {
		return wire.Answer{}, err
	}
	if err := l.Challenges.consume(id); err != nil {
		return wire.Answer{}, err
	}
	return wire.Created(l.answer(l.Tokens.mint(key.ID))), nil
}

// prove checks a proof of identity: the account, the key, and the signature. It makes all other checks afterwards,
// because only a caller with a valid proof may see their results.
func (l *Login) prove(ctx context.Context, issued challenge, publicKey, signature []byte) (Key, error) {
	key, standing := l.Registry.lookUp(issued.Email, publicKey)
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
	if standing == deletedBefore || !key.allows(wire.CallerOf(ctx).Source) {
		return Key{}, wire.InvalidCredentials()
	}
	return key, nil
}

// RefreshToken creates a new access token, after the checks of every request. It returns the same refresh token.
func (l *Login) RefreshToken(ctx context.Context, body platformwire.RefreshRequest) (wire.Answer, error) {
	if !l.Settings().LoginAvailable {
		return wire.Answer{}, wire.LoginUnavailable()
	}
	refresh := body.RefreshToken
	keyID, ok := l.Tokens.holder(refresh)
	if !ok {
		return wire.Answer{}, wire.InvalidCredentials()
	}
	if err := l.Windows.Take(window.Writes, keyID); err != nil {
		return wire.Answer{}, err
	}
	if _, err := l.Registry.Check(keyID, wire.CallerOf(ctx).Source, ""); err != nil {
		return wire.Answer{}, err
	}
	return wire.Created(l.answer(l.Tokens.renew(refresh))), nil
}

// open reports whether the host accepts logins.
func (l *Login) open() error {
	switch settings := l.Settings(); {
	case !settings.LoginAvailable:
		return wire.LoginUnavailable()
	case settings.LoginMode != deployment.LoginModeDeveloperKey:
		return wire.LoginModeUnavailable(settings.LoginMode)
	default:
		return nil
	}
}

func (l *Login) answer(g grant) platformwire.TokenGrant {
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
