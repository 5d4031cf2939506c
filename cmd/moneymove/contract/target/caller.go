package target

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Object is a JSON object.
type Object map[string]any

// Caller sends requests to one host.
type Caller struct {
	BaseURL string // without /dapi/v1
	Next    http.RoundTripper
}

// Reply is a response as it came.
type Reply struct {
	Status int
	Header http.Header
	Raw    string
	Body   Object // nil if the body is a list, a PDF, or not JSON
}

// Accepted reports a success.
func (r Reply) Accepted() bool { return r.Status >= 200 && r.Status < 300 }

// Text returns a text of the body, or "".
func (r Reply) Text(name string) string {
	value, _ := r.Body[name].(string)
	return value
}

// Object returns an object of the body, or nil.
func (r Reply) Object(name string) Object {
	value, _ := r.Body[name].(map[string]any)
	return value
}

// Slug returns the slug of a refusal, or "".
func (r Reply) Slug() string {
	code, _ := r.Object("error")["code"].(string)
	return code
}

// Send sends a request. A string is sent as it is, any other body as JSON. headers are names and values in turns. Of a
// header that is given twice, the last one is sent.
func (c *Caller) Send(ctx context.Context, method, path string, body any, headers ...string) (Reply, error) {
	var sent []byte
	switch b := body.(type) {
	case nil:
	case string:
		sent = []byte(b)
	default:
		var err error
		if sent, err = json.Marshal(b); err != nil {
			return Reply{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.BaseURL, "/")+path,
		bytes.NewReader(sent))
	if err != nil {
		return Reply{}, err
	}
	if sent != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	return c.Deliver(request)
}

// ErrNoResponse means that no response arrived, or not all of it.
var ErrNoResponse = errors.New("no response")

// Deliver sends a request as it is. It follows no redirect.
func (c *Caller) Deliver(request *http.Request) (Reply, error) {
	response, err := c.Next.RoundTrip(request)
	if err != nil {
		return Reply{}, fmt.Errorf("%w to %s %s: %w", ErrNoResponse, request.Method, request.URL.Path, err)
	}
	raw, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return Reply{}, fmt.Errorf("%w to %s %s: %w", ErrNoResponse, request.Method, request.URL.Path, err)
	}
	r := Reply{Status: response.StatusCode, Header: response.Header, Raw: string(raw)}
	_ = json.Unmarshal(raw, &r.Body) // a list or a PDF has no members
	return r, nil
}

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
		return Session{}, refusedError("the login", challenge)
	}
	granted, err := c.Complete(ctx, key, challenge)
	if err != nil {
		return Session{}, err
	}
	session := Session{Access: granted.Text("accessToken"), Refresh: granted.Text("refreshToken")}
	if !granted.Accepted() || session.Access == "" {
		return Session{}, refusedError("the login", granted)
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

func refusedError(what string, r Reply) error {
	return &Refused{What: what, Status: r.Status, Slug: r.Slug()}
}
