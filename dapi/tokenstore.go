package dapi

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// TokenStore hands a session on, to another process of the same credential or to the next start, so that it need not
// log in again. One store belongs to one credential: of two that share one, each logs in when it finds the other's
// session. It must be safe for concurrent use. Its errors are logged and never fail a call.
type TokenStore interface {
	// Load answers the stored session, or the zero Session if there is none.
	Load(ctx context.Context) (Session, error)
	// Save replaces it.
	Save(ctx context.Context, session Session) error
}

// Session is a login's result. The access token lives 60 minutes, the refresh token 60 days. No encoder shows its
// tokens: [Session.Export] gives the bytes to store, and [ImportSession] reads them.
//
// Source: Limits, Lifetimes.
type Session struct {
	AccessToken      moneymovement.Secret
	RefreshToken     moneymovement.Secret
	ExpiresAt        time.Time // of the access token
	RefreshExpiresAt time.Time // of the refresh token
	// Credential names who logged in where, as [Developer.Credential] does. A stored session of another credential, or
	// of none, is not used: it would act for another account, or show its tokens to another service.
	Credential string

	lives  time.Duration              // the access token, since it was asked for; 0 if another process asked
	bearer transport.Hidden[[]string] // header value, made once
}

// The stated lifetimes, for a grant that does not say how long it lives.
//
// Source: Limits, Lifetimes.
const (
	accessLifetime  = 60 * time.Minute
	refreshLifetime = 60 * 24 * time.Hour
)

// sessionOf dates a grant from when it was asked for, so that it never seems to live longer than it does. It refuses
// one whose access token could not be sent.
func sessionOf(operation string, grant *TokenGrant, asked time.Time) (Session, error) {
	if !sendable(grant.AccessToken) {
		return Session{}, &errors.UnexpectedResponse{
			// a login moves no money
			CallInfo: errors.CallInfo{Operation: operation}.WithFacts(callfacts.Facts{ReadOnly: true}),
			Status:   http.StatusCreated, Err: errUnsendable,
		}
	}
	lives := lifetime(grant.ExpiresIn, accessLifetime)
	return Session{
		lives:            lives,
		AccessToken:      grant.AccessToken,
		RefreshToken:     grant.RefreshToken,
		ExpiresAt:        asked.Add(lives),
		RefreshExpiresAt: asked.Add(lifetime(grant.RefreshExpiresIn, refreshLifetime)),
	}, nil
}

// lifetime reads seconds, unless there are none or too many to reckon with.
func lifetime(seconds int, stated time.Duration) time.Duration {
	if seconds <= 0 || seconds >= math.MaxInt32 {
		return stated
	}
	return time.Duration(seconds) * time.Second
}

var errUnsendable = errors.New("access token is empty or has characters that no header can carry")

// sendable reports that a token can stand in a header.
func sendable(secret moneymovement.Secret) bool {
	token := secret.Reveal()
	return token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// fresh reports that the access token will outlast the next call.
func (s Session) fresh(now time.Time) bool {
	ahead := refreshBefore
	if s.lives > 0 {
		ahead = min(ahead, s.lives/refreshShare)
	}
	return !s.AccessToken.IsZero() && now.Add(ahead).Before(s.ExpiresAt)
}

// usable reports that the access token has not expired.
func (s Session) usable(now time.Time) bool {
	return !s.AccessToken.IsZero() && now.Before(s.ExpiresAt)
}

func (s Session) refreshable(now time.Time) bool {
	return !s.RefreshToken.IsZero() && now.Before(s.RefreshExpiresAt)
}

func (s Session) newerThan(other Session) bool {
	return !s.AccessToken.Equal(other.AccessToken) && s.ExpiresAt.After(other.ExpiresAt)
}

// expireAccess makes the access token count as expired, whatever its time says.
func (s *Session) expireAccess() { s.ExpiresAt = time.Time{} }

func (s Session) withBearer() Session {
	s.bearer = transport.Hide([]string{"Bearer " + s.AccessToken.Reveal()})
	return s
}

// exportedSession is the form of Export.
type exportedSession struct {
	AccessToken      string    `json:"accessToken"`
	RefreshToken     string    `json:"refreshToken"`
	ExpiresAt        time.Time `json:"expiresAt"`
	RefreshExpiresAt time.Time `json:"refreshExpiresAt"`
	Credential       string    `json:"credential,omitempty"`
}

// Export returns the session with its tokens, for a [TokenStore] to keep. The bytes are as secret as a password: store
// them where only the program can read.
func (s Session) Export() ([]byte, error) {
	return jsonv2.Marshal(exportedSession{s.AccessToken.Reveal(), s.RefreshToken.Reveal(), s.ExpiresAt,
		s.RefreshExpiresAt, s.Credential})
}

// ImportSession reads what [Session.Export] returned. What cannot be read so is *errors.InvalidInput; a member that is
// absent is empty.
func ImportSession(data []byte) (Session, error) {
	var exported exportedSession
	if err := jsonv2.Unmarshal(data, &exported); err != nil {
		return Session{}, &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: "ImportSession"},
			Fields: []errors.Field{{
				// the cause could quote a token
				Field: "session", Code: "unreadable", Message: fmt.Sprintf("of %d bytes is not readable", len(data)),
			}}}
	}
	return Session{
		AccessToken:  moneymovement.NewSecret(exported.AccessToken),
		RefreshToken: moneymovement.NewSecret(exported.RefreshToken),
		ExpiresAt:    exported.ExpiresAt, RefreshExpiresAt: exported.RefreshExpiresAt, Credential: exported.Credential,
	}, nil
}

// String says when the session ends and nothing else.
func (s Session) String() string {
	if s.AccessToken.IsZero() {
		return "dapi.Session(none)"
	}
	return "dapi.Session(redacted, access until " + s.ExpiresAt.UTC().Format(time.RFC3339) + ")"
}

// load asks the store, if there is one, for a session of this credential that can be used.
func (s *session) load(ctx context.Context) Session {
	if s.developer.Store == nil {
		return Session{}
	}
	stored, err := s.developer.Store.Load(ctx)
	switch {
	case err != nil:
	case stored.Credential == "" && (!stored.AccessToken.IsZero() || !stored.RefreshToken.IsZero()):
		err = errors.New("it holds a session that does not say whose credential it is of")
	case stored.Credential != "" && stored.Credential != s.credential:
		err = errors.New("it holds the session of another credential")
	case !stored.AccessToken.IsZero() && !sendable(stored.AccessToken):
		err = errUnsendable
	}
	if err != nil {
		s.logger.LogAttrs(ctx, slog.LevelWarn, "moneymovement token store does not load",
			slog.String("error", err.Error()))
		return Session{}
	}
	return stored
}

func (s *session) save(ctx context.Context, renewed Session) {
	if s.developer.Store == nil {
		return
	}
	if err := s.developer.Store.Save(ctx, renewed); err != nil {
		s.logger.LogAttrs(ctx, slog.LevelWarn, "moneymovement token store does not save",
			slog.String("error", err.Error()))
	}
}
