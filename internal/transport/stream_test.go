package transport_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
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

var renderThing = transport.Operation{ID: "RenderThing", Method: http.MethodGet, Path: "/things/{thingId}"}

func open(t *testing.T, serve http.HandlerFunc) (*transport.Stream, error) {
	t.Helper()
	server := httptest.NewServer(serve)
	t.Cleanup(server.Close)
	stream, err := transport.Open(t.Context(), newClient(t, server.URL), request(&renderThing, transport.Call{}),
		"application/pdf")
	if err == nil {
		t.Cleanup(func() { _ = stream.Close() })
	}
	return stream, err
}

func TestStreamGivesTheBytesAsTheyCome(t *testing.T) {
	body := strings.Repeat("pdf ", 100_000)
	stream, err := open(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "application/json", r.Header.Get("Accept"), "also for other types")
		w.Header().Set("Content-Type", "application/pdf; charset=binary")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Header().Set("X-Request-ID", "req_1")
		_, _ = io.WriteString(w, body)
	})
	require.NoError(t, err)
	assert.Equal(t, "application/pdf", stream.ContentType)
	assert.EqualValues(t, len(body), stream.Length)
	assert.Equal(t, "req_1", stream.RequestID)
	got, err := io.ReadAll(stream)
	require.NoError(t, err)
	assert.Equal(t, body, string(got))
}

func TestStreamOfAnotherTypeIsRefused(t *testing.T) {
	for name, response := range map[string]struct{ kind, body string }{
		"HTML":    {"text/html", "<html>login</html>"},
		"JSON":    {"application/json", `{"id":"th_1"}`},
		"no type": {"", "%PDF-1.7"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if response.kind != "" {
					w.Header().Set("Content-Type", response.kind)
				}
				_, _ = io.WriteString(w, response.body)
			})
			unexpected, ok := errors.AsType[*errors.UnexpectedResponse](err)
			require.True(t, ok, "%v", err)
			assert.Equal(t, http.StatusOK, unexpected.Status)
		})
	}
}

func TestStreamThatIsTooLong(t *testing.T) {
	t.Run("as announced", func(t *testing.T) {
		_, err := open(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Length", strconv.Itoa(65<<20))
		})
		_, ok := errors.AsType[*errors.UnexpectedResponse](err)
		assert.True(t, ok, "%v", err)
	})
	t.Run("as long as may be, as announced", func(t *testing.T) {
		_, err := open(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			w.Header().Set("Content-Length", strconv.Itoa(64<<20))
		})
		assert.NoError(t, err)
	})
	t.Run("unannounced", func(t *testing.T) {
		chunk := make([]byte, 1<<20)
		stream, err := open(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/pdf")
			for range 65 {
				_, _ = w.Write(chunk)
			}
		})
		require.NoError(t, err)
		n, err := io.Copy(io.Discard, stream)
		_, ok := errors.AsType[*errors.UnexpectedResponse](err)
		assert.True(t, ok, "%v", err)
		assert.EqualValues(t, 64<<20, n)
	})
	t.Run("unannounced, read at once", func(t *testing.T) {
		for _, more := range []int{0, 1, 100} {
			chunk := make([]byte, 1<<20)
			stream, err := open(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/pdf")
				for range 64 {
					_, _ = w.Write(chunk)
				}
				_, _ = w.Write(chunk[:more])
			})
			require.NoError(t, err)
			whole := make([]byte, 65<<20)
			n, err := io.ReadFull(stream, whole)
			assert.Equal(t, 64<<20, n, "no more than the bound, however much room there is")
			_, tooLong := errors.AsType[*errors.UnexpectedResponse](err)
			assert.Equal(t, more > 0, tooLong, "%v", err)
		}
	})
}

// closing is a body that notes when it was closed.
type closing struct {
	io.Reader
	closed *bool
}

func (c closing) Close() error { *c.closed = true; return io.ErrClosedPipe }

func TestAStreamIsClosed(t *testing.T) {
	closed := false
	next := script(func(req *http.Request) (*http.Response, error) {
		resp, err := responds(200, "", "Content-Type", "application/pdf")(req)
		resp.Body = closing{strings.NewReader("pdf"), &closed}
		return resp, err
	})
	var kept moneymovement.Response
	stream, err := transport.Open(t.Context(), newClient(t, host, through(next)),
		request(&renderThing, transport.Kept(&kept)), "application/pdf")
	require.NoError(t, err)
	assert.Equal(t, 200, kept.Status)
	assert.Empty(t, kept.Body, "it is the stream's")
	assert.False(t, closed)
	require.ErrorIs(t, stream.Close(), io.ErrClosedPipe)
	assert.True(t, closed)
}

