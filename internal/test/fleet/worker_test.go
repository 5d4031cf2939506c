package fleet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/fleet"
	fleetredis "github.com/moneymovement/moneymovement-go/fleet/redis"
	fleetpostgres "github.com/moneymovement/moneymovement-go/payments/postgres/fleetpostgres"
	"github.com/moneymovement/moneymovement-go/signing"
)

// work is what a worker does. The test hands it to a process in an environment variable.
type work struct {
	Name, Store, StoreURL string
	BaseURL, Email, Key   string // the key is in a file
	Client                dapi.ClientID
	Callers               int           // at the same time
	Minute                time.Duration // of the rate windows that the worker states
	For                   time.Duration
}

// done is what a worker reports.
type done struct {
	Saved   int
	Limited int      // refused by the service
	Failed  []string // anything else that is no end of the time
}

const workVariable = "MONEYMOVEMENT_FLEET_WORK"

// TestMain does the work of a process that a test started.
func TestMain(m *testing.M) {
	given := os.Getenv(workVariable)
	if given == "" {
		os.Exit(m.Run())
	}
	var w work
	err := json.Unmarshal([]byte(given), &w)
	var result done
	if err == nil {
		result, err = w.do(context.Background())
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// stores opens the two parts of a fleet in a store, and returns how to close it.
func stores(
	ctx context.Context, kind, url, credential string, options ...fleet.Option,
) (dapi.SessionLocker, *fleet.Limiter, func(), error) {
	if kind == "redis" {
		parsed, err := redis.ParseURL(url)
		if err != nil {
			return nil, nil, nil, err
		}
		client := redis.NewClient(parsed)
		limiter, err := fleetredis.NewLimiter(client, credential, options...)
		if err != nil {
			return nil, nil, nil, err
		}
		store, err := fleetredis.NewTokenStore(client, credential, fleetredis.WithEncryption(make([]byte, 32)))
		return store, limiter, func() { client.Close() }, err
	}
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := fleetpostgres.Migrate(ctx, pool, ""); err != nil {
		return nil, nil, nil, err
	}
	limiter, err := fleetpostgres.NewLimiter(pool, "", credential, options...)
	if err != nil {
		return nil, nil, nil, err
	}
	store, err := fleetpostgres.NewTokenStore(pool, credential, fleetpostgres.WithEncryption(make([]byte, 32)))
	return store, limiter, pool.Close, err
}

// scaled returns the stated windows with a shorter minute.
func scaled(minute time.Duration) (options []fleet.Option) {
	for window, allowance := range moneymovement.StatedWindows() {
		minutes := int(allowance.Per / time.Minute)
		allowance.Per = time.Duration(minutes) * minute
		options = append(options, fleet.WithWindow(window, allowance))
	}
	return options
}

// do saves contacts from many goroutines until the time is over.
func (w work) do(ctx context.Context) (result done, err error) {
	key, err := signing.LoadDeveloperKey(w.Key)
	if err != nil {
		return result, err
	}
	developer := dapi.Developer{Email: w.Email, Key: key, StoreRequired: true}
	store, limiter, closeStore, err := stores(ctx, w.Store, w.StoreURL, developer.Credential(w.BaseURL),
		scaled(w.Minute)...)
	if err != nil {
		return result, err
	}
	defer closeStore()
	developer.Store = store
	platform, err := dapi.NewIntegrator(w.BaseURL, developer, moneymovement.WithRateLimiter(limiter),
		moneymovement.WithHTTPClient(&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: w.Callers}}),
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	if err != nil {
		return result, err
	}
	ctx, cancel := context.WithTimeout(ctx, w.For)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for caller := range w.Callers {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				_, err := platform.For(w.Client).Contacts.Create(ctx, dapi.ContactCreate{
					Name: fmt.Sprintf("Example contact %s-%d-%d", w.Name, caller, i),
					Account: dapi.Onchain(dapi.OnchainAccount{ChainID: "base", Currency: "USDC",
						WalletAddress: fmt.Sprintf("0x%040x", i+1+1000*(caller+1))}),
				})
				mu.Lock()
				result.count(ctx, err)
				mu.Unlock()
				if late, ok := errors.AsType[*moneymovement.NoRoom](err); ok && !late.Closed {
					return // no room before the end
				}
			}
		})
	}
	all.Wait()
	return result, nil
}

func (d *done) count(ctx context.Context, err error) {
	refused := moneymovementRefusal(err)
	switch {
	case err == nil:
		d.Saved++
	case refused == http.StatusTooManyRequests:
		d.Limited++
	case ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded) && len(d.Failed) < 5:
		d.Failed = append(d.Failed, err.Error())
	}
}
