package transport_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// A stated member that is missing is an error each time. A wrong assumption is one warning in the life of the client,
// for all entries of a list together.
func TestWhatCannotBeReadIsLogged(t *testing.T) {
	shape := wire.Shape{Kind: wire.KindObject, Members: []wire.Member{
		{Name: "id", Shape: &wire.Text, Type: wire.Stated},
		{Name: "status", Shape: &wire.Text, Type: wire.Assumed},
		{Name: "tags", Shape: &wire.Shape{Kind: wire.KindList, Item: &wire.Text}, Type: wire.Assumed},
		{Name: "names", Shape: &wire.Shape{Kind: wire.KindList, Item: &wire.Text}, Type: wire.Stated},
		{Name: "a", Shape: &wire.Text, Type: wire.Stated},
	}}
	op := readThing
	op.Answer = &wire.Answer{Shape: &shape}
	var log bytes.Buffer
	logged := func(c *transport.Config) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) }
	odd := answers(200, `{"id":[],"status":{},"tags":["a",{},[],true],"names":[{},[],"b"],"a":[]}`, "X-Request-ID",
		"req_1")
	client := newClient(t, host, logged, through(script(odd)))
	records := func() (found []map[string]any) {
		log.Reset()
		_, err := send(t.Context(), client, &op, transport.Call{})
		require.NoError(t, err)
		for line := range bytes.Lines(log.Bytes()) {
			var record map[string]any
			require.NoError(t, json.Unmarshal(line, &record))
			delete(record, "time")
			found = append(found, record)
		}
		return found
	}
	stated := map[string]any{
		"level": "ERROR", "msg": "moneymovement response lacks stated members", "operation": "GetThing",
		"requestId": "req_1", "members": []any{"/id is an array", "/names/* is an object", "/a is an array"},
	}
	assumed := map[string]any{
		"level": "WARN", "msg": "moneymovement response differs from assumptions", "operation": "GetThing",
		"requestId": "req_1",
		"members":   []any{"/status is an object", "/tags/* is an object"},
	}
	assert.Equal(t, []map[string]any{stated, assumed}, records())
	assert.Equal(t, []map[string]any{stated}, records(), "an assumption is warned of once")
	client = newClient(t, host, logged, through(script(answers(200, `{"id":"th_1","names":[],"a":"","status":{}}`))))
	require.Len(t, records(), 1, "one is enough")
	client = newClient(t, host, logged, through(script(answers(200, `{"id":"th_1"}`))))
	assert.Empty(t, records())
}

// A call without a key logs none.
func TestAnAttemptWithoutAKeyIsLoggedWithoutOne(t *testing.T) {
	var log bytes.Buffer
	debug := &slog.HandlerOptions{Level: slog.LevelDebug}
	client := newClient(t, host, through(script(ok)), func(c *transport.Config) {
		c.Logger = slog.New(slog.NewJSONHandler(&log, debug))
	})
	_, err := send(t.Context(), client, &readThing, transport.Call{})
	require.NoError(t, err)
	assert.Contains(t, log.String(), `"operation":"GetThing"`)
	assert.NotContains(t, log.String(), "idempotencyKey")
}
