package sandbox_test

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// endless is a body that never ends, and counts what is read of it.
type endless struct{ read atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read.Add(int64(len(p)))
	return len(p), nil
}

// Rule: session.bearer
func TestStrangersHaveNothingOfABodyRead(t *testing.T) {
	w := newWorld(t)
	for name, path := range map[string]string{
		"platform": "/dapi/v1/clients", "app": "/user/contact", "reference": "/api/v1/wallet/login",
	} {
		t.Run(name, func(t *testing.T) {
			t.Run("refused at once", func(t *testing.T) {
				conn := dial(t, w.server.Listener.Addr().String())
				_, err := io.WriteString(conn, head(path, 100))
				require.NoError(t, err)
				answer, err := http.ReadResponse(bufio.NewReader(conn), nil) // the body has yet to come
				require.NoError(t, err)
				defer answer.Body.Close()
				text, err := io.ReadAll(answer.Body)
				require.NoError(t, err)
				assert.Equal(t, http.StatusUnauthorized, answer.StatusCode)
				assert.Contains(t, string(text), "unauthenticated")
			})
			t.Run("not read", func(t *testing.T) {
				body := &endless{}
				request := httptest.NewRequest(http.MethodPost, path, io.LimitReader(body, 1<<30))
				request.Header.Set("Content-Type", "application/json")
				recorder := httptest.NewRecorder()
				w.host.ServeHTTP(recorder, request)
				assert.Equal(t, http.StatusUnauthorized, recorder.Code)
				assert.Zero(t, body.read.Load())
			})
			t.Run("of any length", func(t *testing.T) {
				refused(t, http.StatusUnauthorized, "unauthenticated",
					w.call("POST", path, strings.Repeat(" ", 15<<20)))
			})
		})
	}
}
