package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oapi-codegen/nullable"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

func TestQueryEncoding(t *testing.T) {
	type status string
	east := time.FixedZone("", 2*60*60)
	for name, tc := range map[string]struct {
		value any
		want  string // of the query
	}{
		"zero number is left out":        {0, ""},
		"number":                         {50, "q=50"},
		"negative number":                {int64(-1), "q=-1"},
		"empty text is left out":         {"", ""},
		"text":                           {"a b&c=d/é", "q=a+b%26c%3Dd%2F%C3%A9"},
		"text that would break a header": {"a\r\nX: y", "q=a%0D%0AX%3A+y"},
		"named text":                     {status("paid"), "q=paid"},
		"false is left out":              {false, ""},
		"true":                           {true, "q=true"},
		"nil":                            {nil, ""},
		"nil pointer":                    {(*bool)(nil), ""},
		"pointer to false":               {ptr(false), "q=false"},
		"pointer to zero":                {ptr(0), "q=0"},
		"pointer to empty text":          {ptr(""), "q="},
		"pointer to named text":          {ptr(status("paid")), "q=paid"},
		"no list":                        {[]string(nil), ""},
		"empty list":                     {[]string{}, ""},
		"list":                           {[]status{"paid", "sent"}, "q=paid%2Csent"},
		"list of numbers":                {[]int{0, 1}, "q=0%2C1"},
		"no time":                        {time.Time{}, ""},
		"time travels in UTC": {time.Date(2026, 1, 2, 3, 4, 5, 600, east),
			"q=2026-01-02T01%3A04%3A05.0000006Z"},
		"pointer to a time": {ptr(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)),
			"q=2026-01-02T03%3A04%3A05Z"},
		"decimal":         {decimal.RequireFromString("10.50"), "q=10.5"},
		"unsigned number": {uint16(7), "q=7"},
	} {
		t.Run(name, func(t *testing.T) {
			svc := script(ok)
			r := request(&readThing, transport.Call{})
			r.Query("q", tc.value)
			_, err := transport.Do[thing](t.Context(), newClient(t, host, through(svc)), r)
			require.NoError(t, err)
			want := "/v1/things/ct_1"
			if tc.want != "" {
				want += "?" + tc.want
			}
			assert.Equal(t, want, svc.attempts()[0].uri)
		})
	}
}

// Rule: endpoint.json
func TestHeadersOfARequest(t *testing.T) {
	svc := script(ok)
	client := newClient(t, host, through(svc), authorizedBy(keyCredential{}), func(c *transport.Config) {
		c.UserAgent = "payroll/3"
	})
	r := transport.NewRequest(&bookThing, "cl_1", transport.Keyed("invoice-42"))
	r.Body(struct{}{}, nil)
	_, err := transport.Do[thing](t.Context(), client, r)
	require.NoError(t, err)
	r = request(&readThing, transport.Call{})
	r.Header("Device-Name", "")
	_, err = transport.Do[thing](t.Context(), client, r)
	require.NoError(t, err)

	write, read := svc.attempts()[0].header, svc.attempts()[1].header
	assert.Regexp(t, `^payroll/3 moneymovement-go/\d+\.\d+\.\d+ \(go1\.\d+.*\)$`, write.Get("User-Agent"))
	write.Del("User-Agent")
	read.Del("User-Agent")
	assert.Equal(t, http.Header{
		"Accept": {"application/json"}, "Content-Type": {"application/json"}, "X-Service-Account": {"cl_1"},
		"Idempotency-Key": {"invoice-42"}, "X-Api-Key": {"secret"},
	}, write)
	assert.Equal(t, http.Header{"Accept": {"application/json"}, "X-Api-Key": {"secret"}}, read)
	assert.Empty(t, svc.attempts()[1].body)
}

