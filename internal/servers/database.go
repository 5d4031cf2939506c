package servers

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// Shared holds one PostgreSQL server for all tests of a program, because a new one takes a second. Each test gets an
// empty database on it. The zero value is ready, and is safe for concurrent use. Keep it in a variable of the test
// package, and stop it in TestMain:
//
//	var shared servers.Shared
//
//	func TestMain(m *testing.M) {
//		defer shared.Stop()
//		m.Run()
//	}
type Shared struct {
	Settings []Setting // of the server; set them before the first test runs

	start   sync.Once
	started *instance
	url     string
	err     error
}

// PostgreSQL returns a new database on the shared server, which it starts if it is the first. The database is dropped
// when the test ends. A test that kills its server is skipped here: it needs the function PostgreSQL.
func (s *Shared) PostgreSQL(t testing.TB) *Server {
	t.Helper()
	tier.Long(t, startsServer)
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
	return database(t, s.url, "other tests use it, so call servers.PostgreSQL")
}

// Stop ends the server and removes its folder. It reports a failure on standard error, since no test runs any more.
func (s *Shared) Stop() {
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
