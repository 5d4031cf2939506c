package moneymovement_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/public"
)

func TestEachCaptureKeepsTheAnswer(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "req_1")
		_, _ = io.WriteString(w, `{"usdRate":"1.08","bankTransfer":"1.07","card":"1.06"}`)
	}))
	defer server.Close()
	client, err := public.New(server.URL)
	require.NoError(t, err)
	var first, second moneymovement.Response
	_, err = client.Rates.Get(t.Context(), "EUR", moneymovement.CaptureResponse(&first),
		moneymovement.CaptureResponse(&second))
	require.NoError(t, err)
	assert.Equal(t, 200, first.Status)
	assert.Equal(t, "req_1", first.RequestID)
	assert.Equal(t, first, second)
}

func TestCallSettingsAreCollected(t *testing.T) {
	assert.Zero(t, moneymovement.CallSettingsOf[moneymovement.CallOption]())
	var first, second, secret moneymovement.Response
	settings := moneymovement.CallSettingsOf[moneymovement.WriteOption](
		moneymovement.IdempotencyKey("first"), nil, moneymovement.CaptureResponse(&first),
		moneymovement.Timeout(time.Second), moneymovement.IdempotencyKey("rent-1"),
		moneymovement.CaptureResponse(&second), moneymovement.CaptureResponseWithSecrets(&secret))
	assert.Equal(t, moneymovement.CallSettings{
		Key: "rent-1", Timeout: new(time.Second), Capture: []*moneymovement.Response{&first, &second},
		CaptureRevealing: []*moneymovement.Response{&secret},
	}, settings)
}

// A call with an invalid option is refused, and so is the constructor of a client.
func TestInvalidOptionsAreRefused(t *testing.T) {
	problems := func(fields []errors.Field) (found []string) {
		for _, field := range fields {
			found = append(found, field.Field+" "+field.Code)
		}
		return found
	}
	assert.Equal(t, []string{"Idempotency-Key missing", "Timeout out_of_range", "CaptureResponse missing",
		"CaptureResponse missing"}, problems(moneymovement.CallSettingsOf[moneymovement.WriteOption](
		moneymovement.IdempotencyKey(""), moneymovement.Timeout(-1), moneymovement.CaptureResponse(nil),
		moneymovement.CaptureResponseWithSecrets(nil)).Invalid))
	for name, option := range map[string]moneymovement.Option{
		"WithTransport invalid_option":     moneymovement.WithTransport(nil),
		"WithTimeout out_of_range":         moneymovement.WithTimeout(-1),
		"WithPolling out_of_range":         moneymovement.WithPolling(2, 1),
		"WithClockDifference out_of_range": moneymovement.WithClockDifference(0),
		"WithRateShare too_small":          moneymovement.WithRateShare(0),
	} {
		assert.Equal(t, []string{name}, problems(moneymovement.ClientSettingsOf(nil, option).Invalid))
		_, err := public.New("https://service.example", option)
		refused, is := errors.AsType[*errors.InvalidInput](err)
		require.True(t, is, "%v", err)
		assert.Equal(t, []string{name}, problems(refused.Fields))
	}
}