// PATCH bodies distinguish between "leave it", "clear it" and "make it empty".
func TestNullAbsentAndEmptyAreDistinguished(t *testing.T) {
	type update struct {
		Email   nullable.Nullable[string]          `json:"email,omitempty"`
		At      nullable.Nullable[time.Time]       `json:"at,omitempty,omitzero"`
		Sum     nullable.Nullable[decimal.Decimal] `json:"sum,omitempty,omitzero"`
		List    nullable.Nullable[[]string]        `json:"list,omitempty,omitzero"`
		Name    *string                            `json:"name,omitempty"`
		Comment *string                            `json:"comment,omitempty"`
		Paid    *bool                              `json:"paid,omitempty"`
		Note    string                             `json:"note,omitempty,omitzero"`
		Tags    []string                           `json:"tags,omitempty"`
	}
	for name, tc := range map[string]struct {
		body update
		want string
	}{
		"left alone": {update{}, `{}`},
		"cleared":    {update{Email: nullable.NewNullNullable[string]()}, `{"email":null}`},
		"made empty": {update{Name: ptr(""), Paid: ptr(false)}, `{"name":"","paid":false}`},
		"set": {update{Email: nullable.NewNullableWithValue("a@example.com"), Comment: ptr("c"), Note: "n",
			Tags: []string{"t"}}, `{"email":"a@example.com","comment":"c","note":"n","tags":["t"]}`},
		"a time in UTC": {update{At: nullable.NewNullableWithValue(time.Date(2026, 1, 1, 2, 0, 0, 0,
			time.FixedZone("", 7200)))}, `{"at":"2026-01-01T00:00:00Z"}`},
		"an amount": {update{Sum: nullable.NewNullableWithValue(decimal.RequireFromString("1.50"))},
			`{"sum":"1.5"}`},
		"a list":         {update{List: nullable.NewNullableWithValue([]string{})}, `{"list":[]}`},
		"set to nothing": {update{Email: nullable.NewNullableWithValue("")}, `{"email":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, sentBody(t, tc.body))
		})
	}
}

// This test is not parallel: decimal's switch is global.
func TestAmountsStayStringsWhateverTheProgramSet(t *testing.T) {
	before := decimal.MarshalJSONWithoutQuotes
	t.Cleanup(func() { decimal.MarshalJSONWithoutQuotes = before })
	type body struct {
		Amount  decimal.Decimal            `json:"amount"`
		Most    *decimal.Decimal           `json:"maxAmount,omitempty"`
		Amounts map[string]decimal.Decimal `json:"amounts,omitempty"`
		List    []*decimal.Decimal         `json:"list,omitempty"`
	}
	for _, without := range []bool{false, true} {
		decimal.MarshalJSONWithoutQuotes = without
		amount := decimal.RequireFromString("10.50")
		assert.JSONEq(t, `{"amount":"10.5"}`, sentBody(t, body{Amount: amount}))
		assert.JSONEq(t, `{"amount":"0","maxAmount":"0.000001","amounts":{"a":"10.5"},"list":["1000",null]}`,
			sentBody(t, body{
				Most: ptr(decimal.RequireFromString("1e-6")), Amounts: map[string]decimal.Decimal{"a": amount},
				List: []*decimal.Decimal{ptr(decimal.RequireFromString("1e3")), nil},
			}))
	}
}

// Each call of the same request sends the same bytes: a service may compare them for the same key.
func TestTheSameBodyIsTheSameBytes(t *testing.T) {
	svc := script(ok)
	client := newClient(t, host, through(svc))
	for range 20 {
		body := map[string]any{}
		for i := range 20 {
			body[string(rune('a'+i))] = map[string]int{"x": i, "y": i, "z": i}
		}
		r := transport.NewRequest(&bookThing, "", transport.Keyed("invoice-42"))
		r.Body(body, nil)
		_, err := transport.Do[thing](t.Context(), client, r)
		require.NoError(t, err)
		assert.Equal(t, svc.attempts()[0].body, svc.attempts()[len(svc.attempts())-1].body)
	}
}

// A body that was encoded before is sent byte for byte.
func TestAnEncodedBodyIsSentAsItIs(t *testing.T) {
	body := transport.Encoded(`{ "b":1, "a":"<é>" }`)
	assert.Equal(t, string(body), sentBody(t, body))
}

func TestUnencodableBodyIsRefused(t *testing.T) {
	svc := script(ok)
	for name, c := range map[string]struct {
		body  any
		field string
	}{
		"function":      {func() {}, "body"},
		"invalid UTF-8": {"\xff", "body"},
		"channel":       {struct{ C chan int }{}, "C"},
		"in a field":    {map[string]any{"account": map[string]string{"iban": "DE\xff"}}, "account.iban"},
		"a letter":      {map[string]string{"a": "\xff"}, "a"},
		"in a list":     {map[string]any{"items": []any{1, math.NaN()}}, "items[1]"},
	} {
		r := transport.NewRequest(&bookThing, "", transport.Call{})
		r.Body(c.body, nil)
		_, err := transport.Do[thing](t.Context(), newClient(t, host, through(svc)), r)
		t.Run(name, func(t *testing.T) { refused(t, err, c.field, "unencodable") })
	}
	assert.Empty(t, svc.attempts())
}

func sentBody(t *testing.T, body any) string {
	t.Helper()
	svc := script(ok)
	r := transport.NewRequest(&bookThing, "", transport.Call{})
	r.Body(body, nil)
	_, err := transport.Do[thing](t.Context(), newClient(t, host, through(svc)), r)
	require.NoError(t, err)
	return svc.attempts()[0].body
}

// FuzzPathParam checks that no value leaves its place in the path, even with a rule that has no pattern.
func FuzzPathParam(f *testing.F) {
	for _, seed := range []string{"ct_1", ".", "..", "..;", "a/b", "a%2fb", "a%2Fb", "?q", "#f", "a\r\nX: y",
		"{thingId}", "é", "\xff", "//", "[::1]", ";", "a b", "%", "$&+,:;=@!'()*"} {
		f.Add(seed)
	}
	op := transport.Operation{ID: "Fuzz", Method: http.MethodGet, Path: "/things/{thingId}/parts/{partId}",
		Response: &thingResponse}
	f.Fuzz(func(t *testing.T, value string) {
		for _, rule := range []transport.Rule{{}, idRule} {
			svc := script(ok)
			r := transport.NewRequest(&op, "", transport.Call{})
			r.PathParam("thingId", value, rule)
			r.PathParam("partId", "ct_2", idRule)
			_, err := transport.Do[thing](t.Context(), newClient(t, host+"/base%2Fpath", through(svc)), r)
			if err != nil {
				var invalid *errors.InvalidInput
				if !errors.As(err, &invalid) || invalid.Fields[0].Field != "thingId" {
					t.Fatalf("refused as %v", err)
				}
				if len(svc.attempts()) != 0 {
					t.Fatal("sent and refused")
				}
				continue
			}
			uri := svc.attempts()[0].uri
			segments := strings.Split(uri, "/")
			if len(segments) != 7 || strings.ContainsAny(uri, "?# \r\n") ||
				!strings.HasPrefix(uri, "/base%2Fpath/v1/things/") || !strings.HasSuffix(uri, "/parts/ct_2") {
				t.Fatalf("%q became %q", value, uri)
			}
			if segments[4] == "." || segments[4] == ".." {
				t.Fatalf("%q became a path step", value)
			}
			if got, err := url.PathUnescape(segments[4]); err != nil || got != value {
				t.Fatalf("%q arrives as %q", value, got)
			}
		}
	})
}

// Rule: idempotency.optional, idempotency.derived
func TestNoIdempotencyKeyIsGenerated(t *testing.T) {
	svc := script(ok)
	client := newClient(t, host, through(svc))
	for _, op := range []*transport.Operation{&readThing, &bookThing, &bookThing, &sendThing, &confirmThing,
		&spendThing, &deleteThing, &loginThing} {
		var response moneymovement.Response
		_, err := send(t.Context(), client, op, transport.Kept(&response))
		require.NoError(t, err)
		assert.Empty(t, response.IdempotencyKey)
	}
	for _, key := range keys(svc.attempts()) {
		assert.Empty(t, key)
	}
}

func TestARequiredKey(t *testing.T) {
	require.NoError(t, transport.RequireKey(&sendThing, "invoice-42"))
	for key, code := range map[string]string{"": "missing", "a b": "pattern"} {
		var refused *errors.InvalidInput
		require.ErrorAs(t, transport.RequireKey(&sendThing, key), &refused)
		assert.Equal(t, "SendThing", refused.Operation)
		require.Len(t, refused.Fields, 1)
		assert.Equal(t, "Idempotency-Key", refused.Fields[0].Field)
		assert.Equal(t, code, refused.Fields[0].Code)
		if key == "" {
			assert.Contains(t, refused.Fields[0].Message, "moneymovement.DeriveKey")
		}
	}
}

// slowly is a step that ends only after a time.
func slowly(after time.Duration, end step) step {
	return func(req *http.Request) (*http.Response, error) {
		time.Sleep(after)
		return end(req)
	}
}

// The service repeats its response for two hours under a derived key. Under the caller's key it does so for as long as
// any call takes.
//
// Rule: idempotency.lifetimes
func TestACallWithoutAKeyIsRepeatedForTwoHours(t *testing.T) {
	for name, tc := range map[string]struct {
		call     transport.Call
		took     time.Duration // until the response got lost
		attempts int
	}{
		"within two hours":        {transport.Call{}, 118 * time.Minute, 2},
		"a minute before":         {transport.Call{}, 119 * time.Minute, 1}, // which a repetition may take on its way
		"after two hours":         {transport.Call{}, 121 * time.Minute, 1},
		"after, with its own key": {transport.Keyed("k"), 121 * time.Minute, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				svc := script(slowly(tc.took, lostResponse), ok)
				ctx, cancel := context.WithTimeout(t.Context(), 4*time.Hour) // without one, the call ends in a minute
				defer cancel()
				_, err := send(ctx, newClient(t, host, through(svc)), &bookThing, tc.call)
				assert.Len(t, svc.attempts(), tc.attempts)
				if tc.attempts == 2 {
					require.NoError(t, err)
					return
				}
				var unknown *errors.InDoubt
				require.ErrorAs(t, err, &unknown)
				assert.False(t, unknown.Retryable())
				assert.Equal(t, "read the resource before you repeat the request", unknown.Resolve)
			})
		})
	}
}

// waitsLonger is a limiter that makes the second attempt wait.
type waitsLonger struct{ calls int }

func (l *waitsLonger) Wait(context.Context, moneymovement.RateCall) error {
	if l.calls++; l.calls == 2 {
		time.Sleep(2 * time.Hour)
	}
	return nil
}

// The two hours count when the attempt is sent, and not when it joins the line.
func TestRetryAfterTheKeyLifetimeIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(lostResponse, ok)
		_, err := send(t.Context(), newClient(t, host, through(svc), limitedBy(new(waitsLonger))), &bookThing,
			transport.Call{})
		var unknown *errors.InDoubt
		require.ErrorAs(t, err, &unknown)
		assert.False(t, unknown.Retryable())
		assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
		assert.Len(t, svc.attempts(), 1)
	})
}

// A request that was refused and not carried out needs no key to be repeated.
func TestRefusedAttemptIsRetriedHoweverLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svc := script(refuses(http.StatusTooManyRequests, errors.CodeRateLimited), ok)
		_, err := send(t.Context(), newClient(t, host, through(svc), limitedBy(new(waitsLonger))), &bookThing,
			transport.Call{})
		require.NoError(t, err)
		assert.Len(t, svc.attempts(), 2)
	})
}

// The advice on how to find out fits the operation and its key.
func TestInDoubtSaysHowToResolveIt(t *testing.T) {
	const keyed, read = "repeat the same request with the same idempotency key", "read the resource before you " +
		"repeat the request"
	const derived = "repeat the same request before 2000-01-01T01:59:00Z; after that, read the resource first"
	for _, tc := range []struct {
		op        *transport.Operation
		key, want string
		retryable bool
	}{
		{&bookThing, "invoice-42", keyed, true},
		{&bookThing, "", derived, true},
		{&sendThing, "invoice-42", keyed, true},
		{&sendThing, "", read, false},
		{&deleteThing, "invoice-42", keyed, true},
		{&deleteThing, "", "repeat the same request", true},
		{&spendThing, "invoice-42", read, false},
		{&spendThing, "", read, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			call := transport.Call{CallSettings: moneymovement.CallSettings{Key: moneymovement.Key(tc.key)}}
			_, err := send(t.Context(), newClient(t, host, through(script(lostResponse))), tc.op, call)
			var unknown *errors.InDoubt
			require.ErrorAs(t, err, &unknown)
			assert.Equal(t, tc.want, unknown.Resolve, tc.op.ID)
			assert.Equal(t, tc.retryable, unknown.Retryable(), tc.op.ID)
			assert.Equal(t, tc.op.ID, unknown.Operation)
			assert.Equal(t, tc.key, unknown.IdempotencyKey)
		})
	}
}

// A service may refuse a token before it has read the body. net/http then still sends that body while the same call is
// sent again, and the second body is whole.
func TestRetriedBodyIsCompleteWhileTheFirstIsStillSent(t *testing.T) {
	large := `{"name":"` + strings.Repeat("Bob", 4<<20) + `"}` // more than sockets hold
	var refusing atomic.Bool
	refusing.Store(true)
	second := make(chan struct{})
	received := make(chan []byte, 1)
	handle := func(conn net.Conn) {
		defer conn.Close()
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if !assert.NoError(t, err) {
			return
		}
		if refusing.Swap(false) {
			respond(conn, "401 Unauthorized", `{"error":{"code":"token_expired","message":"it is old"}}`)
			<-second // the rest of the first body comes while the second one does
			_, _ = io.Copy(io.Discard, req.Body)
			return
		}
		close(second)
		body, _ := io.ReadAll(req.Body)
		received <- body
		respond(conn, "200 OK", oneThing)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go handle(conn)
		}
	}()
	client := newClient(t, "http://"+listener.Addr().String(), once, authorizedBy(&tokens{}))
	r := transport.NewRequest(&bookThing, "", transport.Call{})
	r.Body(transport.Encoded(large), nil)
	booked, err := transport.Do[thing](t.Context(), client, r)
	require.NoError(t, err)
	assert.Equal(t, "th_1", booked.ID)
	sameText := large == string(<-received)
	assert.True(t, sameText) // without printing a megabyte
}

// respond writes a JSON response on a connection.
func respond(conn io.Writer, status, body string) {
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status,
		len(body), body)
}

// The same over HTTP/2, where a service often refuses a token by the header alone.
func TestRetriedBodyIsCompleteAfterAnEarlyRefusal(t *testing.T) {
	const renewed = "Bearer token-1"
	large := []byte(`{"name":"` + strings.Repeat("Bob", 1<<16) + `"}`)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != renewed {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"code":"`+string(errors.CodeTokenExpired)+`","message":"it is old"}}`)
			return
		}
		body, err := io.ReadAll(r.Body)
		if assert.NoError(t, err) {
			assert.True(t, bytes.Equal(large, body), "%d bytes", len(body))
		}
		_, _ = io.WriteString(w, oneThing)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			for range 8 {
				client := newClient(t, server.URL, once, authorizedBy(&tokens{}),
					func(c *transport.Config) { c.HTTPClient = server.Client() })
				r := transport.NewRequest(&bookThing, "acc_1", transport.Keyed("invoice-42"))
				r.Body(transport.Encoded(large), nil)
				booked, err := transport.Do[thing](t.Context(), client, r)
				if assert.NoError(t, err) {
					assert.Equal(t, "th_1", booked.ID)
				}
			}
		})
	}
	calls.Wait()
}

