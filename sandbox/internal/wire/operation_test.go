package wire_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

func TestRequestBinding(t *testing.T) {
	t.Parallel()
	r := &wire.Request{
		Query:  url.Values{"limit": {"7"}, "type": {"a,b"}, "since": {"2026-03-01T12:00:00Z"}},
		Header: http.Header{"Device-Id": {"d 1"}},
		Body:   []byte(`{"name":"x"}`),
	}
	var (
		limit    int
		kinds    []string
		since    time.Time
		absent   *bool
		device   string
		nameless = "kept"
		body     struct{ Name string }
	)
	r.BindQuery(&limit, wire.Parameter{Name: "limit", Type: "integer", Explode: true})
	r.BindQuery(&kinds, wire.Parameter{Name: "type", Type: "array"})
	r.BindQuery(&since, wire.Parameter{Name: "since", Type: "string", Format: "date-time", Explode: true})
	r.BindQuery(&absent, wire.Parameter{Name: "active_only", Type: "boolean", Explode: true})
	r.BindHeader(&device, wire.Parameter{Name: "device-id", Type: "string"})
	r.BindHeader(&nameless, wire.Parameter{Name: "device-name", Type: "string"})
	r.BindBody(&body)
	require.NoError(t, r.Err())
	assert.Equal(t, 7, limit)
	assert.Equal(t, []string{"a", "b"}, kinds)
	assert.Equal(t, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), since)
	assert.Nil(t, absent)
	assert.Equal(t, "d 1", device)
	assert.Equal(t, "kept", nameless)
	assert.Equal(t, "x", body.Name)
}

func TestUnreadableRequestIsRefused(t *testing.T) {
	t.Parallel()
	var number int
	var text string
	for name, bind := range map[string]func(*wire.Request){
		"a parameter of the query": func(r *wire.Request) {
			r.BindQuery(&number, wire.Parameter{Name: "limit", Type: "integer", Explode: true})
		},
		"a header that comes twice": func(r *wire.Request) {
			r.BindHeader(&text, wire.Parameter{Name: "device-id", Type: "string"})
		},
		"a body": func(r *wire.Request) { r.BindBody(&number) },
	} {
		t.Run(name, func(t *testing.T) {
			r := &wire.Request{
				Query: url.Values{"limit": {"seven"}}, Header: http.Header{"Device-Id": {"1", "2"}},
				Body: []byte(`"seven"`),
			}
			require.NoError(t, r.Err())
			bind(r)
			assert.Equal(t, wire.InvalidRequest("The request cannot be read."), r.Err())
		})
	}
}

func TestResponseEncoding(t *testing.T) {
	t.Parallel()
	body := map[string]string{"name": "<b>"}
	for name, test := range map[string]struct {
		answer wire.Response
		want   string
	}{
		"JSON":      {wire.OK(body), `{"name":"\u003cb\u003e"}` + "\n"},
		"lean JSON": {wire.Created(body).Lean(), `{"name":"<b>"}`},
		"a file":    {wire.File("application/pdf", []byte("%PDF")), "%PDF"},
		"nothing":   {wire.NoContent(), ""},
	} {
		encoded, err := test.answer.Encode()
		require.NoError(t, err, name)
		assert.Equal(t, test.want, string(encoded), name)
	}
	_, err := wire.OK(func() {}).Encode()
	assert.Error(t, err)
	assert.Equal(t, http.Header{"Idempotency-Replayed": {"true"}}, wire.OK(body).Replayed().Header)
}
