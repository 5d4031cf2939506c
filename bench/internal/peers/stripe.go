package peers

import (
	"context"
	"fmt"
	"net/http"

	"github.com/stripe/stripe-go/v85"
)

func stripePeer() peer {
	return peer{
		id: "stripe", module: "github.com/stripe/stripe-go/v85",
		one: padded(oneSize, func(filler string) string {
			return `{"id":"po_1OaFDbEcg9tTZuTgNYmX0PKB","object":"payout","amount":125050,"arrival_date":1936,"automatic":true,` +
				`"balance_transaction":"txn_1OaFDcEcg9tTZuTgYMR25tSe","created":1935,"currency":"eur","description":"` +
				filler + `","destination":"ba_1MtIhL2eZvKYlo2CAElKwKu2","livemode":false,"metadata":{"invoice":"42"},` +
				`"method":"standard","reconciliation_status":"completed","source_type":"card",` +
				`"statement_descriptor":"Invoice 42","status":"pending","type":"bank_account"}`
		}),
		page: listed(`{"object":"list","data":[`, func(number int, filler string) string {
			return fmt.Sprintf(`{"id":"txn_%08d","object":"balance_transaction","amount":%d,"available_on":1936,`+
				`"created":1935,"currency":"eur","description":"%s","fee":105,"net":1193,"source":"ch_%08d",`+
				`"status":"available","type":"charge"}`, number, 1000+number*37, filler, number)
		}, `],"has_more":false,"url":"/v1/balance_transactions"}`),
		missing: `{"error":{"code":"resource_missing","message":"No such payout: 'po_1'","param":"payout",` +
			`"type":"invalid_request_error"}}`,
		sdk: stripeSDK, hand: stripeByHand,
	}
}

func stripeSDK(base string, client *http.Client) calls {
	api := stripe.NewClient("sk_test_of_nobody", stripe.WithBackends(stripe.NewBackendsWithConfig(&stripe.BackendConfig{
		HTTPClient: client, URL: stripe.String(base[:len(base)-1]), MaxNetworkRetries: stripe.Int64(0),
		LeveledLogger: &stripe.LeveledLogger{Level: stripe.LevelNull},
	})))
	get := func(ctx context.Context) (*stripe.Payout, error) {
		return api.V1Payouts.Retrieve(ctx, "po_1OaFDbEcg9tTZuTgNYmX0PKB", nil)
	}
	return calls{
		get: reads(get),
		page: reads(func(ctx context.Context) ([]*stripe.BalanceTransaction, error) {
			params := &stripe.BalanceTransactionListParams{ListParams: stripe.ListParams{Limit: stripe.Int64(100)}}
			var all []*stripe.BalanceTransaction
			for entry, err := range api.V1BalanceTransactions.List(ctx, params).All(ctx) {
				if err != nil {
					return nil, err
				}
				all = append(all, entry)
			}
			return all, nil
		}),
		refused: refuses[*stripe.Error](get),
	}
}

type stripePayout struct {
	ID                   string            `json:"id"`
	Object               string            `json:"object"`
	Amount               int64             `json:"amount"`
	ArrivalDate          int64             `json:"arrival_date"`
	Automatic            bool              `json:"automatic"`
	BalanceTransaction   string            `json:"balance_transaction"`
	Created              int64             `json:"created"`
	Currency             string            `json:"currency"`
	Description          string            `json:"description"`
	Destination          string            `json:"destination"`
	Livemode             bool              `json:"livemode"`
	Metadata             map[string]string `json:"metadata"`
	Method               string            `json:"method"`
	ReconciliationStatus string            `json:"reconciliation_status"`
	SourceType           string            `json:"source_type"`
	StatementDescriptor  string            `json:"statement_descriptor"`
	Status               string            `json:"status"`
	Type                 string            `json:"type"`
}

type stripePage struct {
	Data []struct {
		ID          string `json:"id"`
		Object      string `json:"object"`
		Amount      int64  `json:"amount"`
		AvailableOn int64  `json:"available_on"`
		Created     int64  `json:"created"`
		Currency    string `json:"currency"`
		Description string `json:"description"`
		Fee         int64  `json:"fee"`
		Net         int64  `json:"net"`
		Source      string `json:"source"`
		Status      string `json:"status"`
		Type        string `json:"type"`
	} `json:"data"`
	HasMore bool `json:"has_more"`
}

func stripeByHand(base string, client *http.Client) calls {
	c := byHand{base, client}
	get := fetch[stripePayout](c, http.MethodGet, "v1/payouts/po_1OaFDbEcg9tTZuTgNYmX0PKB")
	return calls{
		get:     reads(get),
		page:    reads(fetch[stripePage](c, http.MethodGet, "v1/balance_transactions?limit=100")),
		refused: refuses[*refusal](get),
	}
}
