package moneymovement_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/appapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/public"
)

// recorder keeps what it sees.
type recorder struct {
	mu       sync.Mutex
	begun    []moneymovement.CallStart
	attempts []moneymovement.CallAttempt
	ended    []moneymovement.CallEnd
}

func (r *recorder) CallBegan(ctx context.Context, call moneymovement.CallStart) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begun = append(r.begun, call)
	return ctx
}

func (r *recorder) AttemptEnded(_ context.Context, _ moneymovement.CallStart, attempt moneymovement.CallAttempt) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.attempts = append(r.attempts, attempt)
}

func (r *recorder) CallEnded(_ context.Context, _ moneymovement.CallStart, end moneymovement.CallEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, end)
}

func TestObserverSeesEachResult(t *testing.T) {
	read := func(ctx context.Context, app *appapi.Client) error {
		_, err := app.Account.Profile(ctx)
		return err
	}
	send := func(to appapi.Destination) func(context.Context, *appapi.Client) error {
		return func(ctx context.Context, app *appapi.Client) error {
			_, err := app.Transfers.Send(ctx, to, "k")
			return err
		}
	}
	refusal := `{"error":{"code":"not_found","message":"No."}}`
	get := moneymovement.CallStart{Operation: "GetProfile", Method: "GET", URLTemplate: "/user",
		Server: "https://service.example"}
	pay := moneymovement.CallStart{Operation: "CreateTransfer", Method: "POST", URLTemplate: "/apps/transfer",
		Server: "https://service.example", IdempotencyKey: "k"}
	for name, c := range map[string]struct {
		call     func(context.Context, *appapi.Client) error
		status   int
		body     string
		attempts int
		start    moneymovement.CallStart
		want     moneymovement.CallEnd
	}{
		"a success": {read, 200, `{"id":"u_1"}`, 1, get, moneymovement.CallEnd{Result: moneymovement.CallSucceeded}},
		"a payment": {send(appapi.ToQuote{QuoteID: "q_1"}), 200, `{"txHash":"0x1"}`, 1, pay,
			moneymovement.CallEnd{Result: moneymovement.CallSucceeded, State: moneymovement.PaymentPaid}},
		"a refusal": {read, 404, refusal, 1, get, moneymovement.CallEnd{
			Result: moneymovement.CallRefused, Code: errors.CodeNotFound}},
		"a refusal because it was done before": {send(appapi.ToQuote{QuoteID: "q_1"}), 409,
			strings.Replace(refusal, "not_found", "already_funded", 1), 1, pay, moneymovement.CallEnd{
				Result: moneymovement.CallSucceeded, Code: errors.CodeAlreadyFunded,
				State: moneymovement.PaymentPaid}},
		"a refusal of a slug that this version does not know": {read, 409,
			strings.Replace(refusal, "not_found", "new_slug", 1), 1, get, moneymovement.CallEnd{
				Result: moneymovement.CallRefused, Code: "new_slug"}},
		"a refusal without a slug": {read, 422, `{"detail":[{"loc":["body"],"msg":"no","type":"missing"}]}`, 1, get,
			moneymovement.CallEnd{Result: moneymovement.CallRefused}},
		"a page of a proxy": {read, 404, `<html>`, 1, get,
			moneymovement.CallEnd{Result: moneymovement.CallUnexpected}},
		"a lost read": {read, 0, "", 4, get, moneymovement.CallEnd{Result: moneymovement.CallNotDelivered}},
		"a lost write": {send(appapi.ToQuote{QuoteID: "q_1"}), 0, "", 4, pay,
			moneymovement.CallEnd{Result: moneymovement.CallInDoubt, State: moneymovement.PaymentInDoubt}},
		"bad input": {send(appapi.ToInvoice{InvoiceID: "not a UUID"}), 0, "", 0, pay,
			moneymovement.CallEnd{Result: moneymovement.CallInvalid}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen := new(recorder)
				app, err := appapi.New("https://service.example", appapi.NewAPIKey("key"),
					moneymovement.WithObserver(seen), moneymovement.WithHTTPClient(&http.Client{
						Transport: &slow{takes: time.Second, status: c.status, body: c.body}}))
				require.NoError(t, err)
				began := time.Now()
				err = c.call(t.Context(), app)
				assert.Equal(t, c.want.Result == moneymovement.CallSucceeded && c.want.Code == "", err == nil,
					"%v", err)
				assert.Equal(t, []moneymovement.CallStart{c.start}, seen.begun)
				c.want.Status, c.want.Attempts, c.want.Took, c.want.Err = c.status, c.attempts, time.Since(began), err
				assert.Equal(t, []moneymovement.CallEnd{c.want}, seen.ended)
				assert.Len(t, seen.attempts, c.attempts)
				assert.GreaterOrEqual(t, c.want.Took, time.Duration(c.attempts)*time.Second)
			})
		})
	}
}

func TestNilObserverIsRefused(t *testing.T) {
	_, err := public.New("https://service.example", moneymovement.WithObserver(nil))
	invalid, is := errors.AsType[*errors.InvalidInput](err)
	require.True(t, is, "%v", err)
	assert.Equal(t, "WithObserver", invalid.Fields[0].Field)
}
