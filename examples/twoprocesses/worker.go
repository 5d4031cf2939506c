package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/examples/internal/program"
)

// contacts is how many contacts each process saves. The service allows 120 writes a minute in all.
const contacts = 90

// result is what a process reports: how many contacts it saved, how many calls the service refused, and how many the
// limiter left for the next minute.
type result struct{ Saved, Refused, Left, Logins int }

// work is one of the two processes. It writes its result as a line of JSON.
func work(ctx context.Context, args []string, out io.Writer) error {
	var name, session, client string
	var share int
	p, err := program.Open("worker", args, io.Discard, func(flags *flag.FlagSet) {
		flags.StringVar(&name, "name", "", "`number` of the process")
		flags.StringVar(&session, "session", "", "`file` of the session that the processes share")
		flags.StringVar(&client, "client", "", "`id` of the client")
		flags.IntVar(&share, "share", 1, "among how many `processes` the rate windows are shared")
	})
	if err != nil {
		return err
	}
	defer p.Close()
	developer := p.Developer()
	developer.Store = dapi.NewFileTokenStore(session)
	wire := &logins{next: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 8}}
	platform, err := dapi.NewIntegrator(p.BaseURL, developer,
		moneymovement.WithRateShare(share),
		moneymovement.WithHTTPClient(&http.Client{Transport: wire}),
		// By default the SDK waits after a 429 and tries again. Here it does not, so that you can see the refusals.
		moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1}))
	if err != nil {
		return err
	}
	done, err := save(ctx, platform.For(dapi.ClientID(client)), name)
	if err != nil {
		return err
	}
	done.Logins = int(wire.count.Load())
	return json.NewEncoder(out).Encode(done)
}

// save saves the contacts, 8 at the same time. It does not wait for the next minute.
func save(ctx context.Context, account *dapi.Account, process string) (done result, err error) {
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for i := range contacts {
		group.Go(func() error {
			soon, cancel := context.WithTimeout(ctx, 20*time.Second)
			defer cancel()
			_, err := account.Contacts.Create(soon, dapi.ContactCreate{
				Name: fmt.Sprintf("Example contact %s-%d", process, i),
				Account: dapi.Onchain(dapi.OnchainAccount{WalletAddress: fmt.Sprintf("0x%s%039x", process, i+1),
					ChainID: "base", Currency: "USDC"}),
			})
			mu.Lock()
			defer mu.Unlock()
			var limited *errors.RateLimited
			var unsent *errors.NotDelivered
			switch {
			case err == nil:
				done.Saved++
			case errors.As(err, &limited):
				done.Refused++
			case errors.As(err, &unsent):
				done.Left++
			default:
				return err
			}
			return nil
		})
	}
	return done, group.Wait()
}

// logins counts the logins that go over a transport.
type logins struct {
	next  http.RoundTripper
	count atomic.Int32
}

// RoundTrip implements [http.RoundTripper].
func (l *logins) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/auth/token") {
		l.count.Add(1)
	}
	return l.next.RoundTrip(r)
}
