package transport_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// A service may refuse a token before it has read the body. net/http then still sends that body while the same call is
// sent again, and the second body is whole.
func TestABodyIsWholeAlthoughTheFirstOneIsStillSent(t *testing.T) {
	large := `{"name":"` + strings.Repeat("Bob", 4<<20) + `"}` // more than sockets hold
	var refusing atomic.Bool
	refusing.Store(true)
	second := make(chan struct{})
	received := make(chan []byte, 1)
	handle := func(conn net.Conn) {
		defer conn.Close()
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if !assert.NoError(t, err) {
			return
		}
		if refusing.Swap(false) {
			respond(conn, "401 Unauthorized", `{"error":{"code":"token_expired","message":"it is old"}}`)
			<-second // the rest of the first body comes while the second one does
			_, _ = io.Copy(io.Discard, req.Body)
			return
		}
		close(second)
		body, _ := io.ReadAll(req.Body)
		received <- body
		respond(conn, "200 OK", oneThing)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go handle(conn)
		}
	}()
	client := newClient(t, "http://"+listener.Addr().String(), once, authorizedBy(&tokens{}))
	r := transport.NewRequest(&bookThing, "", transport.Call{})
	r.Body(transport.Encoded(large), nil)
	booked, err := transport.Do[thing](t.Context(), client, r)
	require.NoError(t, err)
	assert.Equal(t, "th_1", booked.ID)
	sameText := large == string(<-received)
	assert.True(t, sameText) // without printing a megabyte
}

// respond writes a JSON response on a connection.
func respond(conn io.Writer, status, body string) {
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status,
		len(body), body)
}

// The same over HTTP/2, where a service often refuses a token by the header alone.
func TestABodyIsWholeAfterATokenThatIsRefusedByItsHeader(t *testing.T) {
	const renewed = "Bearer token-1"
	large := []byte(`{"name":"` + strings.Repeat("Bob", 1<<16) + `"}`)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != renewed {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"code":"`+string(errors.CodeTokenExpired)+`","message":"it is old"}}`)
			return
		}
		body, err := io.ReadAll(r.Body)
		if assert.NoError(t, err) {
			assert.True(t, bytes.Equal(large, body), "%d bytes", len(body))
		}
		_, _ = io.WriteString(w, oneThing)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for range 8 {
				client := newClient(t, server.URL, once, authorizedBy(&tokens{}),
					func(c *transport.Config) { c.HTTPClient = server.Client() })
				r := transport.NewRequest(&bookThing, "acc_1", transport.Keyed("invoice-42"))
				r.Body(transport.Encoded(large), nil)
				booked, err := transport.Do[thing](t.Context(), client, r)
				if assert.NoError(t, err) {
					assert.Equal(t, "th_1", booked.ID)
				}
			}
		})
	}
	calls.Wait()
}
