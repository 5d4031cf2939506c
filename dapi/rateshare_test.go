package dapi_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// Clients that know nothing of each other, each with its share, stay within the stated windows together, and confirm
// each payment in the time of its approval.
func TestClientsWithAShareEachStayWithinTheWindows(t *testing.T) {
	for name, windows := range map[string]func() (writes, reads counter){
		"fixed windows": func() (writes, reads counter) {
			return &fixedWindow{most: 120}, &fixedWindow{most: 600}
		},
		"sliding windows": func() (writes, reads counter) {
			return &slidingWindow{most: 120}, &slidingWindow{most: 600}
		},
	} {
		for _, clients := range []int{2, 7, 120} {
			t.Run(fmt.Sprint(name, ", ", clients, " clients"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					host := newBusyHost(windows())
					var all sync.WaitGroup
					for i := range clients {
						account := host.integrator(t, moneymovement.WithRateShare(clients)).Self()
						for n := range 480 / clients {
							all.Go(func() { payOne(t, account, 1000*i+n) })
							all.Go(func() {
								for range 5 {
									_, err := account.Payouts.Get(t.Context(), "po_none")
									as[*errors.NotFound](t, err)
								}
							})
						}
					}
					all.Wait()
					assert.Equal(t, 480/clients*clients, host.counts().paid)
					assert.Zero(t, host.counts().limited, "requests over a window")
					assert.Zero(t, host.counts().late, "confirms after their approval")
				})
			})
		}
	}
}

// Without shares, two clients are over the windows.
func TestClientsWithoutSharesAreOverTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newBusyHost(&slidingWindow{most: 120}, &slidingWindow{most: 600})
		var all sync.WaitGroup
		for i := range 2 {
			account := host.integrator(t).Self()
			for n := range 120 {
				all.Go(func() { _, _ = account.Payouts.Book(t.Context(), payoutOf(1000*i+n)) })
			}
		}
		all.Wait()
		assert.NotZero(t, host.counts().limited)
	})
}

// Fewer payments stand between booking and confirm as well, also if the client does not limit the rate itself.
func TestAShareOfThePaymentsUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		options []moneymovement.Option
		want    int
	}{
		"no share":                     {nil, 108},
		"the share of one":             {[]moneymovement.Option{moneymovement.WithRateShare(1)}, 108},
		"half":                         {[]moneymovement.Option{moneymovement.WithRateShare(2)}, 54},
		"of more than there are calls": {[]moneymovement.Option{moneymovement.WithRateShare(1000)}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newBusyHost(&slidingWindow{most: 1000}, &slidingWindow{most: 1000})
				account := host.integrator(t, append(c.options, moneymovement.WithoutPacing())...).Self()
				ctx, cancel := context.WithCancel(t.Context())
				var mu sync.Mutex
				booked := 0
				hold := dapi.PayTerms{BeforeSigning: func(ctx context.Context, _ *dapi.Payout) error {
					mu.Lock()
					booked++
					mu.Unlock()
					<-ctx.Done()
					return ctx.Err()
				}}
				var all sync.WaitGroup
				for n := range 200 {
					all.Go(func() {
						_, err := account.Payouts.Pay(ctx, payoutOf(n), moneymovement.Key(fmt.Sprint(n)), hold)
						assert.Error(t, err)
					})
				}
				time.Sleep(time.Minute)
				mu.Lock()
				assert.Equal(t, c.want, booked)
				mu.Unlock()
				cancel()
				all.Wait()
			})
		})
	}
}

func TestAShareOfNobody(t *testing.T) {
	key, err := signing.GenerateEd25519()
	require.NoError(t, err)
	for _, n := range []int{0, -1} {
		_, err := dapi.NewIntegrator(baseURL, dapi.Developer{Email: "ops@example.com", Key: key},
			moneymovement.WithRateShare(n))
		require.ErrorContains(t, err, "New: invalid input: WithRateShare must be at least 1")
		as[*errors.InvalidInput](t, err)
		_, err = appapi.New(baseURL, appapi.NewAPIKey("key"), moneymovement.WithRateShare(n))
		as[*errors.InvalidInput](t, err)
	}
}
