package bench

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"io"
	"iter"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// read does the work of a row once, and returns what it has read. A refusal that the work expects is what it reads.
type read func(ctx context.Context) (any, error)

// place is where one side finds its service, and the client that reaches it.
type place struct {
	base   string
	client *http.Client
}

// work is one kind of work, which both sides do: the SDK, and the client written by hand.
type work struct {
	id          string
	overNetwork bool // measured over a network as well
	service     func() *service
	hand, sdk   func(testing.TB, place) read
}

// works are all kinds, in the order of the table.
func works() []work {
	all := []work{
		getting(plain), writing, paging(plain), bySides("iterate", func() *service { return ledger(10) },
			func(c *byHand) read {
				return func(ctx context.Context) (any, error) { return counted(c.allTransactions(ctx, pageLength)) }
			},
			func(c *dapi.Account) read {
				return func(ctx context.Context) (any, error) {
					return counted(c.Transactions.All(ctx, dapi.ListTransactionsParams{Limit: pageLength}))
				}
			}),
	}
	for _, form := range []form{unknown, greek, otherType} {
		all = append(all, getting(form), paging(form))
	}
	missing := bySides("error-404", func() *service { return always(http.StatusNotFound, notFound) },
		refused[*handRefusal](handGet), refused[*errors.NotFound](sdkGet))
	missing.overNetwork = true
	return append(all, missing,
		bySides("error-409", func() *service { return always(http.StatusConflict, notPayable) },
			refused[*handRefusal](handBook), refused[*errors.ContactNotPayable](sdkBook)),
		bySides("error-429", func() *service {
			return always(http.StatusTooManyRequests, rateLimited, "Retry-After", "7")
		}, refused[*handRefusal](handGet), refused[*errors.RateLimited](sdkGet),
			// the SDK would wait, and the hand-written client never does
			moneymovement.WithRetries(moneymovement.RetryPolicy{Max: -1})),
		bySides("pay", paying, handPay, sdkPay),
		stampede)
}

// The bodies of refusals: of a payout that is not there, of a contact that cannot be paid, and of a full rate window.
const (
	notFound   = `{"error":{"code":"not_found","message":"No payout with this id belongs to the account."}}`
	notPayable = `{"error":{"code":"contact_not_payable","message":"The contact cannot be paid yet.",` +
		`"details":{"blockers":[` +
		`{"code":"iban_missing","message":"The account has no IBAN.","field":"iban"},` +
		`{"code":"holder_unverified","message":"The holder of the account is not verified."},` +
		`{"code":"address_incomplete","message":"The address has no city.","field":"address.city"}]}}}`
	rateLimited = `{"error":{"code":"rate_limited","message":"Too many requests in this window."}}`
)

// bySides is work of clients that have a session.
func bySides(
	id string, service func() *service, hand func(*byHand) read, sdk func(*dapi.Account) read,
	options ...moneymovement.Option,
) work {
	return work{
		id: id, service: service,
		hand: func(tb testing.TB, p place) read { return hand(p.byHand(tb, token)) },
		sdk:  func(tb testing.TB, p place) read { return sdk(p.loggedIn(tb, options...)) },
	}
}

// getting reads a payout.
func getting(form form) work {
	w := bySides("get"+string(form), func() *service { return always(http.StatusOK, payout(form)) }, handGet, sdkGet)
	w.overNetwork = form == plain
	return w
}

func handGet(c *byHand) read {
	return func(ctx context.Context) (any, error) { return c.getPayout(ctx, payoutID) }
}

func sdkGet(c *dapi.Account) read {
	return func(ctx context.Context) (any, error) { return c.Payouts.Get(ctx, payoutID) }
}

// paging reads a page of the ledger.
func paging(form form) work {
	w := bySides("page"+string(form), func() *service { return always(http.StatusOK, ledgerPage(form, 0, "1")) },
		func(c *byHand) read {
			return func(ctx context.Context) (any, error) { return c.listTransactions(ctx, pageLength, "") }
		},
		func(c *dapi.Account) read {
			return func(ctx context.Context) (any, error) {
				return c.Transactions.List(ctx, dapi.ListTransactionsParams{Limit: pageLength})
			}
		})
	w.overNetwork = form == plain
	return w
}

