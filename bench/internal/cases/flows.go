package cases

import (
	"context"
	"sync"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/bench/internal/hand"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
	"github.com/moneymovement/moneymovement-go/dapi"
)

// pay makes a payment: three requests and a signature. The SDK does all its checks. The hand-written client signs
// whatever it gets.
func pay() work {
	return work{
		id: "pay", title: "Pay, whole: 3 requests and a signature",
		service: service.Payments,
		sdk: bySDK(func(c *dapi.Account) Read {
			next := keys()
			create := dapi.PayoutCreate{ContactID: service.ContactID, Amount: amount, Currency: dapi.AssetUSDC}
			return func(ctx context.Context) (any, error) {
				payment, err := c.Payouts.Pay(ctx, create, moneymovement.Key(next()), dapi.PayTerms{})
				return payment.Payout, err
			}
		}),
		hand: byHand(func(c *hand.Client) Read {
			next := keys()
			create := &hand.PayoutCreate{ContactID: service.ContactID, Amount: amount, Currency: "USDC"}
			return func(ctx context.Context) (any, error) { return c.Pay(ctx, create, next()) }
		}),
	}
}

// atOnce is how many goroutines make the first call of a fresh client.
const atOnce = 512

// stampede makes a client, whose first calls come all at once: it must log in once for all of them.
func stampede() work {
	return work{
		id: "login", title: "login: 512 first calls at once",
		service: func() *service.Service { return service.LoggingIn() },
		sdk: func(p Place) (Read, error) {
			developer, err := p.developer()
			return func(ctx context.Context) (any, error) {
				account, err := p.loggingIn(developer)
				if err != nil {
					return nil, err
				}
				return together(ctx, func(ctx context.Context) (*dapi.Payout, error) {
					return account.Payouts.Get(ctx, service.PayoutID)
				})
			}, err
		},
		hand: func(p Place) (Read, error) {
			return func(ctx context.Context) (any, error) {
				client, err := p.byHand("")
				if err != nil {
					return nil, err
				}
				return together(ctx, func(ctx context.Context) (*hand.Payout, error) {
					return client.GetPayout(ctx, service.PayoutID)
				})
			}, nil
		},
	}
}

// together makes a call from all goroutines, and returns what one of them has read, or the first error.
func together[T any](ctx context.Context, call func(context.Context) (*T, error)) (*T, error) {
	var (
		group       sync.WaitGroup
		done, fails sync.Once
		value       *T
		first       error
	)
	for range atOnce {
		group.Go(func() {
			got, err := call(ctx)
			if err != nil {
				fails.Do(func() { first = err })
			} else {
				done.Do(func() { value = got })
			}
		})
	}
	group.Wait()
	return value, first
}
