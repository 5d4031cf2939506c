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
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
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

// Of a call that reveals secrets the body is kept only where it is asked for.
func TestACaptureKeepsSecretsIfAsked(t *testing.T) {
	for secret, kept := range map[bool]string{false: "a body", true: ""} {
		var usual, asked moneymovement.Response
		call := transport.CallOf([]moneymovement.CallOption{moneymovement.CaptureResponse(&usual),
			moneymovement.CaptureResponseWithSecrets(&asked)})
		call.Keep(transport.Answer{Status: 200, Body: []byte("a body"), Secret: secret})
		assert.Equal(t, kept, string(usual.Body))
		assert.Equal(t, "a body", string(asked.Body))
		assert.Equal(t, 200, usual.Status)
	}
}

// What a call was like is kept in full.
func TestACaptureKeepsEverything(t *testing.T) {
	var kept moneymovement.Response
	call := transport.CallOf([]moneymovement.CallOption{moneymovement.CaptureResponse(&kept)})
	call.Keep(transport.Answer{
		Status: 201, Header: http.Header{"A": {"b"}}, RequestID: "req_1", IdempotencyKey: "k", Replayed: true,
		Attempts: 2, Queued: time.Second,
		Unread: []wire.Unread{{Pointer: "/a", Stated: true, Problem: "is a number"}}, Body: []byte("{}"),
	})
	assert.Equal(t, moneymovement.Response{
		Status: 201, Header: http.Header{"A": {"b"}}, RequestID: "req_1", IdempotencyKey: "k", Replayed: true,
		Attempts: 2, Queued: time.Second,
		Unread: []moneymovement.Unread{{Pointer: "/a", Stated: true, Problem: "is a number"}}, Body: []byte("{}"),
	}, kept)
}
