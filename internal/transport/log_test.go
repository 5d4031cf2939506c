package transport_test

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

func logged(t *testing.T, level slog.Level, svc *service) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: level}))
	client := newClient(t, host, through(svc), authorizedBy(keyCredential{}), func(c *transport.Config) { c.Logger = logger })
	r := request(&confirmThing, transport.Call{Key: "invoice-42", KeySet: true})
	r.Query("cursor", "s3cret")
	r.Body(map[string]string{"name": "Bob s3cret"}, nil)
	_, _ = transport.Do[thing](t.Context(), client, r)

	assert.NotContains(t, out.String(), "secret")
	assert.NotContains(t, out.String(), "s3cret")
	assert.NotContains(t, out.String(), "ct_1", "not even ids: the template is logged")
	var records []map[string]any
	for line := range strings.Lines(out.String()) {
		var record map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		records = append(records, record)
	}
	return records
}

// One record an attempt, of what is listed and nothing else.
func TestLogHoldsTheListedAttributesOnly(t *testing.T) {
	records := logged(t, slog.LevelDebug, script(
		lostAnswer,
		refuses(503, errors.CodeDatabaseUnavailable, "X-Request-ID", "req_1", "Set-Cookie", "s3cret"),
		answers(200, `{"id":"s3cret"}`, "X-Request-ID", "req_2"),
	))
	require.Len(t, records, 3)
	for i, record := range records {
		assert.Equal(t, "DEBUG", record["level"])
		assert.Equal(t, "moneymovement attempt", record["msg"])
		assert.NotNil(t, record["took"])
		for _, name := range []string{"time", "level", "msg", "took"} {
			delete(record, name)
		}
		want := map[string]any{
			"operation": "ConfirmThing", "method": "POST", "path": "/things/{thingId}/confirm", "attempt": float64(i + 1), "idempotencyKey": "invoice-42",
		}
		switch i {
		case 0:
			want["error"] = "read tcp: connection reset by peer"
		case 1:
			want["status"], want["requestId"] = 503.0, "req_1"
		case 2:
			want["status"], want["requestId"] = 200.0, "req_2"
		}
		assert.Equal(t, want, record)
	}
}

// A transport of the caller's can wrap its errors in the address.
func TestLogHoldsNoAddressOfAnError(t *testing.T) {
	records := logged(t, slog.LevelDebug, script(fails(&url.Error{Op: "Post", URL: host + "/things/ct_1?cursor=s3cret", Err: io.EOF}), ok))
	require.Len(t, records, 2)
	assert.Equal(t, "EOF", records[0]["error"])
}

func TestNothingIsLoggedAboveDebug(t *testing.T) {
	assert.Empty(t, logged(t, slog.LevelInfo, script(lostAnswer)))
}