// tally is what work reads that reads a whole ledger.
type tally struct {
	entries int
	last    any
}

func counted[T any](ledger iter.Seq2[T, error]) (any, error) {
	var read tally
	for entry, err := range ledger {
		if err != nil {
			return nil, err
		}
		if read.entries++; read.entries%(10*pageLength) == 0 {
			read.last = entry
		}
	}
	return read, nil
}

// writing books a payout.
var writing = func() work {
	w := bySides("write", func() *service { return always(http.StatusCreated, payout(plain)) }, handBook, sdkBook)
	w.overNetwork = true
	return w
}()

// keys returns a function that makes a new key for each call: "invoice-1", "invoice-2" and so on.
func keys() func() string {
	var used atomic.Int64
	return func() string { return "invoice-" + strconv.FormatInt(used.Add(1), 10) }
}

var amount = decimal.RequireFromString("1250.50")

func handBook(c *byHand) read {
	next := keys()
	create := &handPayoutCreate{
		ContactID: contactID, Amount: amount, Currency: "USDC",
		PaymentReference: "Invoice 42", Purpose: "services", DocumentIDs: []string{"doc_01J9Z3A1", "doc_01J9Z3A2"},
	}
	return func(ctx context.Context) (any, error) { return c.bookPayout(ctx, create, next()) }
}

func sdkBook(c *dapi.Account) read {
	next := keys()
	create := dapi.PayoutCreate{
		ContactID: contactID, Amount: amount, Currency: dapi.USDC,
		PaymentReference: "Invoice 42", Purpose: "services", DocumentIDs: []string{"doc_01J9Z3A1", "doc_01J9Z3A2"},
	}
	return func(ctx context.Context) (any, error) {
		return c.Payouts.Book(ctx, create, moneymovement.IdempotencyKey(moneymovement.Key(next())))
	}
}

// A payment is three requests and a signature. The SDK does all its checks. The hand-written client signs whatever it
// gets.
func handPay(c *byHand) read {
	next := keys()
	create := &handPayoutCreate{ContactID: contactID, Amount: amount, Currency: "USDC"}
	return func(ctx context.Context) (any, error) { return c.pay(ctx, create, next()) }
}

func sdkPay(c *dapi.Account) read {
	next := keys()
	create := dapi.PayoutCreate{ContactID: contactID, Amount: amount, Currency: dapi.USDC}
	return func(ctx context.Context) (any, error) {
		paid, err := c.Payouts.Pay(ctx, create, moneymovement.Key(next()), dapi.PayTerms{})
		return paid.Payout, err
	}
}

// refused is work that must end with an error of the type E, which is what it reads.
func refused[E error, Client any](does func(Client) read) func(Client) read {
	return func(client Client) read {
		call := does(client)
		return func(ctx context.Context) (any, error) {
			value, err := call(ctx)
			if refusal, ok := errors.AsType[E](err); ok {
				return refusal, nil
			}
			return value, fmt.Errorf("want a refusal, got %w", err)
		}
	}
}

// stampede makes a client whose first calls come all at once: it must log in once for all of them.
var stampede = work{
	id: "login", service: loggingIn,
	hand: func(tb testing.TB, p place) read {
		return func(ctx context.Context) (any, error) {
			client := p.byHand(tb, "")
			return together(func() (*handPayout, error) { return client.getPayout(ctx, payoutID) })
		}
	},
	sdk: func(tb testing.TB, p place) read {
		developer := p.developer(tb)
		return func(ctx context.Context) (any, error) {
			account := p.account(tb, developer)
			return together(func() (*dapi.Payout, error) { return account.Payouts.Get(ctx, payoutID) })
		}
	},
}

// atOnce is how many goroutines make the first call of a fresh client.
const atOnce = 512

