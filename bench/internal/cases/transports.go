package cases

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"

	"github.com/moneymovement/moneymovement-go/bench/internal/service"
)

// Transport is a way to reach the service.
type Transport struct {
	id, title string
	serve     func(s *service.Service, callers int) Place
}

// Memory reaches the service without a connection. The others do over the loopback interface.
var (
	Memory = Transport{"memory", "In memory", inMemory}
	tcp    = Transport{"tcp", "Loopback TCP", served((*httptest.Server).Start)}
	tls1   = Transport{"tls1", "TLS, HTTP/1.1", served((*httptest.Server).StartTLS)}
	tls2   = Transport{"tls2", "TLS, HTTP/2", served(func(s *httptest.Server) {
		s.EnableHTTP2 = true
		s.StartTLS()
	})}
)

// Place is where one side finds its service, and the client that reaches it.
type Place struct {
	Base   string
	Client *http.Client
	opened *atomic.Int64
	close  func()
}

// Read does the work once, and returns what it has read.
type Read func(ctx context.Context) (any, error)

// open serves a service, and prepares one way to do the work there.
func (t Transport) open(s *service.Service, callers int, way func(Place) (Read, error)) (Side, error) {
	p := t.serve(s, callers)
	does, err := way(p)
	return Side{Service: s, Read: does, Opened: p.opened.Load, Close: p.close}, err
}

// InMemory returns a side that does its work against a service in memory.
func InMemory(s *service.Service, does Read) Side {
	return Side{Service: s, Read: does, Opened: func() int64 { return 0 }, Close: func() {}}
}

func inMemory(s *service.Service, _ int) Place {
	return Place{
		Base: service.BaseURL, Client: &http.Client{Transport: s}, opened: new(atomic.Int64), close: func() {},
	}
}

// served returns a transport over a server on the loopback interface, which counts its connections. Both sides get an
// http.Client of the same kind, which keeps a connection for each caller.
func served(start func(*httptest.Server)) func(*service.Service, int) Place {
	return func(s *service.Service, callers int) Place {
		opened := new(atomic.Int64)
		server := httptest.NewUnstartedServer(s)
		server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				opened.Add(1)
			}
		}
		start(server)
		client := server.Client()
		if pool, ok := client.Transport.(*http.Transport); ok {
			pool.MaxIdleConns, pool.MaxIdleConnsPerHost = 0, callers
		}
		return Place{Base: server.URL, Client: client, opened: opened, close: server.Close}
	}
}

// private is the key of both sides.
var private = sync.OnceValues(func() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
})
