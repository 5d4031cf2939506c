package hand

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// login is the session of a client that logs in.
type login struct {
	mu    sync.RWMutex
	token string
	ends  time.Time
}

type challengeRequest struct {
	Email         string    `json:"email"`
	RequestExpiry time.Time `json:"requestExpiry"`
}

type challenge struct {
	ChallengeID string    `json:"challengeId"`
	Payload     []byte    `json:"payload"`
	ExpiresAt   time.Time `json:"expiresAt"`
}

type tokenRequest struct {
	ChallengeID string `json:"challengeId"`
	PublicKey   []byte `json:"publicKey"`
	Signature   []byte `json:"signature"`
}

type grant struct {
	AccessToken  string `json:"accessToken"`
	RefreshToken string `json:"refreshToken"`
	ExpiresIn    int    `json:"expiresIn"`
}

// bearer returns the access token. If the client has not logged in yet, it does, once for all goroutines that wait.
func (c *Client) bearer(ctx context.Context) (string, error) {
	if c.Token != "" {
		return c.Token, nil
	}
	c.login.mu.RLock()
	token, ends := c.login.token, c.login.ends
	c.login.mu.RUnlock()
	if token != "" && time.Now().Before(ends) {
		return token, nil
	}
	c.login.mu.Lock()
	defer c.login.mu.Unlock()
	if c.login.token != "" && time.Now().Before(c.login.ends) {
		return c.login.token, nil
	}
	granted, err := c.logIn(ctx)
	if err != nil {
		return "", err
	}
	c.login.token, c.login.ends = granted.AccessToken, time.Now().Add(time.Duration(granted.ExpiresIn)*time.Second)
	return c.login.token, nil
}

func (c *Client) logIn(ctx context.Context) (*grant, error) {
	offered, granted := new(challenge), new(grant)
	err := c.send(ctx, http.MethodPost, "/auth/challenge", http.Header{},
		&challengeRequest{Email: Email, RequestExpiry: time.Now().Add(time.Minute).UTC()}, offered)
	if err != nil {
		return nil, err
	}
	signature, err := c.Key.sign(offered.Payload)
	if err != nil {
		return nil, err
	}
	return granted, c.send(ctx, http.MethodPost, "/auth/token", http.Header{},
		&tokenRequest{ChallengeID: offered.ChallengeID, PublicKey: c.Key.public, Signature: signature}, granted)
}

// Email is the email of the account that logs in.
const Email = "ops@example.com"
