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
)

// recorder keeps what it receives.
type recorder struct {
	mu    sync.Mutex
	calls []moneymovement.CallMetrics
}

func (r *recorder) Call(_ context.Context, call moneymovement.CallMetrics) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, call)
}

// slow is a service that takes some time for each request.
type slow struct {
	takes  time.Duration
	status int // 0 loses the response
	body   string
}

func (s *slow) RoundTrip(req *http.Request) (*http.Response, error) {
	select {
	case <-time.After(s.takes):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
	if s.status == 0 {
		return nil, errors.New("the connection broke")
	}
	return (&answering{status: s.status, body: s.body}).RoundTrip(req)
}

func TestMetricsOfEachResult(t *testing.T) {
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
	for name, c := range map[string]struct {
		call     func(context.Context, *appapi.Client) error
		status   int
		body     string
		attempts int
		want     moneymovement.CallMetrics
	}{
		"a success": {read, 200, `{"id":"u_1"}`, 1,
			moneymovement.CallMetrics{Operation: "GetProfile", Result: moneymovement.CallSucceeded}},
		"a refusal": {read, 404, refusal, 1, moneymovement.CallMetrics{
			Operation: "GetProfile", Result: moneymovement.CallRefused, Code: errors.CodeNotFound}},
		"a refusal because it was done before": {send(appapi.ToQuote{QuoteID: "q_1"}), 409,
			strings.Replace(refusal, "not_found", "already_funded", 1), 1, moneymovement.CallMetrics{
				Operation: "CreateTransfer", Result: moneymovement.CallSucceeded, Code: errors.CodeAlreadyFunded}},
		"a refusal of a slug that this version does not know": {read, 409,
			strings.Replace(refusal, "not_found", "new_slug", 1), 1, moneymovement.CallMetrics{
				Operation: "GetProfile", Result: moneymovement.CallRefused, Code: "new_slug"}},
		"a refusal without a slug": {read, 422, `{"detail":[{"loc":["body"],"msg":"no","type":"missing"}]}`, 1,
			moneymovement.CallMetrics{Operation: "GetProfile", Result: moneymovement.CallRefused}},
		"a page of a proxy": {read, 404, `<html>`, 1,
			moneymovement.CallMetrics{Operation: "GetProfile", Result: moneymovement.CallUnexpected}},
		"a lost read": {read, 0, "", 4,
			moneymovement.CallMetrics{Operation: "GetProfile", Result: moneymovement.CallNotDelivered}},
		"a lost write": {send(appapi.ToQuote{QuoteID: "q_1"}), 0, "", 4,
			moneymovement.CallMetrics{Operation: "CreateTransfer", Result: moneymovement.CallInDoubt}},
		"bad input": {send(appapi.ToInvoice{InvoiceID: "not a UUID"}), 0, "", 0,
			moneymovement.CallMetrics{Operation: "CreateTransfer", Result: moneymovement.CallInvalid}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				measured := new(recorder)
				app, err := appapi.New("https://service.example", appapi.NewAPIKey("key"),
					moneymovement.WithMetrics(measured), moneymovement.WithHTTPClient(&http.Client{
						Transport: &slow{takes: time.Second, status: c.status, body: c.body}}))
				require.NoError(t, err)
				began := time.Now()
				err = c.call(t.Context(), app)
				assert.Equal(t, c.want.Result == moneymovement.CallSucceeded && c.want.Code == "", err == nil,
					"%v", err)
				require.Len(t, measured.calls, 1)
				c.want.Status, c.want.Attempts, c.want.Took = c.status, c.attempts, time.Since(began)
				assert.Equal(t, c.want, measured.calls[0])
				assert.GreaterOrEqual(t, c.want.Took, time.Duration(c.attempts)*time.Second)
			})
		})
	}
}

func TestATimeoutEndsACall(t *testing.T) {
	second := []moneymovement.Option{moneymovement.WithTimeout(time.Second)}
	for name, c := range map[string]struct {
		ofClient []moneymovement.Option
		ofCall   []moneymovement.CallOption
		ends     time.Duration // 0 if it does not
	}{
		"none":          {nil, nil, 0},
		"of the client": {second, nil, time.Second},
		"of the call": {nil, []moneymovement.CallOption{moneymovement.Timeout(2 * time.Second)},
			2 * time.Second},
		"a longer one of a call": {second, []moneymovement.CallOption{moneymovement.Timeout(time.Minute)}, 0},
		"none of a call":         {second, []moneymovement.CallOption{moneymovement.Timeout(0)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service := &slow{takes: 10 * time.Second, status: 200, body: `{"txHash":"0x1"}`}
				app, err := appapi.New("https://service.example", appapi.NewAPIKey("key"),
					append(c.ofClient, moneymovement.WithHTTPClient(&http.Client{Transport: service}))...)
				require.NoError(t, err)
				began := time.Now()
				_, err = app.Transfers.Send(t.Context(), appapi.ToQuote{QuoteID: "q_1"}, "k", c.ofCall...)
				if c.ends == 0 {
					require.NoError(t, err)
					return
				}
				assert.Equal(t, c.ends, time.Since(began))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				var unknown *errors.InDoubt
				require.ErrorAs(t, err, &unknown, "a write that may have been carried out")
			})
		})
	}
}

func TestOptionsThatCannotBeKeptAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		option moneymovement.Option
		field  string
	}{
		"a negative timeout":       {moneymovement.WithTimeout(-1), "WithTimeout"},
		"no pause":                 {moneymovement.WithPolling(0, time.Second), "WithPolling"},
		"a pause of more than 24h": {moneymovement.WithPolling(time.Second, 25*time.Hour), "WithPolling"},
		"pauses the wrong way":     {moneymovement.WithPolling(time.Minute, time.Second), "WithPolling"},
	} {
		_, err := appapi.New("https://service.example", appapi.NewAPIKey("key"), c.option)
		var input *errors.InvalidInput
		require.ErrorAs(t, err, &input, name)
		assert.Equal(t, c.field, input.Fields[0].Field)
	}
	app, err := appapi.New("https://service.example", appapi.NewAPIKey("key"))
	require.NoError(t, err)
	_, err = app.Account.Profile(t.Context(), moneymovement.Timeout(-1))
	var input *errors.InvalidInput
	require.ErrorAs(t, err, &input)
	assert.Equal(t, "Timeout", input.Fields[0].Field)
	_, err = app.Account.Profile(t.Context(), moneymovement.CaptureResponse(nil))
	require.ErrorAs(t, err, &input)
	assert.Equal(t, "CaptureResponse", input.Fields[0].Field)
}
