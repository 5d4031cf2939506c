package dapi_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// transportFunc is a connection to the service in one function.
type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var errUnlike = errors.New("an error of the caller's own kind")

// mishaps are what can go wrong with any call.
var mishaps = map[string]struct {
	ctx  func(context.Context) (context.Context, context.CancelFunc)
	next transportFunc
	sign error
}{
	"canceled before": {ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx, cancel
	}},
	"canceled before, for a cause": {ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(errUnlike)
		return ctx, func() {}
	}},
	"out of time": {
		ctx: func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
		next: func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
	},
	"no network":        {next: func(*http.Request) (*http.Response, error) { return nil, errUnlike }},
	"neither of both":   {next: func(*http.Request) (*http.Response, error) { return nil, nil }}, //nolint:nilnil // what is tested
	"not the service":   {next: page(http.StatusOK, "text/html", "<html>hello</html>")},
	"a gateway":         {next: page(http.StatusBadGateway, "text/html", "<html>sorry</html>")},
	"nothing at all":    {next: page(http.StatusNoContent, "", "")},
	"null":              {next: page(http.StatusOK, "application/json", "null")},
	"another status":    {next: page(http.StatusTeapot, "application/json", "{}")},
	"the signer fails":  {sign: errUnlike},
	"a slug of its own": {next: page(http.StatusConflict, "application/json", `{"error":{"code":"of_its_own"}}`)},
}

func page(status int, kind, body string) transportFunc {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

// silent are the writes of which the description does not say what they return: any success is one.
var silent = map[string]bool{
	"SaveKYB": true, "CompleteKYB": true, "UpdateContact": true, "OpenRail": true,
	"CreateDeposit": true, "CompletePayin": true, "MovePayout": true,
}

// failingSigner is a key that is held elsewhere, out of reach.
type failingSigner struct {
	signing.Signer
	err error
}

func (s failingSigner) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	return s.Signer.Sign(ctx, message)
}

// No error leaves the SDK that does not answer for its call: with a session and without, whatever happens to it.
func TestEveryErrorAnswersForItsCall(t *testing.T) {
	key, err := signing.Generate()
	require.NoError(t, err)
	for mishap, m := range mishaps {
		for _, store := range []dapi.TokenStore{loggedIn(baseURL, key).Store, nil} {
			for operation, x := range exchanges {
				if m.next == nil && m.ctx == nil && store != nil {
					continue // nothing to sign
				}
				t.Run(mishap+"/"+operation, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						ctx, cancel := t.Context(), context.CancelFunc(func() {})
						if m.ctx != nil {
							ctx, cancel = m.ctx(ctx)
						}
						defer cancel()
						next := m.next
						if next == nil { // a service that only knows challenges
							next = page(http.StatusCreated, "application/json", `{"challengeId":"ch_1","payload":"YQ=="}`)
						}
						platform, err := dapi.NewWhitelabel(baseURL,
							dapi.Developer{Email: "ops@example.com", Key: failingSigner{key, m.sign}, Store: store},
							moneymovement.WithHTTPClient(&http.Client{Transport: next}))
						require.NoError(t, err)

						_, err = x.call(ctx, platform)
						if err == nil {
							assert.True(t, x.answer == "" || silent[operation], "an answer that nobody gave")
							return
						}
						answersForItsCall(t, err)
						time.Sleep(3 * time.Minute) // until a login that nobody waits for has ended
					})
				})
			}
		}
	}
}

func answersForItsCall(t *testing.T, err error) {
	t.Helper()
	failure, ok := errors.AsType[errors.Failure](err)
	require.True(t, ok, "%T: %v", err, err)
	assert.NotEmpty(t, failure.MovedByCall())
	head, ok := errors.HeadOf(err)
	require.True(t, ok, "%T: %v", err, err)
	assert.NotEmpty(t, head.Operation)
	assert.NotContains(t, err.Error(), "\n")
}

func TestFlowErrorsAnswerTheSameQuestions(t *testing.T) {
	pending := func(resource string) error { return &dapi.StillPending{Progress: dapi.Progress{Resource: resource}} }
	for name, tc := range map[string]struct {
		err       error
		retryable bool
		moved     errors.Movement
	}{
		"a payout that goes on":  {pending("payout"), true, errors.MaybeMoved},
		"a deal that goes on":    {pending("escrow"), true, errors.MaybeMoved},
		"a payin that goes on":   {pending("payin"), true, errors.MaybeMoved},
		"a review that goes on":  {pending("verification"), true, errors.NotMoved},
		"a client not yet ready": {pending("client"), true, errors.NotMoved},
		"a payin that ended":     {&dapi.PayinNotCompleted{}, false, errors.NotMoved},
		"a channel that is down": {&dapi.ChannelUnavailable{}, true, errors.NotMoved},
		"a rail nobody has":      {&dapi.RailNotListed{}, false, errors.NotMoved},
		"a deal that lapsed":     {&dapi.EscrowNotOpened{}, false, errors.NotMoved},
		"a payout that failed":   {&dapi.PayoutNotCompleted{}, false, errors.NotMoved},
		"other terms":            {&dapi.TermsDiffer{}, false, errors.NotMoved},
		"another price":          {&dapi.PriceRefused{}, false, errors.NotMoved},
		"a hook that declines":   {&dapi.PaymentDeclined{}, true, errors.NotMoved},
		"a key too old":          {&dapi.KeyTooOld{}, false, errors.NotMoved},
		"a rail not yet active":  {pending("rail"), true, errors.NotMoved},
		"an approval refused":    {&signing.ApprovalRefused{}, false, errors.NotMoved},
		"a key that cannot sign": {&signing.NotSigned{}, true, errors.NotMoved},
		"a key that signs wrong": {&signing.RemoteSignatureRefused{}, false, errors.NotMoved},
	} {
		t.Run(name, func(t *testing.T) {
			failure, ok := errors.AsType[errors.Failure](tc.err)
			require.True(t, ok)
			assert.Equal(t, tc.retryable, failure.Retryable())
			assert.Equal(t, tc.moved, failure.MovedByCall())
		})
	}
}
