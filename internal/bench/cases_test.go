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

// loggedIn is a token store with a fresh session, so that no login is measured.
type loggedIn struct{ credential string }

func (l loggedIn) Load(context.Context) (dapi.Session, error) {
	return dapi.Session{
		AccessToken: moneymovement.NewSecret(token), RefreshToken: moneymovement.NewSecret("refresh"),
		Credential: l.credential,
		ExpiresAt:  time.Now().Add(time.Hour), RefreshExpiresAt: time.Now().Add(time.Hour),
	}, nil
}

func (loggedIn) Save(context.Context, dapi.Session) error { return nil }

// call is one call of a client, with all that it needs.
type call func(ctx context.Context) (any, error)

// comparison is one call, made in both ways against one service.
type comparison struct {
	name string
	// calls in a turn: long enough for the clock, and for the garbage that a side makes to be collected in its own turn
	batch     int
	service   *service
	sdk, hand call
}

// comparisons are a read, a write, and the longest page.
func comparisons(tb testing.TB) []comparison {
	key, err := signing.Generate()
	require.NoError(tb, err)
	return []comparison{getPayout(tb, key), bookPayout(tb, key), listTransactions(tb, key)}
}

func getPayout(tb testing.TB, key signing.Signer) comparison {
	s := newService(http.StatusOK, payoutAnswer)
	sdk, hand := bySDK(tb, key, s), byHandOf(s)
	return comparison{
		name: "GetPayout", batch: 1000, service: s,
		sdk:  func(ctx context.Context) (any, error) { return sdk.Payouts.Get(ctx, payoutID) },
		hand: func(ctx context.Context) (any, error) { return hand.getPayout(ctx, payoutID) },
	}
}

func bookPayout(tb testing.TB, key signing.Signer) comparison {
	s := newService(http.StatusCreated, payoutAnswer)
	sdk, hand := bySDK(tb, key, s), byHandOf(s)
	amount, documents := decimal.RequireFromString("1250.50"), []string{"doc_01J9Z3A1", "doc_01J9Z3A2"}
	typed := dapi.PayoutCreate{
		ContactID: contactID, Amount: amount, Currency: dapi.AssetUSDC,
		PaymentReference: "Invoice 42", Purpose: "services", DocumentIDs: documents,
	}
	plain := &handPayoutCreate{
		ContactID: contactID, Amount: amount, Currency: "USDC",
		PaymentReference: "Invoice 42", Purpose: "services", DocumentIDs: documents,
	}
	return comparison{
		name: "BookPayout", batch: 1000, service: s,
		sdk:  func(ctx context.Context) (any, error) { return sdk.Payouts.Book(ctx, typed) },
		hand: func(ctx context.Context) (any, error) { return hand.bookPayout(ctx, plain) },
	}
}

func listTransactions(tb testing.TB, key signing.Signer) comparison {
	s := newService(http.StatusOK, pageAnswer())
	sdk, hand := bySDK(tb, key, s), byHandOf(s)
	return comparison{
		name: "ListTransactions100", batch: 50, service: s,
		sdk: func(ctx context.Context) (any, error) {
			return sdk.Transactions.List(ctx, dapi.ListTransactionsParams{Limit: pageLength})
		},
		hand: func(ctx context.Context) (any, error) { return hand.listTransactions(ctx, pageLength) },
	}
}

// bySDK acts for a client with all defaults except pacing, which would make the benchmark wait.
func bySDK(tb testing.TB, key signing.Signer, s *service) *dapi.Account {
	developer := dapi.Developer{Email: "ops@example.com", Key: key}
	developer.Store = loggedIn{developer.Credential(baseURL)}
	platform, err := dapi.NewIntegrator(baseURL, developer,
		moneymovement.WithHTTPClient(&http.Client{Transport: s}), moneymovement.WithoutPacing())
	require.NoError(tb, err)
	return platform.For(clientID)
}

func byHandOf(s *service) *byHand {
	return &byHand{http: &http.Client{Transport: s}, base: baseURL, token: token}
}
