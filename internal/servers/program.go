package servers

import (
	"os"
	"testing"

	"github.com/moneymovement/moneymovement-go/internal/tier"
)

// Running is a server of a program that is no test. It runs as a test's server does: on a free loopback port, with a
// temporary folder and a random password. It ends with the program's process, on systems that can do so.
type Running struct {
	url      string
	instance *instance // nil for a server that runs elsewhere
}

// StartPostgreSQL starts a PostgreSQL server. Stop it at the end. If MONEYMOVEMENT_POSTGRES_URL is set, it returns the
// database there instead, with what others keep in it. If the server's programs are missing, the error says what to
// install.
func StartPostgreSQL(settings ...Setting) (*Running, error) {
	return running(postgresURL, &postgres{settings: settings})
}

// StartRedis starts a Redis server. Stop it at the end. If MONEYMOVEMENT_REDIS_URL is set, it returns that server
// instead, with what others keep in it. If the server's program is missing, the error says what to install.
func StartRedis(settings ...Setting) (*Running, error) {
	return running(redisURL, &redis{settings: settings})
}

func running(variable string, of engine) (*Running, error) {
	if url := os.Getenv(variable); url != "" {
		return &Running{url: url}, nil
	}
	started, err := run(of)
	if err != nil {
		return nil, err
	}
	return &Running{of.url(started.port), started}, nil
}

// URL returns the address with user, password and database.
func (r *Running) URL() string { return r.url }

// Stop ends the server in its orderly way and removes its folder. A server that runs elsewhere is left alone.
func (r *Running) Stop() error {
	if r.instance == nil {
		return nil
	}
	return r.instance.discard()
}

// Need skips a test if PostgreSQL or Redis is missing, as the functions PostgreSQL and Redis do. It is for a test of a
// program that starts its servers itself.
func Need(t testing.TB) {
	t.Helper()
	tier.Long(t, startsServer)
	for variable, of := range map[string]engine{postgresURL: new(postgres), redisURL: new(redis)} {
		if os.Getenv(variable) != "" {
			continue
		}
		if err := of.find(); err != nil {
			refuse(t, err)
		}
	}
}
