package bench

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/signing"
)

const token = "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjbF84ZksybjVReFQzdlIifQ.c2lnbmF0dXJl" // of nobody

// loggedIn is a token store whose session is fresh, so that no login is measured.
type loggedIn struct{}

func (loggedIn) Load(context.Context) (dapi.Session, error) {
	return dapi.Session{AccessToken: token, RefreshToken: "refresh", ExpiresAt: time.Now().Add(time.Hour), RefreshExpiresAt: time.Now().Add(time.Hour)}, nil
}

func (loggedIn) Save(context.Context, dapi.Session) error { return nil }

// comparison is one call made both ways against one service.
type comparison struct {
	name      string
	batch     int // calls in a turn: long enough for the clock, and for the garbage that a side makes to be collected in its own turn
	service   *service
	sdk, hand func(ctx context.Context) (any, error)
}

// comparisons are a read, a write, and the longest page there is.
func comparisons(tb testing.TB) []comparison {
	key, err := signing.Generate()
	require.NoError(tb, err)
	booking := func() (dapi.PayoutCreate, *handPayoutCreate) {
		amount, documents := decimal.RequireFromString("1250.50"), []string{"doc_01J9Z3A1", "doc_01J9Z3A2"}
		return dapi.PayoutCreate{
				ContactID: contactID, Amount: amount, Currency: dapi.AssetUSDC,
				PaymentReference: "Invoice 42", Purpose: "services", DocumentIds: documents,
			}, &handPayoutCreate{
				ContactID: contactID, Amount: amount, Currency: "USDC",
				PaymentReference: "Invoice 42", Purpose: "services", DocumentIDs: documents,
			}
	}
	read := newService(http.StatusOK, payoutAnswer)
	write := newService(http.StatusCreated, payoutAnswer)
	page := newService(http.StatusOK, pageAnswer())
	return []comparison{
		{
			name: "GetPayout", batch: 1000, service: read,
			sdk: func(account *dapi.Account) func(context.Context) (any, error) {
				return func(ctx context.Context) (any, error) { return account.Payouts.Get(ctx, payoutID) }
			}(bySDK(tb, key, read)),
			hand: func(client *byHand) func(context.Context) (any, error) {
				return func(ctx context.Context) (any, error) { return client.getPayout(ctx, payoutID) }
			}(byHandOf(read)),
		},
		{
			name: "BookPayout", batch: 1000, service: write,
			sdk: func(account *dapi.Account) func(context.Context) (any, error) {
				create, _ := booking()
				return func(ctx context.Context) (any, error) { return account.Payouts.Book(ctx, create) }
			}(bySDK(tb, key, write)),
			hand: func(client *byHand) func(context.Context) (any, error) {
				_, create := booking()
				return func(ctx context.Context) (any, error) { return client.bookPayout(ctx, create) }
			}(byHandOf(write)),
		},
		{
			name: "ListTransactions100", batch: 50, service: page,
			sdk: func(account *dapi.Account) func(context.Context) (any, error) {
				return func(ctx context.Context) (any, error) {
					return account.Transactions.List(ctx, dapi.ListTransactionsParams{Limit: pageLength})
				}
			}(bySDK(tb, key, page)),
			hand: func(client *byHand) func(context.Context) (any, error) {
				return func(ctx context.Context) (any, error) { return client.listTransactions(ctx, pageLength) }
			}(byHandOf(page)),
		},
	}
}

// bySDK acts for a client with all defaults but pacing, which would make the benchmark wait.
func bySDK(tb testing.TB, key signing.Signer, s *service) *dapi.Account {
	platform, err := dapi.NewWhitelabel(baseURL, dapi.Developer{Email: "ops@example.com", Key: key, Store: loggedIn{}},
		moneymovement.WithHTTPClient(&http.Client{Transport: s}), moneymovement.WithoutPacing())
	require.NoError(tb, err)
	return platform.For(clientID)
}

func byHandOf(s *service) *byHand {
	return &byHand{http: &http.Client{Transport: s}, base: baseURL, token: token}
}
