package rig_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/fleet"
	fleetredis "github.com/moneymovement/moneymovement-go/fleet/redis"
	"github.com/moneymovement/moneymovement-go/internal/test/rig"
	"github.com/moneymovement/moneymovement-go/payments"
	"github.com/moneymovement/moneymovement-go/payments/postgres"
	"github.com/moneymovement/moneymovement-go/payments/sqlite"
	"github.com/moneymovement/moneymovement-go/signing"
)

func TestMain(m *testing.M) {
	rig.Main(m, worker)
	for _, folder := range removeAtEnd {
		_ = os.RemoveAll(folder)
	}
}

// removeAtEnd are folders of all tests.
var removeAtEnd []string

// The engines of a worker.
const (
	onSQLite   = "sqlite"
	onPostgres = "postgres"
	withRiver  = "postgres with River"
)

// work is what a worker does. The test hands it over in a variable of the environment.
type work struct {
	Name            string // of this start: the owner of its leases
	URL, Email, Key string // the key is in a file
	Client          dapi.ClientID
	Contact         dapi.ContactID
	Engine, Store   string        // the store is a file or a URL
	Redis           string        // empty is a session and windows of its own
	Minute          time.Duration // of the rate windows; zero is without windows
	Workers         int           // that share a window while Redis is away
	LeaseFor        time.Duration // zero is the default
	From, To        int           // the payments to submit
	All             int           // the payments of the test
}

const workVariable = "WORK"

// workerHeader has the name of the worker that sent a request.
const workerHeader = "Rig-Worker"

// What a worker prints, one to a line. The first three have the number of a payment or nothing behind them.
const (
	saidResumed   = "resumed"
	saidSubmitted = "submitted"
	saidSettled   = "settled"
	saidStopped   = "stopped"
)

// worker submits payments and makes them, until it is killed or gets SIGTERM.
func worker() error {
	var w work
	if err := json.Unmarshal([]byte(os.Getenv(workVariable)), &w); err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	return w.run(ctx)
}

func (w *work) run(ctx context.Context) error {
	platform, err := w.platform()
	if err != nil {
		return err
	}
	store, closeStore, resumed, err := w.open(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	processor, err := payments.New(store, payments.IntegratorServices(platform), payments.Config{
		Owner: w.Name, InFlight: 16, PollEvery: 100 * time.Millisecond, LeaseFor: w.LeaseFor,
		Policy: payments.Policy{Refusals: 1000, RetryMin: 20 * time.Millisecond, RetryMax: time.Second,
			FollowMin: 20 * time.Millisecond, FollowMax: time.Second},
	})
	if err != nil {
		return err
	}
	err = w.repeat(ctx, func() error {
		_, err := processor.Resume(ctx)
		return err
	})
	if err != nil {
		return err
	}
	defer resumed(processor)()
	fmt.Println(saidResumed)
	if err := w.submit(ctx, processor); err != nil {
		return err
	}
	w.awaitAll(ctx, store)
	<-ctx.Done()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	if err := processor.Stop(grace); err != nil {
		return err
	}
	fmt.Println(saidStopped)
	return nil
}

// named is a transport that says who sends.
type named struct {
	http.RoundTripper
	name string
}

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(workerHeader, n.name)
	return n.RoundTripper.RoundTrip(r)
}

// platform makes a client, with the session and the windows on Redis if the work names it.
func (w *work) platform() (*dapi.Integrator, error) {
	key, err := signing.LoadDeveloperKey(w.Key)
	if err != nil {
		return nil, err
	}
	developer := dapi.Developer{Email: w.Email, Key: key}
	options := []moneymovement.Option{moneymovement.WithTimeout(5 * time.Second),
		moneymovement.WithHTTPClient(&http.Client{
			Transport: named{&http.Transport{MaxIdleConnsPerHost: 32}, w.Name}})}
	var client *redis.Client
	if w.Redis != "" {
		at, err := redis.ParseURL(w.Redis)
		if err != nil {
			return nil, err
		}
		client = redis.NewClient(at)
		developer.StoreRequired = true
		developer.Store, err = fleetredis.NewTokenStore(client, developer.Credential(w.URL),
			fleetredis.WithoutEncryption())
		if err != nil {
			return nil, err
		}
	}
	if w.Minute == 0 || client == nil {
		return dapi.NewIntegrator(w.URL, developer, append(options, moneymovement.WithoutPacing())...)
	}
	settings := []fleet.Option{fleet.WithShareWhileUnavailable(w.Workers)}
	for window, allowance := range moneymovement.StatedWindows() {
		minutes := int(allowance.Per / time.Minute)
		allowance.Per = time.Duration(minutes) * w.Minute
		settings = append(settings, fleet.WithWindow(window, allowance))
	}
	limiter, err := fleetredis.NewLimiter(client, developer.Credential(w.URL), settings...)
	if err != nil {
		return nil, err
	}
	return dapi.NewIntegrator(w.URL, developer, append(options, moneymovement.WithRateLimiter(limiter))...)
}

