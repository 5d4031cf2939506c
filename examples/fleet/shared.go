package main

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
	windows "github.com/moneymovement/moneymovement-go/fleet"
	fleetredis "github.com/moneymovement/moneymovement-go/fleet/redis"
	"github.com/moneymovement/moneymovement-go/internal/testkit"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
)

// running are the servers that the fleet shares.
type running struct{ postgres, redis *testkit.RunningServer }

// startServers starts servers for this run. A backend has its own.
func startServers() (r running, err error) {
	if r.postgres, err = testkit.StartPostgreSQL(); err != nil {
		return r, err
	}
	if r.redis, err = testkit.StartRedis(); err != nil {
		return r, errors.Join(err, r.postgres.Stop())
	}
	return r, nil
}

// stop ends the servers. Ctrl-C reaches them as well: then they may have ended already.
func (r running) stop(ctx context.Context) error {
	if err := errors.Join(r.redis.Stop(), r.postgres.Stop()); ctx.Err() == nil {
		return err
	}
	return nil
}

// fleetSettings are what every process of the fleet must know. The URLs have passwords in them.
type fleetSettings struct {
	postgres, redis string
	schema          string        // of all tables of this run
	minute          time.Duration // of the rate windows that the workers state
}

// fleet is one process's connection to what the fleet shares.
type fleet struct {
	settings fleetSettings
	pool     *pgxpool.Pool
	redis    *redis.Client
	store    *postgres.Store
	platform *dapi.Integrator
}

// create makes the tables, and joins the fleet.
func (s fleetSettings) create(ctx context.Context, p *program.Program) (*fleet, error) {
	pool, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	if err := postgres.Migrate(ctx, pool, s.schema); err != nil { // which creates the schema
		return nil, err
	}
	if err := postgres.MigrateRiver(ctx, pool, s.schema); err != nil {
		return nil, err
	}
	if _, err := pool.Exec(ctx, `CREATE TABLE invoices (number int PRIMARY KEY, client text NOT NULL,
		amount numeric NOT NULL, payment text NOT NULL UNIQUE)`); err != nil {
		return nil, err
	}
	return s.join(ctx, p)
}

// connect opens connections to PostgreSQL. Tables without a schema in their names are in the schema of this run.
func (s fleetSettings) connect(ctx context.Context) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(s.postgres)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.RuntimeParams["search_path"] = s.schema
	return pgxpool.NewWithConfig(ctx, config)
}

// join opens the store and the platform API, as one process of the fleet.
func (s fleetSettings) join(ctx context.Context, p *program.Program) (_ *fleet, err error) {
	f := &fleet{settings: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close())
		}
	}()
	if f.pool, err = s.connect(ctx); err != nil {
		return f, err
	}
	options, err := redis.ParseURL(s.redis)
	if err != nil {
		return f, err
	}
	f.redis = redis.NewClient(options)
	jobs := &postgres.Jobs{Schema: s.schema}
	if f.store, err = postgres.Open(ctx, f.pool, postgres.Options{Schema: s.schema, Jobs: jobs}); err != nil {
		return f, err
	}

	developer := p.Developer()
	credential := developer.Credential(p.BaseURL)
	// A real fleet takes WithEncryption, and a key from its secret store.
	developer.Store, err = fleetredis.NewTokenStore(f.redis, credential, fleetredis.WithoutEncryption())
	if err != nil {
		return f, err
	}
	developer.StoreRequired = true
	limiter, err := fleetredis.NewLimiter(f.redis, credential, s.windows()...)
	if err != nil {
		return f, err
	}
	f.platform, err = dapi.NewIntegrator(p.BaseURL, developer,
		append(p.Options(), moneymovement.WithRateLimiter(limiter))...)
	return f, err
}

// windows returns the service's rate windows with a shorter minute. With the real service, leave this option out.
func (s fleetSettings) windows() (options []windows.Option) {
	for window, allowance := range moneymovement.StatedWindows() {
		minutes := int(allowance.Per / time.Minute)
		allowance.Per = time.Duration(minutes) * s.minute
		options = append(options, windows.WithWindow(window, allowance))
	}
	return options
}

func (f *fleet) close() (err error) {
	if f.redis != nil {
		err = f.redis.Close()
	}
	if f.pool != nil {
		f.pool.Close()
	}
	return err
}

// remove drops the tables of this run, and closes the connections.
func (f *fleet) remove(ctx context.Context) error {
	drop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, err := f.pool.Exec(drop, "DROP SCHEMA "+pgx.Identifier{f.settings.schema}.Sanitize()+" CASCADE")
	if ctx.Err() != nil {
		err = nil // Ctrl-C may have ended the server
	}
	return errors.Join(err, f.close())
}
