package recorded

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/internal/codec"
)

// exchange returns an exchange whose response has the given text.
func exchange(method, path, body, says string) Exchange {
	return Exchange{Method: method, Path: path, Body: codec.Value(body),
		Answer: Answer{Now: "{{now}}", Status: 200, Text: says}}
}

// play serves a recording. call sends a request and returns the status and the body of the response.
func play(t *testing.T, recording Recording) (r *replay, call func(method, path, body string) (int, string)) {
	t.Helper()
	for i := range recording {
		if len(recording[i].Body) == 0 {
			recording[i].Body = nil
		}
	}
	r = newReplay("dapi/ExampleOne", recording, time.Now())
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	return r, func(method, path, body string) (int, string) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		require.NoError(t, err)
		answer, err := server.Client().Do(request)
		require.NoError(t, err)
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		return answer.StatusCode, string(text)
	}
}

func TestEachRouteAnswersInTheOrderOfTheRecording(t *testing.T) {
	r, call := play(t, Recording{
		exchange("GET", "/a", "", "a1"), exchange("GET", "/b", "", "b1"), exchange("GET", "/a", "", "a2"),
		exchange("POST", "/a", "", "posted"),
		exchange("GET", "/a?page=2", "", "page 2"),
	})
	for _, want := range []struct{ method, path, says string }{
		{"GET", "/a?page=2", "page 2"}, {"POST", "/a", "posted"}, {"GET", "/a", "a1"}, {"GET", "/a", "a2"},
		{"GET", "/b", "b1"},
	} {
		status, text := call(want.method, want.path, "")
		assert.Equal(t, 200, status)
		assert.Equal(t, want.says, text)
	}
	assert.NoError(t, r.complete())
}

func TestWhatWasNotRecordedIsRefused(t *testing.T) {
	tests := map[string]struct {
		method, path, body string
		problem            string
	}{
		"a path":   {"GET", "/b", "", "GET /b was not recorded, or less often"},
		"a query":  {"GET", "/a?page=2", "", "GET /a?page=2 was not recorded, or less often"},
		"a method": {"DELETE", "/a", "", "DELETE /a was not recorded, or less often"},
		"another body": {"POST", "/a", `{"amount":"26"}`,
			`POST /a was recorded with the body {"amount":"25"}, and came with {"amount":"26"}`},
		"no body": {"POST", "/a", "", `POST /a was recorded with the body {"amount":"25"}, and came with `},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r, call := play(t,
				Recording{exchange("GET", "/a", "", "a"), exchange("POST", "/a", `{"amount":"25"}`, "posted")})
			status, text := call(test.method, test.path, test.body)
			assert.Equal(t, 400, status, "nothing that a client sends again")
			want := "recorded: dapi/ExampleOne: " + test.problem + "; `make recordings` records the examples anew"
			quoted, err := codec.AppendQuote(nil, want)
			require.NoError(t, err)
			assert.JSONEq(t, `{"error":{"code":"not_recorded","message":`+string(quoted)+`}}`, text)
			assert.EqualError(t, r.complete(), want)
		})
	}
}

func TestACallMoreThanRecordedIsRefused(t *testing.T) {
	r, call := play(t, Recording{exchange("GET", "/a", "", "a")})
	call("GET", "/a", "")
	status, _ := call("GET", "/a", "")
	assert.Equal(t, 400, status)
	assert.ErrorContains(t, r.complete(), "GET /a was not recorded, or less often")
}

func TestACallLessThanRecordedIsTold(t *testing.T) {
	r, call := play(t, Recording{exchange("GET", "/a", "", "a"), exchange("GET", "/b", "", "b")})
	call("GET", "/a", "")
	assert.ErrorContains(t, r.complete(), "GET /b was recorded and did not come")
}

func TestBodiesAreComparedByValue(t *testing.T) {
	const recorded = `{"amount":"25","proof":{"nonce":"{{any}}","signature":"{{any}}"},"to":["a","b"]}`
	tests := map[string]struct {
		sent string
		want bool
	}{
		"as recorded":        {recorded, true},
		"other signature":    {`{"to":["a","b"], "proof":{"signature":"x","nonce":7},"amount":"25"}`, true},
		"another amount":     {`{"amount":"26","proof":{"nonce":1,"signature":"x"},"to":["a","b"]}`, false},
		"another type":       {`{"amount":25,"proof":{"nonce":1,"signature":"x"},"to":["a","b"]}`, false},
		"no signature":       {`{"amount":"25","proof":{"nonce":1},"to":["a","b"]}`, false},
		"another member":     {`{"amount":"25","proof":{"nonce":1,"key":"x"},"to":["a","b"]}`, false},
		"a member more":      {`{"amount":"25","proof":{"nonce":1,"signature":"x"},"to":["a","b"],"memo":"x"}`, false},
		"another element":    {`{"amount":"25","proof":{"nonce":1,"signature":"x"},"to":["a","c"]}`, false},
		"an element less":    {`{"amount":"25","proof":{"nonce":1,"signature":"x"},"to":["a"]}`, false},
		"no list, no object": {`{"amount":"25","proof":1,"to":2}`, false},
		"no JSON":            {`{`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, same(codec.Value(recorded), []byte(test.sent)))
		})
	}
	assert.True(t, same(nil, []byte("a form")), "a body that was not kept is not compared")
}

func TestALostAnswerClosesTheConnection(t *testing.T) {
	r := newReplay("dapi/ExampleOne", Recording{{Method: "GET", Path: "/a", Answer: Answer{Lost: true}}}, time.Now())
	server := httptest.NewServer(r)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/a", http.NoBody)
	require.NoError(t, err)
	request.Close = true // or net/http would send it once more
	answer, err := server.Client().Do(request)
	if err == nil {
		answer.Body.Close()
	}
	require.ErrorIs(t, err, io.EOF)
	assert.NoError(t, r.complete())
}

func TestAnAnswerComesAsRecorded(t *testing.T) {
	start := time.Date(2030, 1, 2, 3, 4, 5, 600, time.UTC)
	r := newReplay("dapi/ExampleOne", Recording{{Method: "GET", Path: "/a", Answer: Answer{
		Now: "{{now+1h0m0s}}", Status: 201, Header: map[string]string{"X-Request-Id": "req_1"},
		Body: codec.Value(`{"expiresAt":"{{now+1h15m0s}}"}`),
	}}}, start)
	answer := httptest.NewRecorder()
	r.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/a", http.NoBody))
	assert.Equal(t, 201, answer.Code)
	assert.Equal(t, http.Header{"Date": {"Wed, 02 Jan 2030 04:04:05 GMT"}, "X-Request-Id": {"req_1"},
		"Content-Length": {"36"}}, answer.Header())
	assert.JSONEq(t, `{"expiresAt":"2030-01-02T04:19:05Z"}`, answer.Body.String())
}

func TestServeIsForExamples(t *testing.T) {
	assert.PanicsWithValue(t, "recorded: Serve is for examples of github.com/moneymovement/moneymovement-go", func() {
		Serve()
	})
}

func TestEachExampleNeedsARecording(t *testing.T) {
	_, err := load("dapi/ExampleOfNothing")
	assert.EqualError(t, err,
		"internal/recorded/testdata/dapi/ExampleOfNothing.json: nothing is recorded for this example; "+remedy)
}