// open opens the store. resumed starts what works beside the processor, and returns how to end it.
func (w *work) open(ctx context.Context) (
	store payments.Store, closeStore func(), resumed func(*payments.Processor) (end func()), err error,
) {
	resumed = func(*payments.Processor) func() { return func() {} }
	if w.Engine == onSQLite {
		file, err := sqlite.Open(ctx, w.Store)
		if err != nil {
			return nil, nil, nil, err
		}
		return file, func() { _ = file.Close() }, resumed, nil
	}
	pool, err := pgxpool.New(ctx, w.Store)
	if err != nil {
		return nil, nil, nil, err
	}
	var options postgres.Options
	if w.Engine == withRiver {
		options.Jobs = &postgres.Jobs{}
	}
	var table *postgres.Store
	err = w.repeat(ctx, func() (err error) {
		table, err = postgres.Open(ctx, pool, options)
		return err
	})
	if err != nil || w.Engine != withRiver {
		return table, pool.Close, resumed, err
	}
	return table, pool.Close, func(processor *payments.Processor) func() {
		return startRiver(ctx, pool, table, processor)
	}, nil
}

// startRiver works the jobs of payments. If it cannot start, the processor polls, as it always does.
func startRiver(ctx context.Context, pool *pgxpool.Pool, table *postgres.Store, processor *payments.Processor) func() {
	workers := river.NewWorkers()
	river.AddWorker(workers, postgres.NewWorker(table, processor))
	client, err := river.NewClient[pgx.Tx](riverpgxv5.New(pool), &river.Config{
		Queues:  map[string]river.QueueConfig{postgres.DefaultQueue: {MaxWorkers: 4}},
		Workers: workers, Logger: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = client.Start(context.WithoutCancel(ctx))
	}
	if err != nil {
		fmt.Println("River did not start:", err)
		return func() {}
	}
	return func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = client.StopAndCancel(grace)
	}
}

// repeat does something until it succeeds, if the store can be away. A file cannot.
func (w *work) repeat(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil || w.Engine == onSQLite {
			return err
		}
		fmt.Println("again:", err)
		if !rest(ctx, 20*time.Millisecond) {
			return err
		}
	}
}

// maxFee is the highest fee of each payment.
var maxFee = decimal.NewFromInt(1)

func keyOf(n int) moneymovement.Key { return moneymovement.DeriveKey("soak", fmt.Sprint(n)) }

// amountOf is what payment n moves, in USDC: from 1.00 to 1.49. Less can be below the fee.
func amountOf(n int) decimal.Decimal { return decimal.New(int64(100+n%50), -2) }

func (w *work) payment(n int) payments.Payment {
	return payments.Payment{Key: keyOf(n), Account: w.Client,
		Payout: dapi.PayoutCreate{ContactID: w.Contact, Amount: amountOf(n), Currency: dapi.USDC},
		Bounds: dapi.Bounds{MaxFee: &maxFee}}
}

// submit submits the payments with a few callers, and prints each whose Submit has returned.
func (w *work) submit(ctx context.Context, processor *payments.Processor) error {
	const callers = 4
	failures := make(chan error, callers)
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			for n := w.From + caller; n < w.To; n += callers {
				err := w.repeat(ctx, func() error {
					_, err := processor.Submit(ctx, w.payment(n))
					return err
				})
				if err != nil {
					failures <- err
					return
				}
				fmt.Println(saidSubmitted, n)
			}
		})
	}
	all.Wait()
	close(failures)
	if ctx.Err() == nil {
		return <-failures
	}
	return nil
}

// awaitAll prints a line when all payments of the test have ended or wait for a person.
func (w *work) awaitAll(ctx context.Context, store payments.Store) {
	for rest(ctx, 20*time.Millisecond) {
		found, err := store.Summary(ctx)
		if err != nil {
			continue
		}
		ended := found.ByState[moneymovement.PaymentNeedsDecision]
		for state, count := range found.ByState {
			if state.Final() {
				ended += count
			}
		}
		if ended == w.All {
			fmt.Println(saidSettled)
			return
		}
	}
}

// rest waits, and reports whether the time has passed before the context ended.
func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
