package transport_test

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
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// dripping is a body that brings one byte at a time, as net/http's transport would: until its request's context ends.
type dripping struct {
	ctx   context.Context
	every time.Duration // 0 for never
	left  int
}

func (d *dripping) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	var next <-chan time.Time
	if d.every > 0 {
		next = time.After(d.every)
	}
	select {
	case <-next:
		d.left--
		p[0] = ' '
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (d *dripping) Close() error { return nil }

// stubborn is a body that brings one byte at a time and ignores the end of its request, like some transports of
// callers.
type stubborn struct{ every time.Duration }

func (s stubborn) Read(p []byte) (int, error) {
	<-time.After(s.every)
	p[0] = ' '
	return 1, nil
}

func (stubborn) Close() error { return nil }

// Even a body that ignores the end of its request is read for at most a minute and its last byte.
func TestABodyThatDoesNotHearHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client := newClient(t, host, once, through(script(func(req *http.Request) (*http.Response, error) {
			resp, err := answers(http.StatusOK, "")(req)
			resp.Body, resp.ContentLength = stubborn{25 * time.Second}, -1
			return resp, err
		})))
		_, err := send(t.Context(), client, &readThing, transport.Call{})
		require.ErrorContains(t, err, "the response body cannot be read")
		assert.ErrorContains(t, errors.Unwrap(err), "ended after 3 bytes")
		assert.Equal(t, 75*time.Second, time.Since(began))
	})
}

// drips returns a response whose body drips.
func drips(status int, kind string, every time.Duration, bytes int) step {
	return func(req *http.Request) (*http.Response, error) {
		resp, err := answers(status, "", "Content-Type", kind)(req)
		resp.Body, resp.ContentLength = &dripping{req.Context(), every, bytes}, -1
		return resp, err
	}
}

func once(c *transport.Config) { c.Retries = moneymovement.RetryPolicy{Max: -1} }

// Without a deadline of the caller, a response that has begun does not block a call for ever.
func TestABodyThatDripsHasAnEnd(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		every  time.Duration
		took   time.Duration
	}{
		"nothing comes":     {200, 0, 30 * time.Second},
		"a drop at a time":  {200, 7 * time.Second, time.Minute},
		"too seldom":        {200, 31 * time.Second, 30 * time.Second},
		"a refusal's body":  {503, 0, 30 * time.Second},
		"a refusal, slowly": {400, 7 * time.Second, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := newClient(t, host, through(script(drips(tc.status, "application/json", tc.every, 1000))),
					once)
				began := time.Now()
				_, err := send(t.Context(), client, &readThing, transport.Call{})
				assert.Equal(t, tc.took, time.Since(began))
				broken, ok := errors.AsType[*errors.UnexpectedResponse](err)
				require.True(t, ok, "%v", err)
				assert.ErrorContains(t, broken.Err, "the response body takes too long")
				require.NotErrorIs(t, err, context.Canceled, "the caller has not ended anything")

				began = time.Now()
				_, err = send(t.Context(), client, &bookThing, transport.Call{})
				assert.Equal(t, tc.took, time.Since(began))
				unknown, ok := errors.AsType[*errors.OutcomeUnknown](err)
				require.True(t, ok, "a write may have been carried out: %v", err)
				assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
			})
		})
	}
}

// It counts as a lost response, so a call that is safe to repeat is repeated.
func TestABodyThatDripsIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, status := range []int{200, 503} {
			svc := script(drips(status, "application/json", 0, 1), ok)
			began := time.Now()
			_, err := send(t.Context(), newClient(t, host, through(svc)), &readThing, transport.Call{})
			require.NoError(t, err)
			assert.Len(t, svc.attempts(), 2)
			assert.InDelta(t, 30, time.Since(began).Seconds(), 1)
		}
	})
}

func TestABodyThatComesSlowlyButSurely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(func(req *http.Request) (*http.Response, error) {
			resp, err := answers(200, "")(req)
			resp.Body = io.NopCloser(io.MultiReader(&dripping{req.Context(), 5 * time.Second, 10},
				strings.NewReader(oneThing)))
			resp.ContentLength = -1
			return resp, err
		})
		_, err := send(t.Context(), newClient(t, host, through(svc), once), &readThing, transport.Call{})
		require.NoError(t, err)
	})
}

// A stream may take its time, and so may its reader. Only a stream that brings no bytes is ended.
func TestAStreamThatStallsHasAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open := func(every time.Duration, bytes int) *transport.Stream {
			client := newClient(t, host, through(script(drips(200, "application/pdf", every, bytes))), once)
			stream, err := transport.Open(t.Context(), client, request(&renderThing, transport.Call{}),
				"application/pdf")
			require.NoError(t, err)
			return stream
		}
		steady := open(10*time.Second, 100)
		got, err := io.ReadAll(steady)
		require.NoError(t, err)
		assert.Len(t, got, 100)
		require.NoError(t, steady.Close())

		leisurely := open(time.Second, 3)
		for range 3 {
			time.Sleep(time.Hour)
			_, err = leisurely.Read(make([]byte, 1))
			require.NoError(t, err)
		}
		require.NoError(t, leisurely.Close())

		stalled := open(0, 1)
		began := time.Now()
		_, err = io.ReadAll(stalled)
		broken, ok := errors.AsType[*errors.UnexpectedResponse](err)
		require.True(t, ok, "%v", err)
		assert.ErrorContains(t, broken.Err, "the response body takes too long")
		assert.Equal(t, 30*time.Second, time.Since(began))
		require.NoError(t, stalled.Close())
	})
}
