// Package host measures the sandbox host: requests a second in process and over TCP, a page out of a long ledger, the
// start, and the memory of finished payouts.
package host

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shopspring/decimal"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/bench/internal/report"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

// Plan says how much to measure.
type Plan struct {
	// Entries is the length of the ledger whose first page is read.
	Entries int
	// Requests is how many requests are made in process, and as many over TCP.
	Requests int
	// Starts is how often a host is started.
	Starts int
	// Benchmarks runs the benchmarks of the host's own package as well.
	Benchmarks bool
}

// Measure returns the figures of the host.
func Measure(ctx context.Context, plan Plan) ([]report.Figure, error) {
	var figures []report.Figure
	for _, part := range []func(context.Context, Plan) ([]report.Figure, error){served, starts, benchmarks} {
		measured, err := part(ctx, plan)
		if err != nil {
			return figures, err
		}
		figures = append(figures, measured...)
	}
	return figures, nil
}

// served measures reads of a client with a long ledger.
func served(ctx context.Context, plan Plan) ([]report.Figure, error) {
	c, err := newCaller(ctx, plan.Entries)
	if err != nil {
		return nil, err
	}
	inProcess, err := c.perSecond(ctx, plan.Requests, &http.Client{Transport: handled{c.host}}, inProcessURL)
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(c.host)
	defer server.Close()
	client := server.Client()
	if pool, ok := client.Transport.(*http.Transport); ok {
		pool.MaxIdleConnsPerHost = callers()
	}
	overTCP, err := c.perSecond(ctx, plan.Requests, client, server.URL)
	if err != nil {
		return nil, err
	}
	page, err := c.median(ctx, "/transactions?limit=100")
	return []report.Figure{
		{Name: "reads in process", Value: inProcess, Unit: "requests/s"},
		{Name: "reads over TCP", Value: overTCP, Unit: "requests/s"},
		{Name: fmt.Sprintf("a page of 100 out of %d entries", plan.Entries), Value: float64(page) / 1e3, Unit: "µs"},
	}, err
}

const inProcessURL = "http://localhost"

// handled is a transport without a connection.
type handled struct{ handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (h handled) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil {
		r.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	h.handler.ServeHTTP(recorder, r)
	response := recorder.Result()
	response.Request = r
	return response, nil
}

// caller is a client of a host, with a session.
type caller struct {
	host    *sandbox.Host
	token   string
	account string
}

// newCaller starts a host, and makes a client whose ledger has so many entries.
func newCaller(ctx context.Context, entries int) (*caller, error) {
	c := &caller{host: sandbox.New(sandbox.WithSettings(func(s *sandbox.Settings) {
		s.ClientReadyAfter = 0
		s.FaucetBalance = decimal.New(1, 12)
	}))}
	credentials := c.host.Credentials()
	platform, err := dapi.NewIntegrator(inProcessURL,
		dapi.Developer{Email: credentials.Email, Key: credentials.Key, Store: c},
		moneymovement.WithHTTPClient(&http.Client{Transport: handled{c.host}}), moneymovement.WithoutPacing())
	if err != nil {
		return nil, err
	}
	client, err := platform.Clients.Create(ctx, dapi.ClientCreate{Email: "acme@example.com", EntityName: "Acme"})
	if err != nil {
		return nil, err
	}
	c.account = string(client.ID)
	deposit := dapi.DepositCreate{Amount: decimal.NewFromInt(1), Currency: dapi.USDC}
	account := platform.For(client.ID)
	for i := range entries {
		key := moneymovement.IdempotencyKey(moneymovement.Key(fmt.Sprint("deposit-", i)))
		if _, err := account.Sandbox.Deposit(ctx, deposit, key); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Load implements [dapi.TokenStore].
func (*caller) Load(context.Context) (dapi.Session, error) { return dapi.Session{}, nil }

// Save implements [dapi.TokenStore]. It keeps the access token for plain requests.
func (c *caller) Save(_ context.Context, session dapi.Session) error {
	c.token = session.AccessToken.Reveal()
	return nil
}

// get makes a plain request, and reads the response.
func (c *caller) get(ctx context.Context, client *http.Client, base, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/dapi/v1"+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("X-Service-Account", c.account)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: status %d", path, response.StatusCode)
	}
	var buffer [4096]byte
	for err == nil {
		_, err = response.Body.Read(buffer[:])
	}
	return nil
}

func callers() int { return 4 * runtime.GOMAXPROCS(0) }

// perSecond makes requests of three kinds from some goroutines, and returns how many the host has served in a second.
func (c *caller) perSecond(ctx context.Context, requests int, client *http.Client, base string) (float64, error) {
	paths := []string{"/clients/" + c.account, "/transactions?limit=10", "/chains"}
	var (
		group  sync.WaitGroup
		next   atomic.Int64
		failed atomic.Pointer[error]
	)
	started := time.Now()
	for range callers() {
		group.Go(func() {
			for at := next.Add(1); at <= int64(requests) && failed.Load() == nil; at = next.Add(1) {
				if err := c.get(ctx, client, base, paths[at%int64(len(paths))]); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(requests) / time.Since(started).Seconds(), nil
}

// median returns the median time of a read in process.
func (c *caller) median(ctx context.Context, path string) (time.Duration, error) {
	client := &http.Client{Transport: handled{c.host}}
	times := make([]time.Duration, 101)
	for i := range times {
		started := time.Now()
		if err := c.get(ctx, client, inProcessURL, path); err != nil {
			return 0, err
		}
		times[i] = time.Since(started)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}
