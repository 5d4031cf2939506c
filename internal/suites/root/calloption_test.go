package moneymovement_test

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/public"
	"github.com/moneymovement/moneymovement-go/sandbox"
)

func TestEachCaptureKeepsTheAnswer(t *testing.T) {
	server := httptest.NewServer(sandbox.New())
	defer server.Close()
	client, err := public.New(server.URL)
	require.NoError(t, err)
	var first, second moneymovement.Answer
	_, err = client.Rates.Get(t.Context(), "EUR", moneymovement.Capture(&first), moneymovement.Capture(nil), moneymovement.Capture(&second))
	require.NoError(t, err)
	assert.Equal(t, 200, first.Status)
	assert.NotEmpty(t, first.RequestID)
	assert.Equal(t, first, second)
}
