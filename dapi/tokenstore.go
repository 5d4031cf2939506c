package dapi

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
)

// TokenStore hands a session on, to another process of the same credential or to the next start, so that it need not log in again. One
// store belongs to one credential: of two that share one, each logs in when it finds the other's session. It must be safe for concurrent use.
// Its errors are logged and never fail a call.
type TokenStore interface {
	// Load answers the stored session, or the zero Session if there is none.
	Load(ctx context.Context) (Session, error)
	// Save replaces it.
	Save(ctx context.Context, session Session) error
}

// Session is a login's result. The access token lives 60 minutes, the refresh token 60 days. It prints redacted; [Session.MarshalBinary]
// gives the bytes to store, which are as secret as a password.
//
// Source: Limits, Lifetimes.
type Session struct {
	AccessToken      string
	RefreshToken     string
	ExpiresAt        time.Time // of the access token
	RefreshExpiresAt time.Time // of the refresh token
	// Credential names who logged in where, by a digest of service, email and developer key. A stored session of another credential, or of
	// none, is not used: it would act for another account, or show its tokens to another service.
	Credential string

	lives  time.Duration // the access token, since it was asked for; 0 if another process asked
	bearer []string      // header value, made once
}

// The stated lifetimes, for a grant that does not say how long it lives.
//
// Source: Limits, Lifetimes.
const (
	accessLifetime  = 60 * time.Minute
	refreshLifetime = 60 * 24 * time.Hour
)

// sessionOf dates a grant from when it was asked for, so that it never seems to live longer than it does. It refuses one whose access token
// could not be sent.
func sessionOf(operation string, grant *TokenGrant, asked time.Time) (Session, error) {
	if !sendable(grant.AccessToken) {
		return Session{}, &errors.UnexpectedAnswer{
			Head:   errors.Head{Operation: operation}.WithFacts(callfacts.Facts{ReadOnly: true}), // a login moves no money
			Status: http.StatusCreated, Err: errUnsendable,
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
func sendable(token string) bool {
	return token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// fresh reports that the access token will outlast the next call.
func (s Session) fresh(now time.Time) bool {
	ahead := refreshBefore
	if s.lives > 0 {
		ahead = min(ahead, s.lives/refreshShare)
	}
	return s.AccessToken != "" && now.Add(ahead).Before(s.ExpiresAt)
}

// usable reports that the access token has not expired.
func (s Session) usable(now time.Time) bool { return s.AccessToken != "" && now.Before(s.ExpiresAt) }

func (s Session) refreshable(now time.Time) bool {
	return s.RefreshToken != "" && now.Before(s.RefreshExpiresAt)
}

func (s Session) newerThan(other Session) bool {
	return s.AccessToken != other.AccessToken && s.ExpiresAt.After(other.ExpiresAt)
}

// expireAccess makes the access token count as expired, whatever its time says.
func (s *Session) expireAccess() { s.ExpiresAt = time.Time{} }

func (s Session) withBearer() Session {
	s.bearer = []string{"Bearer " + s.AccessToken}
	return s
}

// storedSession is the form of MarshalBinary.
type storedSession struct {
	AccessToken      string    `json:"accessToken"`
	RefreshToken     string    `json:"refreshToken"`
	ExpiresAt        time.Time `json:"expiresAt"`
	RefreshExpiresAt time.Time `json:"refreshExpiresAt"`
	Credential       string    `json:"credential,omitempty"`
}

// MarshalBinary gives the session with its secrets, to be stored where only the program can read.
func (s Session) MarshalBinary() ([]byte, error) {
	return json.Marshal(storedSession{s.AccessToken, s.RefreshToken, s.ExpiresAt, s.RefreshExpiresAt, s.Credential})
}

// UnmarshalBinary reads what MarshalBinary gave.
func (s *Session) UnmarshalBinary(data []byte) error {
	var stored storedSession
	if err := json.Unmarshal(data, &stored); err != nil {
		return &errors.InvalidInput{Head: errors.Head{Operation: "LoadSession"}, Fields: []errors.Field{{
			Field: "session", Code: "unreadable", Message: fmt.Sprintf("of %d bytes is not readable", len(data)), // the cause could quote a token
		}}}
	}
	*s = Session{
		AccessToken: stored.AccessToken, RefreshToken: stored.RefreshToken,
		ExpiresAt: stored.ExpiresAt, RefreshExpiresAt: stored.RefreshExpiresAt, Credential: stored.Credential,
	}
	return nil
}

// String says when the session ends and nothing else.
func (s Session) String() string {
	if s.AccessToken == "" {
		return "dapi.Session(none)"
	}
	return "dapi.Session(redacted, access until " + s.ExpiresAt.UTC().Format(time.RFC3339) + ")"
}

// Format writes String for every verb and flag.
func (s Session) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// LogValue logs String.
func (s Session) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON writes String, so that a session inside a dumped struct shows no token; use MarshalBinary to store one.
func (s Session) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// load asks the store, if there is one, for a session of this credential that can be used.
func (s *session) load(ctx context.Context) Session {
	if s.developer.Store == nil {
		return Session{}
	}
	stored, err := s.developer.Store.Load(ctx)
	switch {
	case err != nil:
	case stored.Credential == "" && (stored.AccessToken != "" || stored.RefreshToken != ""):
		err = errors.New("it holds a session that does not say whose credential it is of")
	case stored.Credential != "" && stored.Credential != s.credential:
		err = errors.New("it holds the session of another credential")
	case stored.AccessToken != "" && !sendable(stored.AccessToken):
		err = errUnsendable
	}
	if err != nil {
		s.logger.LogAttrs(ctx, slog.LevelWarn, "moneymovement token store does not load", slog.String("error", err.Error()))
		return Session{}
	}
	return stored
}

func (s *session) save(ctx context.Context, renewed Session) {
	if s.developer.Store == nil {
		return
	}
	if err := s.developer.Store.Save(ctx, renewed); err != nil {
		s.logger.LogAttrs(ctx, slog.LevelWarn, "moneymovement token store does not save", slog.String("error", err.Error()))
	}
}
