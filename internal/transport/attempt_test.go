package transport_test

import (
	"bytes"
	"io"
	"log"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// A caller's transport may break net/http's promises. That counts as a lost response, and does not panic.
func TestTransportsThatAnswerBadly(t *testing.T) {
	answer := func(req *http.Request) *http.Response {
		resp, _ := ok(req)
		return resp
	}
	for name, tc := range map[string]struct {
		outcome step
		success bool
	}{
		"neither answer nor error": {func(*http.Request) (*http.Response, error) { return nil, nil }, false},
		"answer and error": {func(req *http.Request) (*http.Response, error) {
			return answer(req), io.ErrClosedPipe
		}, false},
		"no body": {func(req *http.Request) (*http.Response, error) {
			resp := answer(req)
			resp.Body, resp.ContentLength = nil, 0
			return resp, nil
		}, false},
		"no header": {func(req *http.Request) (*http.Response, error) {
			resp := answer(req)
			resp.Header = nil
			return resp, nil
		}, true},
	} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					_, err := send(t.Context(), newClient(t, host, through(script(tc.outcome))), op, transport.Call{})
					if tc.success {
						require.NoError(t, err)
						return
					}
					require.Error(t, err)
					_, unknown := errors.AsType[*errors.OutcomeUnknown](err)
					assert.Equal(t, op.Method != http.MethodGet, unknown, "%v", err)
				})
			})
		}
	}
}

// The timeout of the caller's client limits each attempt, including the first, up to the end of its body.
func TestTimeoutOfTheGivenClient(t *testing.T) {
	for name, slow := range map[string]step{"no answer": hangs, "half an answer": breaksOff} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := script(slow, ok)
				client := newClient(t, host, func(c *transport.Config) {
					c.HTTPClient = &http.Client{Transport: svc, Timeout: 7 * time.Second}
				})
				started := time.Now()
				_, err := send(t.Context(), client, &bookThing, transport.Call{})
				require.NoError(t, err)
				require.Len(t, svc.attempts(), 2)
				assert.GreaterOrEqual(t, time.Since(started), 7*time.Second)
				assert.Less(t, time.Since(started), 8*time.Second)

				_, err = send(t.Context(),
					newClient(t, host, retries(moneymovement.RetryPolicy{Max: -1}), func(c *transport.Config) {
						c.HTTPClient = &http.Client{Transport: script(slow), Timeout: time.Second}
					}), &bookThing, transport.Call{})
				var unknown *errors.OutcomeUnknown
				require.ErrorAs(t, err, &unknown)
			})
		})
	}
}

// untilDone reads nothing until its request is over.
type untilDone struct{ req *http.Request }

func (u untilDone) Read([]byte) (int, error) {
	<-u.req.Context().Done()
	time.Sleep(time.Nanosecond) // for http.Client to notice its Timeout, which ends the context in the same moment
	return 0, u.req.Context().Err()
}

// The end of the first attempt counts like the end of any other: it is neither repeated twice nor forgotten.
func TestTheFirstAttemptIsMadeOnce(t *testing.T) {
	for name, first := range map[string]step{
		"refused": refuses(503, errors.CodeDatabaseUnavailable), "lost": lostAnswer, "broken off": brokenAnswer,
		"no connection": noConnection,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var printed bytes.Buffer
				log.SetOutput(&printed)        //nolint:forbidigo // which is where http.Client complains
				defer log.SetOutput(os.Stderr) //nolint:forbidigo // as it was
				svc := script(first, ok)
				var answer moneymovement.Response
				_, err := send(t.Context(),
					newClient(t, host, through(svc), retries(moneymovement.RetryPolicy{Max: 1})),
					&bookThing, transport.Kept(&answer))
				require.NoError(t, err)
				assert.Len(t, svc.attempts(), 2)
				assert.Equal(t, 2, answer.Attempts)
				assert.Empty(t, printed.String(), "http.Client has nothing to complain about")

				svc = script(first)
				_, err = send(t.Context(),
					newClient(t, host, through(svc), retries(moneymovement.RetryPolicy{Max: -1})),
					&bookThing, transport.Call{})
				require.Error(t, err)
				assert.Len(t, svc.attempts(), 1)
			})
		})
	}
}
