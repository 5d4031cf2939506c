package testkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
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
	Long(t, startsServer)
	if url := os.Getenv(postgresURL); url != "" {
		return database(t, url, postgresURL+" names a server that others use")
	}
	return begin(t, &postgres{settings: settings})
}

// Redis starts a Redis server, and stops it when the test ends. If MONEYMOVEMENT_REDIS_URL is set, it returns that
// server as it is, with the keys of other tests in it.
func Redis(t testing.TB, settings ...Setting) *Server {
	t.Helper()
	Long(t, startsServer)
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
		Missing(t, "servers", err.Error())
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

// SharedPostgreSQL holds one PostgreSQL server for all tests of a program, because a new one takes a second. Each test
// gets an empty database on it. The zero value is ready, and is safe for concurrent use. Keep it in a variable of the
// test package, and stop it in TestMain:
//
//	var shared testkit.SharedPostgreSQL
//
//	func TestMain(m *testing.M) {
//		defer shared.Stop()
//		m.Run()
//	}
type SharedPostgreSQL struct {
	Settings []Setting // of the server; set them before the first test runs

	start   sync.Once
	started *instance
	url     string
	err     error
}

// PostgreSQL returns a new database on the shared server, which it starts if it is the first. The database is dropped
// when the test ends. A test that kills its server is skipped here: it needs the function PostgreSQL.
func (s *SharedPostgreSQL) PostgreSQL(t testing.TB) *Server {
	t.Helper()
	Long(t, startsServer)
	s.start.Do(func() {
		if s.url = os.Getenv(postgresURL); s.url != "" {
			return
		}
		of := &postgres{settings: s.Settings}
		if s.started, s.err = run(of); s.err == nil {
			s.url = of.url(s.started.port)
		}
	})
	if s.err != nil {
		refuse(t, s.err)
	}
	return database(t, s.url, "other tests use it, so call testkit.PostgreSQL")
}

// Stop ends the server and removes its folder. It reports a failure on standard error, since no test runs any more.
func (s *SharedPostgreSQL) Stop() {
	s.start.Do(func() { s.err = errors.New("the shared server was stopped before it was used") })
	if s.started == nil {
		return
	}
	if err := s.started.discard(); err != nil {
		fmt.Fprintln(os.Stderr, "servers:", err)
	}
}

// database makes a database with a random name on a running server.
func database(t testing.TB, server, why string) *Server {
	t.Helper()
	name := "test_" + strings.ToLower(rand.Text())
	own, err := url.Parse(server)
	if err != nil {
		t.Fatalf("servers: %s is not a URL such as postgres://user:password@127.0.0.1:5432/postgres", postgresURL)
	}
	own.Path = "/" + name
	if err := execute(server, "CREATE DATABASE "+name); err != nil {
		t.Fatalf("servers: a database of the test: %v", err)
	}
	t.Cleanup(func() {
		if err := execute(server, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Errorf("servers: drop the test's database: %v", err)
		}
	})
	return &Server{t: t, name: "PostgreSQL", url: own.String(), why: why}
}

// execute runs one statement on a server.
func execute(server, statement string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := dial(ctx, server)
	if err != nil {
		return err
	}
	_, err = c.query(statement)
	return errors.Join(err, c.close())
}

// RunningServer is a server that a program starts outside a test. It runs as a test's server does: on a free loopback
// port, with a temporary folder and a random password. It ends with the program's process, on systems that can do so.
type RunningServer struct {
	url      string
	instance *instance // nil for a server that runs elsewhere
}

// StartPostgreSQL starts a PostgreSQL server. Stop it at the end. If MONEYMOVEMENT_POSTGRES_URL is set, it returns the
// database there instead, with what others keep in it. If the server's programs are missing, the error says what to
// install.
func StartPostgreSQL(settings ...Setting) (*RunningServer, error) {
	return running(postgresURL, &postgres{settings: settings})
}

// StartRedis starts a Redis server. Stop it at the end. If MONEYMOVEMENT_REDIS_URL is set, it returns that server
// instead, with what others keep in it. If the server's program is missing, the error says what to install.
func StartRedis(settings ...Setting) (*RunningServer, error) {
	return running(redisURL, &redis{settings: settings})
}

func running(variable string, of engine) (*RunningServer, error) {
	if url := os.Getenv(variable); url != "" {
		return &RunningServer{url: url}, nil
	}
	started, err := run(of)
	if err != nil {
		return nil, err
	}
	return &RunningServer{of.url(started.port), started}, nil
}

// URL returns the address with user, password and database.
func (r *RunningServer) URL() string { return r.url }

// Stop ends the server in its orderly way and removes its folder. A server that runs elsewhere is left alone.
func (r *RunningServer) Stop() error {
	if r.instance == nil {
		return nil
	}
	return r.instance.discard()
}

// NeedServers skips a test if PostgreSQL or Redis is missing, as the functions PostgreSQL and Redis do. It is for a
// test of a program that starts its servers itself.
func NeedServers(t testing.TB) {
	t.Helper()
	Long(t, startsServer)
	for variable, of := range map[string]engine{postgresURL: new(postgres), redisURL: new(redis)} {
		if os.Getenv(variable) != "" {
			continue
		}
		if err := of.find(); err != nil {
			refuse(t, err)
		}
	}
}
