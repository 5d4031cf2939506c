package serve_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/serve"
)

func TestWhatAnOperationTakesIsRead(t *testing.T) {
	t.Parallel()
	r := &serve.Request{
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
	r.BindQuery(&limit, serve.Parameter{Name: "limit", Type: "integer", Explode: true})
	r.BindQuery(&kinds, serve.Parameter{Name: "type", Type: "array"})
	r.BindQuery(&since, serve.Parameter{Name: "since", Type: "string", Format: "date-time", Explode: true})
	r.BindQuery(&absent, serve.Parameter{Name: "active_only", Type: "boolean", Explode: true})
	r.BindHeader(&device, serve.Parameter{Name: "device-id", Type: "string"})
	r.BindHeader(&nameless, serve.Parameter{Name: "device-name", Type: "string"})
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

func TestWhatCannotBeReadIsRefusedWithoutAReason(t *testing.T) {
	t.Parallel()
	var number int
	var text string
	for name, bind := range map[string]func(*serve.Request){
		"a parameter of the query": func(r *serve.Request) {
			r.BindQuery(&number, serve.Parameter{Name: "limit", Type: "integer", Explode: true})
		},
		"a header that comes twice": func(r *serve.Request) {
			r.BindHeader(&text, serve.Parameter{Name: "device-id", Type: "string"})
		},
		"a body": func(r *serve.Request) { r.BindBody(&number) },
	} {
		t.Run(name, func(t *testing.T) {
			r := &serve.Request{
				Query: url.Values{"limit": {"seven"}}, Header: http.Header{"Device-Id": {"1", "2"}},
				Body: []byte(`"seven"`),
			}
			require.NoError(t, r.Err())
			bind(r)
			assert.Equal(t, refuse.InvalidRequest("The request cannot be read."), r.Err())
		})
	}
}

func TestBodiesTravelAsTheySay(t *testing.T) {
	t.Parallel()
	body := map[string]string{"name": "<b>"}
	for name, test := range map[string]struct {
		answer serve.Answer
		want   string
	}{
		"JSON":      {serve.OK(body), `{"name":"\u003cb\u003e"}` + "\n"},
		"lean JSON": {serve.Created(body).Lean(), `{"name":"<b>"}`},
		"a file":    {serve.File("application/pdf", []byte("%PDF")), "%PDF"},
		"nothing":   {serve.NoContent(), ""},
	} {
		encoded, err := test.answer.Encode()
		require.NoError(t, err, name)
		assert.Equal(t, test.want, string(encoded), name)
	}
	_, err := serve.OK(func() {}).Encode()
	assert.Error(t, err)
	assert.Equal(t, http.Header{"Idempotency-Replayed": {"true"}}, serve.OK(body).Replayed().Header)
}
