package transport_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

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
	for name, answer := range map[string]struct{ kind, body string }{
		"HTML":    {"text/html", "<html>login</html>"},
		"JSON":    {"application/json", `{"id":"th_1"}`},
		"no type": {"", "%PDF-1.7"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil
				if answer.kind != "" {
					w.Header().Set("Content-Type", answer.kind)
				}
				_, _ = io.WriteString(w, answer.body)
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
		resp, err := answers(200, "", "Content-Type", "application/pdf")(req)
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
		resp, err := answers(200, "", "Content-Type", "application/pdf")(req)
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
