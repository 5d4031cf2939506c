package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/internal/servers"
	"github.com/moneymovement/moneymovement-go/internal/test/worlds"
	"github.com/moneymovement/moneymovement-go/internal/watchedkey"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/sandbox"
	"github.com/moneymovement/moneymovement-go/signing"
)

// shared is the server of all tests that do not kill theirs.
var shared = servers.Shared{Settings: []servers.Setting{{Name: "max_connections", Value: "200"}}}

// world is a host on a port, and a database.
type world struct {
	*worlds.World
	keyFile  string // of the developer key
	database string // the URL
	contact  dapi.ContactID
}

// newWorld starts a host with an account that has money and a contact.
func newWorld(t *testing.T, database *servers.Server) *world {
	t.Helper()
	w := &world{
		World: worlds.Serve(t, sandbox.WithAudit(), sandbox.WithInstantProgress(), sandbox.WithRequestLog(0),
			sandbox.WithSettings(func(s *sandbox.Settings) { s.MaxCredit = decimal.NewFromInt(1500) })),
		keyFile: filepath.Join(t.TempDir(), "key.pem"), database: database.URL(),
	}
	require.NoError(t, w.Host.Credentials().Key.Save(w.keyFile))
	self := w.Integrator(w.Developer()).Self()
	w.Credit(self.Sandbox, "1500", dapi.USDC)
	w.contact = w.Contact(self.Contacts, worlds.Wallet())

	pool := w.pool()
	require.NoError(t, postgres.Migrate(t.Context(), pool, ""))
	require.NoError(t, postgres.MigrateRiver(t.Context(), pool, ""))
	return w
}

func (w *world) pool() *pgxpool.Pool {
	w.Helper()
	pool, err := pgxpool.New(w.Context(), w.database)
	require.NoError(w, err)
	w.Cleanup(pool.Close)
	return pool
}

// program is a process of a fleet, or what would be one.
type program struct {
	key       *watchedkey.Key
	platform  *dapi.Integrator
	pool      *pgxpool.Pool
	store     *postgres.Store
	processor *payments.Processor
}

// program makes the clients of a program. It has no store yet.
func (w *world) program(options ...moneymovement.Option) *program {
	w.Helper()
	p, err := newProgram(w.URL, w.Host.Credentials().Email, w.keyFile, options...)
	require.NoError(w, err)
	return p
}

func newProgram(address, email, keyFile string, options ...moneymovement.Option) (*program, error) {
	developer, err := signing.LoadDeveloperKey(keyFile)
	if err != nil {
		return nil, err
	}
	p := &program{key: &watchedkey.Key{Signer: developer}}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	options = append([]moneymovement.Option{
		moneymovement.WithHTTPClient(&http.Client{Transport: transport}), moneymovement.WithoutPacing(),
	}, options...)
	p.platform, err = dapi.NewIntegrator(address, dapi.Developer{Email: email, Key: p.key}, options...)
	return p, err
}

// open opens the store and makes the processor. wrap can put something between the two.
func (p *program) open(
	ctx context.Context, pool *pgxpool.Pool, options postgres.Options, config payments.Config,
	wrap func(payments.Store) payments.Store,
) error {
	store, err := postgres.Open(ctx, pool, options)
	if err != nil {
		return err
	}
	p.pool, p.store = pool, store
	var seen payments.Store = store
	if wrap != nil {
		seen = wrap(store)
	}
	p.processor, err = payments.New(seen, payments.Integrator(p.platform), config)
	return err
}

// resumed is a program of this process that pays until the test ends.
func (w *world) resumed(options postgres.Options, config payments.Config) *program {
	w.Helper()
	p := w.program()
	require.NoError(w, p.open(w.Context(), w.pool(), options, config, nil))
	_, err := p.processor.Resume(w.Context())
	require.NoError(w, err)
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		assert.NoError(w, p.processor.Stop(ctx))
	})
	return p
}

func (w *world) payment(key moneymovement.Key) payments.Payment {
	return payments.Payment{Key: key, Account: payments.OwnAccount, Payout: dapi.PayoutCreate{
		ContactID: w.contact, Amount: decimal.NewFromInt(1), Currency: dapi.USDC}}
}

func numbered(prefix string, n int) (keys []moneymovement.Key) {
	for i := range n {
		keys = append(keys, moneymovement.Key(fmt.Sprintf("%s-%04d", prefix, i)))
	}
	return keys
}

// submit submits payments, each in a transaction of its own with a row of the caller's.
func (w *world) submit(p *program, keys ...moneymovement.Key) {
	w.Helper()
	_, err := p.pool.Exec(w.Context(), "CREATE TABLE IF NOT EXISTS invoices (id text PRIMARY KEY)")
	require.NoError(w, err)
	for _, key := range keys {
		require.NoError(w, w.submitOne(w.Context(), p, key))
	}
}

func (w *world) submitOne(ctx context.Context, p *program, key moneymovement.Key) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "INSERT INTO invoices VALUES ($1) ON CONFLICT DO NOTHING", string(key)); err != nil {
			return err
		}
		_, err := p.store.SubmitTx(ctx, tx, w.payment(key))
		return err
	})
}

// await waits until so many payments are completed.
func (w *world) await(p *program, completed int, within time.Duration) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), within)
	defer cancel()
	var summary payments.Summary
	for ctx.Err() == nil {
		if found, err := p.store.Summary(ctx); err == nil {
			summary = found
		}
		if summary.ByState[moneymovement.PaymentCompleted] >= completed {
			return
		}
		rest(ctx, 20*time.Millisecond)
	}
	w.Fatalf("%d payments are not completed after %v: %v", completed, within, summary.ByState)
}

// once checks that the host paid each payment once, and knows of no other.
func (w *world) once(p *program, keys []moneymovement.Key) {
	w.Helper()
	unseen := map[string]bool{}
	for _, key := range keys {
		unseen[string(key)] = true
		record, err := p.processor.Get(w.Context(), key)
		require.NoError(w, err)
		paid, found := w.Host.AuditOf("self", string(key))
		require.True(w, found, key)
		assert.Equal(w, moneymovement.PaymentCompleted, record.State, key)
		assert.Equal(w, []string{string(record.PayoutID)}, paid.PayoutIDs, key)
		assert.Equal(w, 1, paid.Fundings, key)
		assert.Equal(w, 1, paid.Bodies, key)
		assert.Zero(w, paid.Returns, key)
		assert.Equal(w, "1", paid.Paid.String(), key)
	}
	for paid := range w.Host.Audit() {
		assert.True(w, unseen[paid.Key], "the host was asked for %s", paid.Key)
		delete(unseen, paid.Key)
	}
	assert.Empty(w, unseen)
}

// slowStore is the store of a process that stops before it stores that it signs, and that renews no lease.
type slowStore struct {
	payments.Store
	reached chan struct{} // closed when it has stopped
	goOn    chan struct{}
}

var errStopped = errors.New("the process has stopped")

func (s *slowStore) Extend(
	context.Context, map[moneymovement.Key]payments.Lease, time.Duration,
) ([]moneymovement.Key, error) {
	return nil, errStopped
}

func (s *slowStore) Save(
	ctx context.Context, claimed payments.Claimed, release bool,
) (payments.Position, error) {
	if claimed.MayHaveLeft && claimed.State == moneymovement.PaymentPaying {
		select {
		case <-s.reached:
		default:
			close(s.reached)
		}
		<-s.goOn
	}
	return s.Store.Save(ctx, claimed, release)
}
