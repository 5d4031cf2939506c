// Package servers starts real PostgreSQL and Redis servers for tests. Each test gets a server of its own: on a free
// loopback port, with a temporary folder and a random password, and never as root. The server ends with the test.
//
//	server := servers.PostgreSQL(t)
//	pool, err := pgxpool.New(t.Context(), server.URL())
//
// Where a program is missing, the test is skipped with one line that says what to install. With
// MONEYMOVEMENT_REQUIRE=servers it fails instead, so that a machine that must run these tests cannot skip them. With
// -short it is always skipped.
//
// MONEYMOVEMENT_POSTGRES_URL and MONEYMOVEMENT_REDIS_URL name running servers to use instead. A test that kills its
// server is then skipped. MONEYMOVEMENT_POSTGRES_BIN names the folder of PostgreSQL's programs, if there are several.
//
// A program that is no test starts a server with [StartPostgreSQL] or [StartRedis].
//
// Data is as durable as the server can make it: PostgreSQL runs with fsync, Redis writes its log before it responds.
package servers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// Server is a running server of a test. Its methods end the test if they fail, so call them from the test's goroutine.
// URL alone is safe from any goroutine.
type Server struct {
	t        testing.TB
	name     string
	url      string
	instance *instance // nil for a server that runs elsewhere, or that other tests use
	why      string    // why there is no instance
}

// Setting is one line of a server's configuration, such as {"max_connections", "300"} for PostgreSQL or {"appendfsync",
// "everysec"} for Redis. It replaces the default.
type Setting struct{ Name, Value string }

// PostgreSQL starts a PostgreSQL server, and stops it when the test ends. If MONEYMOVEMENT_POSTGRES_URL is set, it
// makes a database on that server instead, and drops it when the test ends.
func PostgreSQL(t testing.TB, settings ...Setting) *Server {
	t.Helper()
	tier.Long(t, startsServer)
	if url := os.Getenv(postgresURL); url != "" {
		return database(t, url, postgresURL+" names a server that others use")
	}
	return begin(t, &postgres{settings: settings})
}

// Redis starts a Redis server, and stops it when the test ends. If MONEYMOVEMENT_REDIS_URL is set, it returns that
// server as it is, with the keys of other tests in it.
func Redis(t testing.TB, settings ...Setting) *Server {
	t.Helper()
	tier.Long(t, startsServer)
	if url := os.Getenv(redisURL); url != "" {
		return &Server{t: t, name: "Redis", url: url, why: redisURL + " names a server that others use"}
	}
	return begin(t, &redis{settings: settings})
}

// startsServer is why a test that uses this package takes its time.
const startsServer = "starts a real server"

// The environment variables, as the package's documentation explains them.
const (
	postgresURL    = "MONEYMOVEMENT_POSTGRES_URL"
	postgresFolder = "MONEYMOVEMENT_POSTGRES_BIN"
	redisURL       = "MONEYMOVEMENT_REDIS_URL"
)

// URL returns the address with user, password and database. It stays the same when the server restarts.
func (s *Server) URL() string { return s.url }

// Kill ends the server and all its processes with SIGKILL, and returns when they are gone. It does nothing if the
// server is down.
func (s *Server) Kill() {
	s.t.Helper()
	s.must("kill", s.own().kill)
}

// Stop ends the server in its orderly way: it closes all connections and writes everything to its folder. It does
// nothing if the server is down.
func (s *Server) Stop() {
	s.t.Helper()
	s.must("stop", s.own().stop)
}

// Restart starts a server that is down on the same folder and port, and returns when it is ready for connections.
func (s *Server) Restart() {
	s.t.Helper()
	s.must("restart", s.own().restart)
}

// own returns the test's own server, and skips the test if it has none.
func (s *Server) own() *instance {
	s.t.Helper()
	if s.instance == nil {
		s.t.Skipf("the test kills or stops its %s server, which it cannot here: %s", s.name, s.why)
	}
	return s.instance
}

func (s *Server) must(what string, do func() error) {
	s.t.Helper()
	if err := do(); err != nil {
		s.t.Fatalf("servers: %s %s: %v", what, s.name, err)
	}
}

// begin starts a server that ends with the test.
func begin(t testing.TB, of engine) *Server {
	t.Helper()
	started, err := run(of)
	if err != nil {
		refuse(t, err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("The end of %s's log:\n%s", of.name(), started.log())
		}
		if err := started.discard(); err != nil {
			t.Errorf("servers: %v", err)
		}
	})
	return &Server{t: t, name: of.name(), url: of.url(started.port), instance: started}
}

// missingError says which program is missing, and what brings it.
type missingError struct{ what, install string }

func (e *missingError) Error() string {
	return fmt.Sprintf("%s not found: install Debian's package %s", e.what, e.install)
}

// refuse skips the test if a program is missing or the system cannot run it, and fails it for any other reason.
func refuse(t testing.TB, err error) {
	t.Helper()
	var missing *missingError
	if errors.As(err, &missing) || errors.Is(err, errors.ErrUnsupported) {
		tier.Missing(t, "servers", err.Error())
	}
	t.Fatalf("servers: %v", err)
}

// tail returns the last lines of a text.
func tail(text string, lines int) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// The ports that servers get. They are below the ones that Linux, macOS and Windows give to outgoing connections.
// Otherwise a client that dials a server which is down can get the server's own port, and then it talks to itself.
const (
	lowestPort = 15_000
	ports      = 15_000
)

// FreePort returns a loopback port that nobody listens on. Another process can take it before you do.
func FreePort() (int, error) {
	var taken error
	for range portTries {
		offset, err := rand.Int(rand.Reader, big.NewInt(ports))
		if err != nil {
			return 0, err
		}
		port := lowestPort + int(offset.Int64())
		listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp4", address(port))
		if err != nil {
			taken = errors.Join(taken, err)
			continue
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("no free port between %d and %d: %w", lowestPort, lowestPort+ports, taken)
}

func address(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
