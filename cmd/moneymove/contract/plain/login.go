package plain

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// lifetime is how long a challenge is asked for. The service allows up to five minutes.
const lifetime = 2 * time.Minute

// Session is a login with a developer key.
type Session struct{ Access, Refresh string }

// Challenge starts a login that ends at a time.
func (c *Caller) Challenge(ctx context.Context, email string, expiry time.Time) (Reply, error) {
	return c.Send(ctx, http.MethodPost, "/dapi/v1/auth/challenge", Object{"email": email, "requestExpiry": expiry})
}

// Complete signs a challenge, and asks for the tokens. The host chooses the bytes, so what looks like an approval is
// not signed: the error is [*signing.ChallengeRefused].
func (c *Caller) Complete(ctx context.Context, key signing.Signer, challenge Reply) (Reply, error) {
	payload, err := base64.StdEncoding.DecodeString(challenge.Text("payload"))
	if err != nil {
		return Reply{}, fmt.Errorf("the payload of the challenge is not base64: %w", err)
	}
	signature, err := signing.SignChallenge(ctx, key,
		signing.Challenge{ID: challenge.Text("challengeId"), Payload: payload}, nil)
	if err != nil {
		return Reply{}, err
	}
	return c.Send(ctx, http.MethodPost, "/dapi/v1/auth/token", Object{
		"challengeId": challenge.Text("challengeId"), "publicKey": base64.StdEncoding.EncodeToString(key.PublicKey()),
		"signature": base64.StdEncoding.EncodeToString(signature),
	})
}

// Renew asks for the next tokens of a session.
func (c *Caller) Renew(ctx context.Context, session Session) (Reply, error) {
	return c.Send(ctx, http.MethodPost, "/dapi/v1/auth/refresh", Object{"refreshToken": session.Refresh},
		"Authorization", "Bearer "+session.Access)
}

// LogIn logs in at the time now, or at the host's time if its clock differs by minutes. An error says what the host
// responded, without its tokens.
func (c *Caller) LogIn(ctx context.Context, email string, key signing.Signer, now time.Time) (Session, error) {
	challenge, err := c.Challenge(ctx, email, now.Add(lifetime))
	if err != nil {
		return Session{}, err
	}
	if challenge.Slug() == string(errors.CodeRequestExpired) {
		if hosts, wrong := http.ParseTime(challenge.Header.Get("Date")); wrong == nil {
			if challenge, err = c.Challenge(ctx, email, hosts.Add(lifetime)); err != nil {
				return Session{}, err
			}
		}
	}
	if !challenge.Accepted() {
		return Session{}, refused("the login", challenge)
	}
	granted, err := c.Complete(ctx, key, challenge)
	if err != nil {
		return Session{}, err
	}
	session := Session{Access: granted.Text("accessToken"), Refresh: granted.Text("refreshToken")}
	if !granted.Accepted() || session.Access == "" {
		return Session{}, refused("the login", granted)
	}
	return session, nil
}

// Refused is a response that ends a run.
type Refused struct {
	What   string // was refused
	Status int
	Slug   string
}

func (r *Refused) Error() string {
	if r.Slug == "" {
		return fmt.Sprintf("%s: the host responded %d", r.What, r.Status)
	}
	return fmt.Sprintf("%s: the host responded %d %s", r.What, r.Status, r.Slug)
}

func refused(what string, r Reply) error {
	return &Refused{What: what, Status: r.Status, Slug: r.Slug()}
}