// A key that is part of a path must stay one segment of it.
func TestAKeyInAPath(t *testing.T) {
	inPath := sendThing
	inPath.KeyInPath = true
	for key, code := range map[string]string{".": "pattern", "..": "pattern", "...": "", "a.": ""} {
		require.NoError(t, transport.RequireKey(&sendThing, key), key)
		err := transport.RequireKey(&inPath, key)
		if code == "" {
			require.NoError(t, err, key)
			continue
		}
		invalid, ok := errors.AsType[*errors.InvalidInput](err)
		require.True(t, ok, "%v", err)
		require.Len(t, invalid.Fields, 1)
		assert.Equal(t, "Idempotency-Key", invalid.Fields[0].Field)
		assert.Equal(t, code, invalid.Fields[0].Code)
		assert.Contains(t, invalid.Fields[0].Message, "must not be . or .. here")
	}
}

// A write that has a key and no body sends none. net/http must not repeat it, and may repeat what has no key.
func TestAKeyWithoutABody(t *testing.T) {
	for key, repeated := range map[string]bool{"invoice-42": false, "": true} {
		var body io.ReadCloser
		svc := script(ok)
		client := newClient(t, host, through(step(func(req *http.Request) (*http.Response, error) {
			body = req.Body
			return svc.RoundTrip(req)
		})))
		var call transport.Call
		call.Key = moneymovement.Key(key)
		_, err := send(t.Context(), client, &deleteThing, call)
		require.NoError(t, err)
		assert.Equal(t, repeated, body == nil)
		assert.Empty(t, svc.attempts()[0].body)
		assert.Equal(t, []string{key}, keys(svc.attempts()))
	}
}

