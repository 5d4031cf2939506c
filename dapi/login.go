package dapi

import (
	"context"
	"encoding/base64"
	"net/http"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/signing"
)

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