// A stream may be closed while it is read, for example by a server whose own caller has left.
func TestAStreamIsClosedWhileItIsRead(t *testing.T) {
	ours, theirs := io.Pipe()
	t.Cleanup(func() { _ = theirs.Close() })
	next := script(func(req *http.Request) (*http.Response, error) {
		resp, err := responds(200, "", "Content-Type", "application/pdf")(req)
		resp.Body = ours
		return resp, err
	})
	stream, err := transport.Open(t.Context(), newClient(t, host, through(next)),
		request(&renderThing, transport.Call{}), "application/pdf")
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := stream.Read(make([]byte, 1))
		ended <- err
	}()
	require.NoError(t, stream.Close())
	require.ErrorIs(t, <-ended, io.ErrClosedPipe)
}

func TestStreamThatBreaksOff(t *testing.T) {
	stream, err := open(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "%PDF")
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	require.NoError(t, err)
	_, err = io.ReadAll(stream)
	unexpected, ok := errors.AsType[*errors.UnexpectedResponse](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "RenderThing", unexpected.Operation)
}

func TestStreamRefusalsAreTyped(t *testing.T) {
	_, err := open(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error":{"code":"not_found","message":"No such invoice."}}`)
	})
	_, ok := errors.AsType[*errors.NotFound](err)
	assert.True(t, ok, "%v", err)
}

func TestStreamEndsWithItsContext(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "%PDF")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := transport.Open(ctx, newClient(t, server.URL), request(&renderThing, transport.Call{}),
		"application/pdf")
	require.NoError(t, err)
	t.Cleanup(func() { _ = stream.Close() })
	cancel()
	_, err = io.ReadAll(stream)
	assert.ErrorIs(t, err, context.Canceled)
}

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
func TestBodyThatIgnoresItsContextIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client := newClient(t, host, once, through(script(func(req *http.Request) (*http.Response, error) {
			resp, err := responds(http.StatusOK, "")(req)
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
		resp, err := responds(status, "", "Content-Type", kind)(req)
		resp.Body, resp.ContentLength = &dripping{req.Context(), every, bytes}, -1
		return resp, err
	}
}

func once(c *transport.Config) { c.Retries = moneymovement.RetryPolicy{Max: -1} }

// Without a deadline of the caller, a response that has begun does not block a call for ever.
func TestSlowBodyIsBounded(t *testing.T) {
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
				unknown, ok := errors.AsType[*errors.InDoubt](err)
				require.True(t, ok, "a write may have been carried out: %v", err)
				assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
			})
		})
	}
}

// It counts as a lost response, so a call that is safe to repeat is repeated.
func TestSlowBodyIsRetried(t *testing.T) {
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

func TestSteadyBodyIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(func(req *http.Request) (*http.Response, error) {
			resp, err := responds(200, "")(req)
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

// A stream has the context of its call until it is closed, with the timeout of the call.
func TestAStreamHasTheTimeoutOfItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent context.Context
		auth := new(noticing)
		pdf := script(func(req *http.Request) (*http.Response, error) {
			sent = req.Context() //nolint:fatcontext // the test looks at how it ends
			return responds(200, "pdf", "Content-Type", "application/pdf")(req)
		})
		var call transport.Call
		call.Timeout = new(time.Minute)
		openIt := func(mediaType string) (*transport.Stream, error) {
			client := newClient(t, host, through(pdf), authorizedBy(auth))
			return transport.Open(t.Context(), client, request(&renderThing, call), mediaType)
		}
		stream, err := openIt("application/pdf")
		require.NoError(t, err)
		require.NoError(t, sent.Err())
		require.NoError(t, stream.Close())
		require.ErrorIs(t, sent.Err(), context.Canceled)
		require.ErrorIs(t, auth.of.Err(), context.Canceled, "the timer of the call is gone")

		stream, err = openIt("application/pdf")
		require.NoError(t, err)
		time.Sleep(time.Minute - 1)
		require.NoError(t, sent.Err())
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.ErrorIs(t, sent.Err(), context.DeadlineExceeded)
		require.NoError(t, stream.Close())

		_, err = openIt("image/png")
		require.Error(t, err)
		require.ErrorIs(t, sent.Err(), context.Canceled)
		require.ErrorIs(t, auth.of.Err(), context.Canceled)
	})
}