// A generated encoder writes the body. What it cannot write, the general one does.
func TestTheEncoderOfABody(t *testing.T) {
	for value, want := range map[string]string{"Bob": `{"name":"Bob","by":"hand"}`, "\xff": ""} {
		svc := script(ok)
		r := request(&bookThing, transport.Call{})
		r.Body(map[string]string{"name": value}, nil)
		r.Encoder(func(w *wire.Writer) {
			w.Text("name", value)
			w.Text("by", "hand")
		})
		_, err := transport.Do[thing](t.Context(), newClient(t, host, through(svc)), r)
		if want == "" {
			_, invalid := errors.AsType[*errors.InvalidInput](err)
			assert.True(t, invalid, "%v", err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, want, svc.attempts()[0].body)
	}
}

// The headers of a call are those of each attempt, and change neither what is sent besides nor what a key stands for.
func TestHeadersOfACallGoWithEachAttempt(t *testing.T) {
	svc := script(lostResponse, unavailable, ok)
	client := newClient(t, host, through(svc), authorizedBy(keyCredential{}))
	traced := func(id string) transport.Call {
		call := transport.Keyed("invoice-42")
		call.Header = moneymovement.CallSettingsOf(moneymovement.Header("traceparent", id)).Header
		return call
	}
	_, err := send(t.Context(), client, &bookThing, traced("00-1"))
	require.NoError(t, err)
	_, err = send(t.Context(), client, &bookThing, traced("00-2"))
	require.NoError(t, err, "another header is the same call")
	_, err = send(t.Context(), client, &bookThing, transport.Keyed("invoice-42"))
	require.NoError(t, err)
	attempts := svc.attempts()
	require.Len(t, attempts, 5)
	plain := attempts[4].header
	assert.Empty(t, plain.Get("Traceparent"))
	for i, id := range []string{"00-1", "00-1", "00-1", "00-2"} {
		assert.Equal(t, []string{id}, attempts[i].header.Values("Traceparent"))
		attempts[i].header.Del("Traceparent")
		assert.Equal(t, plain, attempts[i].header)
	}
}