// together makes a call from all goroutines, and returns what one of them has read, or the first error.
func together[T any](call func() (*T, error)) (*T, error) {
	var (
		group       sync.WaitGroup
		done, fails sync.Once
		value       *T
		first       error
	)
	for range atOnce {
		group.Go(func() {
			got, err := call()
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

// private is the key of both sides.
var private = sync.OnceValues(func() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
})

func (p place) byHand(tb testing.TB, token string) *byHand {
	key, err := private()
	require.NoError(tb, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	require.NoError(tb, err)
	return &byHand{http: p.client, base: p.base + "/dapi/v1", account: clientID, key: key, public: public, token: token}
}

func (p place) developer(tb testing.TB) dapi.Developer {
	own, err := private()
	require.NoError(tb, err)
	key, err := signing.FromSigner(own)
	require.NoError(tb, err)
	return dapi.Developer{Email: email, Key: key}
}

// loggedIn is account with a session.
func (p place) loggedIn(tb testing.TB, options ...moneymovement.Option) *dapi.Account {
	developer := p.developer(tb)
	developer.Store = stored{developer.Credential(p.base)}
	return p.account(tb, developer, options...)
}

// account returns the SDK's services for a client. All is default but pacing, which would make the measurement wait,
// and what the options say.
func (p place) account(tb testing.TB, developer dapi.Developer, options ...moneymovement.Option) *dapi.Account {
	options = append(options, moneymovement.WithHTTPClient(p.client), moneymovement.WithoutPacing())
	platform, err := dapi.NewIntegrator(p.base, developer, options...)
	require.NoError(tb, err)
	return platform.For(clientID)
}

// stored is a token store with a fresh session, so that no login is measured.
type stored struct{ credential string }

func (s stored) Load(context.Context) (dapi.Session, error) {
	return dapi.Session{
		AccessToken: moneymovement.NewSecret(token), RefreshToken: moneymovement.NewSecret("refresh"),
		Credential: s.credential,
		ExpiresAt:  time.Now().Add(time.Hour), RefreshExpiresAt: time.Now().Add(time.Hour),
	}, nil
}

func (stored) Save(context.Context, dapi.Session) error { return nil }

// serve starts a service, and returns where it is. In memory there is no connection. The others are over the loopback
// interface: both sides get an http.Client of the same kind, which keeps a connection for each caller.
func serve(tb testing.TB, over string, s *service, callers int) place {
	if over == "memory" {
		return place{inMemory, &http.Client{Transport: s}}
	}
	server := httptest.NewUnstartedServer(s)
	server.EnableHTTP2 = over == "tls2"
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that are still being made at the end
	if over == "tcp" {
		server.Start()
	} else {
		server.StartTLS()
	}
	tb.Cleanup(server.Close)
	client := server.Client()
	pool, ok := client.Transport.(*http.Transport)
	require.True(tb, ok)
	pool.MaxIdleConns, pool.MaxIdleConnsPerHost = 0, callers
	return place{server.URL, client}
}

// A row is a kind of work over a transport, with so many callers at once.
type row struct {
	name    string
	callers int
	open    func(tb testing.TB, sdk bool) (*service, read)
}

// rows are all rows, those of the SDK first.
func rows() []row { return append(ownRows(), peerRows()...) }

func ownRows() (all []row) {
	add := func(w work, over string, callers int) {
		name := over + "/" + w.id
		if callers > 1 {
			name += "/" + strconv.Itoa(callers)
		}
		all = append(all, row{name, callers, func(tb testing.TB, sdk bool) (*service, read) {
			s := w.service()
			p := serve(tb, over, s, callers)
			if sdk {
				return s, w.sdk(tb, p)
			}
			return s, w.hand(tb, p)
		}})
	}
	for _, over := range []string{"memory", "tcp", "tls1", "tls2"} {
		for _, w := range works() {
			if over == "memory" || w.overNetwork {
				add(w, over, 1)
			}
		}
	}
	for _, callers := range []int{8, 64, 512} {
		for _, over := range []string{"memory", "tcp", "tls1", "tls2"} {
			add(getting(plain), over, callers)
		}
		add(writing, "memory", callers) // a network would hide what the callers share
	}
	return all
}
