package recorded_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/recorded"
)

var noon = time.Date(2031, 5, 6, 12, 0, 0, 0, time.UTC)

func TestEachOperationHasAResponse(t *testing.T) {
	names := recorded.Operations()
	require.Greater(t, len(names), 80)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			response, err := recorded.Response(name, noon)
			require.NoError(t, err)
			defer response.Body.Close()
			assert.Equal(t, 2, response.StatusCode/100)
			assert.Equal(t, noon.Format(http.TimeFormat), response.Header.Get("Date"))
			body, err := recorded.Body(name, noon)
			require.NoError(t, err)
			assert.NotContains(t, string(body), "{{")
			assert.EqualValues(t, len(body), response.ContentLength)
			if strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
				assert.True(t, json.Valid(body), "%s", body)
			}
		})
	}
}

// The times of a recorded price are relative to the time that the caller passes.
func TestResponseTimesFollowTheGivenTime(t *testing.T) {
	body, err := recorded.Body("dapi.BookPayout", noon)
	require.NoError(t, err)
	var payout dapi.Payout
	require.NoError(t, json.Unmarshal(body, &payout))
	assert.True(t, payout.Quote.ExpiresAt.After(noon), payout.Quote.ExpiresAt)
	assert.False(t, payout.Quote.ExpiresAt.After(noon.Add(2*time.Minute)), payout.Quote.ExpiresAt)
	signed := payout.Approval.Payload
	assert.Contains(t, string(signed), `"expiresAt":"2031-05-06T12:02:00Z"`)
	assert.True(t, strings.HasPrefix(string(signed), `{"account":`), "canonical: %s", signed)
}

func TestUnknownOperation(t *testing.T) {
	_, err := recorded.Body("dapi.GetPayot", noon)
	assert.EqualError(t, err, `recorded: there is no operation "dapi.GetPayot": Operations lists the names`)
	_, err = recorded.Body("GetPayout", noon)
	assert.Error(t, err)
}
