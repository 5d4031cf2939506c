package cases

import (
	"context"
	"net/http"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/bench/internal/hand"
	"github.com/moneymovement/moneymovement-go/bench/internal/service"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
)

// work is one kind of work.
type work struct {
	id, title   string
	overNetwork bool // measured over a network as well
	service     func() *service.Service
	sdk, hand   func(Place) (Read, error)
}

// works are all kinds, in the order of the table.
func works() []work {
	all := []work{get(), write(), page(), iterate()}
	for _, f := range []struct {
		id, title string
		form      service.Form
	}{
		{"unknown", "an unknown member in each object", service.Unknown},
		{"greek", `Greek names and \/`, service.Greek},
		{"other", "one assumed member of another type", service.OtherType},
	} {
		all = append(all, getOf("get-"+f.id, "GET, "+f.title, f.form), pageOf("page-"+f.id, "page, "+f.title, f.form))
	}
	return append(all, notFound(), notPayable(), rateLimited(), pay(), stampede())
}

func get() work  { return networked(getOf("get", "GET of one payout", service.Plain)) }
func page() work { return networked(pageOf("page", "page of 100 (29 kB)", service.Plain)) }

func networked(w work) work {
	w.overNetwork = true
	return w
}

// getOf reads a payout.
func getOf(id, title string, form service.Form) work {
	return work{
		id: id, title: title,
		service: func() *service.Service { return service.Always(http.StatusOK, service.Payout(form)) },
		sdk:     bySDK(getPayout),
		hand: byHand(func(c *hand.Client) Read {
			return func(ctx context.Context) (any, error) { return c.GetPayout(ctx, service.PayoutID) }
		}),
	}
}

func getPayout(c *dapi.Account) Read {
	return func(ctx context.Context) (any, error) { return c.Payouts.Get(ctx, service.PayoutID) }
}

// pageOf reads a page of the ledger.
func pageOf(id, title string, form service.Form) work {
	return work{
		id: id, title: title,
		service: func() *service.Service { return service.Always(http.StatusOK, service.Page(form, 0, "1")) },
		sdk: bySDK(func(c *dapi.Account) Read {
			return func(ctx context.Context) (any, error) {
				return c.Transactions.List(ctx, dapi.ListTransactionsParams{Limit: service.PageLength})
			}
		}),
		hand: byHand(func(c *hand.Client) Read {
			return func(ctx context.Context) (any, error) { return c.ListTransactions(ctx, service.PageLength, "") }
		}),
	}
}

// iterate reads a ledger by the iterator.
func iterate() work {
	return work{
		id: "iterate", title: "10 pages by the iterator",
		service: func() *service.Service { return service.Ledger(10) },
		sdk: bySDK(func(c *dapi.Account) Read {
			return func(ctx context.Context) (any, error) {
				return counted(c.Transactions.All(ctx, dapi.ListTransactionsParams{Limit: service.PageLength}))
			}
		}),
		hand: byHand(func(c *hand.Client) Read {
			return func(ctx context.Context) (any, error) {
				return counted(c.AllTransactions(ctx, service.PageLength))
			}
		}),
	}
}

// write books a payout.
func write() work {
	return networked(work{
		id: "write", title: "write with key and body",
		service: func() *service.Service { return service.Always(http.StatusCreated, service.Payout(service.Plain)) },
		sdk:     bySDK(bookPayout),
		hand:    byHand(bookByHand),
	})
}

func notFound() work {
	return networked(work{
		id: "error-404", title: "typed error 404",
		service: func() *service.Service { return service.Always(http.StatusNotFound, service.NotFound) },
		sdk:     bySDK(refused[*errors.NotFound](getPayout)),
		hand: byHand(refused[*hand.Refusal](func(c *hand.Client) Read {
			return func(ctx context.Context) (any, error) { return c.GetPayout(ctx, service.PayoutID) }
		})),
	})
}

func notPayable() work {
	return work{
		id: "error-409", title: "typed error 409 with blockers",
		service: func() *service.Service { return service.Always(http.StatusConflict, service.NotPayable) },
		sdk:     bySDK(refused[*errors.ContactNotPayable](bookPayout)),
		hand:    byHand(refused[*hand.Refusal](bookByHand)),
	}
}

// rateLimited is refused at once: the SDK would wait, and the hand-written client never does.
func rateLimited() work {
	return work{
		id: "error-429", title: "typed error 429, retries off",
		service: func() *service.Service {
			return service.Always(http.StatusTooManyRequests, service.RateLimited, "Retry-After", "7")
		},
		sdk: bySDK(refused[*errors.RateLimited](getPayout),
			moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1})),
		hand: byHand(refused[*hand.Refusal](func(c *hand.Client) Read {
			return func(ctx context.Context) (any, error) { return c.GetPayout(ctx, service.PayoutID) }
		})),
	}
}
