package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// unreadable asserts the error of a success that cannot be decoded: for a read an unexpected response, for a write an
// outcome in doubt.
func unreadable(t *testing.T, op *transport.Operation, err error) {
	t.Helper()
	if op.Method == http.MethodGet {
		var unexpected *errors.UnexpectedResponse
		require.ErrorAs(t, err, &unexpected)
		return
	}
	var unknown *errors.InDoubt
	require.ErrorAs(t, err, &unknown)
	var unexpected *errors.UnexpectedResponse
	require.ErrorAs(t, unknown.Cause, &unexpected)
	assert.NotEmpty(t, unknown.IdempotencyKey)
	assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
}

func TestUnreadableSuccessIsNeitherSuccessNorFailure(t *testing.T) {
	const huge = 1_000_000
	for name, response := range map[string]step{
		"trailing bytes":          responds(200, oneThing+"}"),
		"a second value":          responds(200, oneThing+oneThing),
		"duplicate keys":          responds(200, `{"amount":"1","amount":"1000"}`),
		"duplicate unknown keys":  responds(200, `{"new":1,"new":2}`),
		"an unknown escape":       responds(200, `{"id":"th_\x"}`),
		"HTML with 200":           page(200),
		"text with 200":           responds(200, oneThing, "Content-Type", "text/plain"),
		"unreadable content type": responds(200, oneThing, "Content-Type", "application/json; ="),
		"empty":                   responds(200, ""),
		"white space":             responds(200, " \n"),
		"204":                     responds(204, ""),
		"null":                    responds(200, " null "),
		"an array for an object":  responds(200, "[]"),
		"half an object":          responds(200, `{"id":"th_1"`),
		"over-long body":          responds(200, `{"note":"`+strings.Repeat("a", 8<<20)+`"}`),
		"nesting without end":     responds(200, `{"new":`+strings.Repeat("[", huge)+strings.Repeat("]", huge)+`}`),
	} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				svc := script(response)
				var kept moneymovement.Response
				got, err := sendKeyed(t.Context(), newClient(t, host, through(svc)), op,
					transport.Kept(&kept))
				assert.Nil(t, got)
				unreadable(t, op, err)
				assert.Len(t, svc.attempts(), 1, "what was done is not asked for again")
				assert.NotZero(t, kept.Status)
				assert.Less(t, len(err.Error()), 1024)
			})
		}
	}
}

// An amount that cannot be read is left out, and the rest of the response is read. The service did what it was asked.
func TestUnreadableAmountIsReported(t *testing.T) {
	const huge = 1_000_000
	for name, amount := range map[string]string{
		"amount that is huge":         `"1e999999999"`,
		"number that is huge":         `1e999999999`,
		"amount that is tiny":         `"1e-999999999"`,
		"zero with an exponent":       `"0e999999999"`,
		"exponent out of range":       `1e99999999999999999999`,
		"amount of a hundred digits":  `"1` + strings.Repeat("0", 100) + `"`,
		"number of a hundred digits":  `1` + strings.Repeat("0", 100),
		"number of a million digits":  `1` + strings.Repeat("0", huge),
		"amount that is none":         `"ten"`,
		"amount that is empty":        `""`,
		"amount that is not a number": `"NaN"`,
		"amount that is an object":    `{"value":"1"}`,
		"amount that is true":         `true`,
	} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				var log strings.Builder
				var kept moneymovement.Response
				c := newClient(t, host,
					through(script(responds(200, `{"id":"th_1","amount":`+amount+`,"status":"ready"}`))),
					func(c *transport.Config) {
						c.Logger = slog.New(slog.NewTextHandler(&log, nil))
					})
				got, err := sendKeyed(t.Context(), c, op, transport.Kept(&kept))
				require.NoError(t, err)
				assert.Equal(t, &thing{ID: "th_1", Status: "ready"}, got)
				require.Len(t, kept.Unread, 1)
				assert.Equal(t, "/amount", kept.Unread[0].Pointer)
				assert.True(t, kept.Unread[0].Stated)
				assert.Less(t, len(kept.Unread[0].Problem), 100)
				assert.Contains(t, log.String(), "level=ERROR")
			})
		}
	}
}

func TestReadableSuccess(t *testing.T) {
	whole := thing{ID: "th_1", Amount: decimal.RequireFromString("10.50"), Status: "ready"}
	for name, tc := range map[string]struct {
		response step
		want     thing
	}{
		"as described":          {responds(200, oneThing), whole},
		"created":               {responds(201, oneThing), whole},
		"an undeclared success": {responds(299, oneThing), whole},
		"with a charset":        {responds(200, oneThing, "Content-Type", "application/json; charset=utf-8"), whole},
		"a JSON dialect":        {responds(200, oneThing, "Content-Type", "application/problem+json"), whole},
		"no content type":       {responds(200, oneThing, "Content-Type", ""), whole},
		"white space around":    {responds(200, "\n "+oneThing+" \n"), whole},
		"unknown fields": {responds(200,
			`{"id":"th_1","new":{"deep":[1,{"a":null}]},"amount":"10.50","status":"ready"}`), whole},
		"unknown enum value":   {responds(200, `{"status":"levitating"}`), thing{Status: "levitating"}},
		"case variants":        {responds(200, `{"ID":"th_2","Id":"th_3","AMOUNT":"1"}`), thing{}},
		"case variant as well": {responds(200, `{"id":"th_1","ID":"th_2","amount":"10.50","status":"ready"}`), whole},
		"null for values": {responds(200, `{"id":null,"amount":null,"fee":null,"status":null,"tags":null}`),
			thing{}},
		"empty object":          {responds(200, `{}`), thing{}},
		"a number for a string": {responds(200, `{"id":1,"note":1.50}`), thing{ID: "1", Note: "1.50"}},
		"amount as a number":    {responds(200, `{"amount":10.50}`), thing{Amount: decimal.RequireFromString("10.50")}},
		"amount beyond floats": {responds(200, `{"amount":0.1000000000000000055511151231257827}`),
			thing{Amount: decimal.RequireFromString("0.1000000000000000055511151231257827")}},
		"amount as a signed one": {responds(200, `{"amount":"+1.","fee":"-.5"}`),
			thing{Amount: decimal.RequireFromString("1"), Fee: ptr(decimal.RequireFromString("-0.5"))}},
		"amount with an exponent": {
			responds(200, `{"amount":1e2}`), thing{Amount: decimal.New(1, 2)}},
		"as many digits as allowed": {
			responds(200, `{"amount":"`+strings.Repeat("9", 78)+`"}`),
			thing{Amount: decimal.RequireFromString(strings.Repeat("9", 78))}},
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, host, through(script(tc.response)))
			got, err := send(t.Context(), client, &bookThing, transport.Call{})
			require.NoError(t, err)
			assert.True(t, tc.want.Amount.Equal(got.Amount), "%v", got.Amount)
			assert.Equal(t, tc.want.Amount.String(), got.Amount.String())
			if tc.want.Fee != nil {
				assert.Equal(t, tc.want.Fee.String(), got.Fee.String())
			}
			tc.want.Amount, tc.want.Fee = got.Amount, got.Fee
			assert.Equal(t, &tc.want, got)
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestOperationsWithoutAResponseBody(t *testing.T) {
	for name, response := range map[string]step{
		"204":                 responds(204, ""),
		"200 without a body":  responds(200, ""),
		"200 with a body":     responds(200, oneThing),
		"204 without a media": responds(204, "", "Content-Type", ""),
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, host, through(script(response)))
			_, err := transport.Do[transport.NoContent](t.Context(), client, request(&deleteThing, transport.Call{}))
			require.NoError(t, err)
		})
	}
	client := newClient(t, host, through(script(page(200))))
	_, err := transport.Do[transport.NoContent](t.Context(), client, request(&deleteThing, transport.Call{}))
	_, unknown := errors.AsType[*errors.InDoubt](err)
	assert.True(t, unknown, "a page of a proxy proves nothing: %v", err)
}

// On a real connection, the service promises more bytes than it sends.
func TestTruncatedBody(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-ID", "req_7")
		w.Header().Set("Content-Length", fmt.Sprint(len(oneThing)+1))
		_, _ = io.WriteString(w, oneThing) // complete JSON, and still not the whole response
	}))
	defer server.Close()
	for op, attempts := range map[*transport.Operation]int{&readThing: 4, &bookThing: 4, &spendThing: 1} {
		t.Run(op.ID, func(t *testing.T) {
			var kept moneymovement.Response
			_, err := sendKeyed(t.Context(), newClient(t, server.URL), op, transport.Kept(&kept))
			unreadable(t, op, err)
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
			assert.Equal(t, attempts, kept.Attempts)
			assert.Equal(t, "req_7", kept.RequestID)
			assert.JSONEq(t, oneThing, string(kept.Body))
			var unknown *errors.InDoubt
			if errors.As(err, &unknown) {
				assert.Equal(t, "req_7", unknown.RequestID)
			}
		})
	}
}

// A response that begins with a byte order mark says so, whatever its status is.
func TestByteOrderMarkIsReported(t *testing.T) {
	for _, status := range []int{200, 404} {
		svc := script(responds(status, "\ufeff"+oneThing))
		_, err := send(t.Context(), newClient(t, host, through(svc)), &readThing, transport.Call{})
		assert.ErrorContains(t, errors.Unwrap(err), "byte order mark", status)
	}
}

// Only a limited part of a response is read, whatever its stated or real length is.
func TestBodiesAreReadWithinABound(t *testing.T) {
	const endless = 1 << 40
	for name, length := range map[string]int64{"length hidden": -1, "length claimed": endless} {
		t.Run(name, func(t *testing.T) {
			body := &zeroes{left: endless}
			svc := script(func(req *http.Request) (*http.Response, error) {
				resp, _ := responds(200, "")(req)
				resp.Body, resp.ContentLength = body, length
				return resp, nil
			})
			_, err := send(t.Context(), newClient(t, host, through(svc)), &readThing, transport.Call{})
			unreadable(t, &readThing, err)
			assert.ErrorContains(t, errors.Unwrap(err), "too large")
			assert.Less(t, endless-body.left, int64(16<<20), "bytes read")
		})
	}
}

// A response may have eight mebibytes.
func TestTheLongestBody(t *testing.T) {
	longest := oneThing + strings.Repeat(" ", 8<<20-len(oneThing))
	_, err := send(t.Context(), newClient(t, host, through(script(responds(200, longest)))), &readThing,
		transport.Call{})
	require.NoError(t, err)
	var kept moneymovement.Response
	_, err = send(t.Context(), newClient(t, host, through(script(responds(200, longest+" ")))), &readThing,
		transport.Kept(&kept))
	unreadable(t, &readThing, err)
	assert.Len(t, kept.Body, len(longest), "no more of it is kept than is read")
}

// zeroes is a body without an end.
type zeroes struct{ left int64 }

func (z *zeroes) Read(p []byte) (int, error) {
	z.left -= int64(len(p))
	clear(p)
	return len(p), nil
}
func (*zeroes) Close() error { return nil }

// Body buffers are pooled. The result of a call must not change when another call's response uses the buffer.
func TestResponsesDoNotShareMemory(t *testing.T) {
	type keeper struct {
		Raw  codec.Value `json:"raw"`
		Name string      `json:"name"`
	}
	svc := script(func(req *http.Request) (*http.Response, error) {
		name := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
		if strings.HasSuffix(name, "0") {
			return refuses(404, errors.Code(name))(req)
		}
		return responds(200, fmt.Sprintf(`{"raw":{"name":%q},"name":%q}`, name, name))(req)
	})
	client := newClient(t, host, through(svc))
	readKeeper := readThing
	readKeeper.Response = nil // it is not a thing
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("ct_%d_%d", worker, i)
				var kept moneymovement.Response
				r := transport.NewRequest(&readKeeper, "", transport.Kept(&kept))
				r.PathParam("thingId", name, idRule)
				got, err := transport.Do[keeper](t.Context(), client, r)
				_, _ = send(t.Context(), client, &readThing, transport.Call{}) // takes the pooled buffer
				if refusal, refused := errors.AsType[*errors.Refusal](err); refused {
					assert.EqualValues(t, name, refusal.Code)
				} else if assert.NoError(t, err) {
					assert.Equal(t, name, got.Name)
					assert.JSONEq(t, `{"name":"`+name+`"}`, string(got.Raw))
				}
				assert.Contains(t, string(kept.Body), name)
			}
		})
	}
	wg.Wait()
}

func TestCapturedResponse(t *testing.T) {
	var kept moneymovement.Response
	client := newClient(t, host, through(script(
		refuses(503, errors.CodeDatabaseUnavailable),
		responds(200, oneThing, "X-Request-ID", "req_1", "Idempotency-Replayed", "true", "X-New", "kept"),
		refuses(404, errors.CodeNotFound, "X-Request-ID", "req_2"),
		noConnection,
	)), retries(moneymovement.RetryPolicy{Max: 1, WaitMin: 1}))

	_, err := send(t.Context(), client, &bookThing, transport.Keyed("invoice-42", &kept))
	require.NoError(t, err)
	assert.Equal(t, "kept", kept.Header.Get("X-New"))
	kept.Header = nil
	assert.Equal(t, moneymovement.Response{
		Status: 200, RequestID: "req_1", IdempotencyKey: "invoice-42", Replayed: true, Attempts: 2,
		Body: []byte(oneThing),
	}, kept)

	_, err = send(t.Context(), client, &readThing, transport.Kept(&kept))
	require.Error(t, err)
	assert.Equal(t, 404, kept.Status)
	assert.Equal(t, "req_2", kept.RequestID)
	assert.Contains(t, string(kept.Body), "not_found")

	_, err = send(t.Context(), client, &readThing, transport.Kept(&kept))
	require.Error(t, err)
	assert.Equal(t, moneymovement.Response{Attempts: 2}, kept, "nothing is left of the call before")

	kept.Status = 200
	_, err = send(t.Context(), client, &bookThing, transport.Keyed("", &kept))
	require.Error(t, err)
	assert.Equal(t, moneymovement.Response{}, kept, "nothing was sent")
}

// Of a call that reveals secrets, the body is kept only where it is asked for.
func TestACaptureKeepsSecretsIfAsked(t *testing.T) {
	for reveals, kept := range map[bool]string{false: oneThing, true: ""} {
		op := readThing
		op.SecretResponse = reveals
		var usual, asked moneymovement.Response
		call := transport.Call{CallSettings: moneymovement.CallSettingsOf(
			moneymovement.CaptureResponse(&usual), moneymovement.CaptureResponseWithSecrets(&asked))}
		_, err := send(t.Context(), newClient(t, host, through(script(ok))), &op, call)
		require.NoError(t, err)
		assert.Equal(t, kept, string(usual.Body))
		assert.True(t, bytes.Equal([]byte(oneThing), asked.Body))
		assert.Equal(t, 200, usual.Status)
	}
}

// FuzzDecodeResponse checks that a call returns a value or one of our typed errors, whatever the response is, and never
// panics.
func FuzzDecodeResponse(f *testing.F) {
	f.Add(200, "application/json", oneThing, "", true)
	f.Add(200, "text/html", "<html>", "", false)
	f.Add(201, "application/json", `{"amount":1e999999999}`, "", true)
	f.Add(409, "application/json", `{"error":{"code":"already_funded","details":{"payoutId":"po_1"}}}`, "", true)
	f.Add(422, "", `{"detail":[{"loc":["body",0],"msg":"m","type":"t"}]}`, "", true)
	f.Add(429, "application/json", `{"error":{"code":"rate_limited"}}`, "99999999999999999999", false)
	f.Add(302, "", "", "", true)
	f.Add(200, "application/json", "null", "", false)
	f.Add(204, "", "", "", true)
	now := ok
	client, err := transport.New(host, "/v1", transport.Config{ClientSettings: moneymovement.ClientSettings{
		Retries:    moneymovement.RetryPolicy{Max: -1},
		HTTPClient: &http.Client{Transport: step(func(req *http.Request) (*http.Response, error) { return now(req) })},
	}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, status int, contentType, body, retryAfter string, write bool) {
		if status < 200 || status > 599 {
			t.Skip("not an input: no response ends with such an HTTP status; the seeds are run by make test")
		}
		op := &readThing
		if write {
			op = &spendThing
		}
		now = responds(status, body, "Content-Type", contentType, "Retry-After", retryAfter)
		got, err := send(t.Context(), client, op, transport.Call{})
		if (got == nil) == (err == nil) {
			t.Fatalf("value %v and error %v", got, err)
		}
		if err == nil {
			if status > 299 {
				t.Fatalf("%d is a success", status)
			}
			if len(got.Amount.String()) > 200 {
				t.Fatal("an amount without bound")
			}
			return
		}
		failure, ok := errors.AsType[errors.Failure](err)
		if !ok {
			t.Fatalf("%T is no failure of package errors", err)
		}
		if _, funded := errors.AsType[*errors.AlreadyFunded](err); !write && !funded &&
			failure.MovedByCall() != errors.NotMoved {
			t.Fatalf("a read moved money: %v", err)
		}
		if text := err.Error(); len(text) > 4096 || strings.ContainsAny(text, "\r\n") {
			t.Fatalf("%q is no bounded line", text)
		}
	})
}

// quietThing is a write whose result the description does not state.
var quietThing = transport.Operation{
	ID: "QuietThing", Method: http.MethodPost, Path: "/things/quiet", Repeat: transport.RepeatNever,
	ResultUnstated: true,
	Response:       &quietResponse,
}

// quietResponse is a thing that should have its id.
var quietResponse = wire.Response{Shape: &wire.Shape{Kind: wire.KindObject, Members: []wire.Member{
	{Name: "id", Shape: &wire.Text, Type: wire.Stated, Required: wire.Assumed},
	{Name: "status", Shape: &wire.Text, Type: wire.Assumed},
	{Name: "tags", Shape: &wire.Shape{Kind: wire.KindList, Item: &wire.Text}, Type: wire.Assumed},
}}}

// Any success of a silent write means that it was carried out. If the response shows the resource, it is used.
// Otherwise a read returns it.
func TestWriteWithUnstatedResponse(t *testing.T) {
	whole := thing{Status: "ready"}
	read := thing{ID: "th_read"}
	for name, tc := range map[string]struct {
		response step
		shown    bool
		lost     bool // it is not a success that the service sent
	}{
		"the resource": {responds(200,
			`{"id":"th_1","status":"ready","amount":"0","fee":null,"note":"","tags":[]}`), true, false},
		"a part of it":           {responds(200, `{"id":"th_1","status":"ready"}`), true, false},
		"one without its id":     {responds(200, `{"status":"ready"}`), true, false},
		"one with odd members":   {responds(200, `{"id":"th_1","status":"ready","tags":7}`), true, false},
		"nothing":                {responds(204, ""), false, false},
		"spaces":                 {responds(200, " \n"), false, false},
		"an acknowledgement":     {responds(200, `{"ok":true}`), false, false},
		"a word":                 {responds(200, `"ok"`), false, false},
		"null":                   {responds(200, `null`), false, false},
		"a page":                 {page(200), false, true},
		"JSON of a proxy":        {responds(200, `{"ok":true}`, "Content-Type", "text/html"), false, true},
		"what is no JSON":        {responds(200, `{"id":`), false, true},
		"two values":             {responds(200, `{} {}`), false, true},
		"broken off":             {brokenResponse, false, true},
		"a page without content": {responds(200, "", "Content-Type", "text/html"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				write := func() transport.Unstated[thing] {
					return transport.DoUnstated[thing](t.Context(), newClient(t, host, through(script(tc.response))),
						request(&quietThing, transport.Call{}))
				}
				value, err := write().Value()
				if tc.lost {
					var unknown *errors.InDoubt
					require.ErrorAs(t, err, &unknown)
					assert.Nil(t, value)
					_, err = write().ValueOrRead(func(transport.Origin) (*thing, error) {
						t.Error("was read")
						return nil, nil
					})
					require.ErrorAs(t, err, &unknown)
					_, err = write().ValueOrZero()
					require.ErrorAs(t, err, &unknown)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, tc.shown, value != nil)

				reads := 0
				value, err = write().ValueOrRead(func(transport.Origin) (*thing, error) {
					reads++
					return &read, nil
				})
				require.NoError(t, err)
				assert.Equal(t, !tc.shown, reads == 1, "it is read where nothing is shown")
				if tc.shown {
					assert.Equal(t, whole.Status, value.Status)
				} else {
					assert.Equal(t, &read, value)
				}

				value, err = write().ValueOrRead(func(transport.Origin) (*thing, error) {
					return nil, errors.New("unreadable")
				})
				require.NoError(t, err, "the write was carried out")
				assert.Equal(t, tc.shown, value.Status != "")
				value, err = write().ValueOrZero()
				require.NoError(t, err)
				assert.Equal(t, tc.shown, value.Status != "")
			})
		})
	}
}

// A resource that a write does not show is read with the credential of the write: a newer one can belong to another
// account.
func TestAReadAfterAWriteHasItsCredential(t *testing.T) {
	svc := script(responds(204, ""), ok)
	client := newClient(t, host, through(svc), authorizedBy(bearing{"old", ""}))
	got, err := transport.DoUnstated[thing](t.Context(), client, request(&quietThing, transport.Call{})).
		ValueOrRead(func(origin transport.Origin) (*thing, error) {
			client.Use(bearing{"new", ""})
			return send(t.Context(), client, &readThing, transport.Call{Auth: origin.Auth})
		})
	require.NoError(t, err)
	assert.Equal(t, "th_1", got.ID)
	require.Len(t, svc.attempts(), 2)
	assert.Equal(t, "Bearer old", svc.attempts()[1].header.Get("Authorization"))
}

// bearing sends an access token, and a key beside it.
type bearing struct{ token, key string }

func (b bearing) Authorize(_ context.Context, h http.Header) error {
	h.Set("Authorization", "Bearer "+b.token)
	h.Set("X-Api-Key", b.key)
	return nil
}

// told is a secret of a body.
type told struct{ hidden.Text }

func (t told) Reveal() string { return hidden.Reveal(t.Text) }

func tell(text string) told { return told{hidden.NewText(text)} }

// tellThing is an operation whose body holds a secret.
var tellThing = transport.Operation{ID: "TellThing", Method: http.MethodPost, Path: "/things/tell",
	Repeat: transport.RepeatNever, SecretRequest: true}

// A validator that quotes a refused value reveals no secret: not in the error's details, message or excerpt, and not in
// the stored body.
func TestSecretsThatARefusalRepeatsAreHidden(t *testing.T) {
	const sent, bearer, key = "sig/of+the=canary", "token-of-the-canary", "key-of-the-canary"
	escaped := strings.ReplaceAll(sent, "/", `\/`)
	spelled := `sig\u002fof\u002bthe\u003dcanary`
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"a validator's input": {422,
			`{"detail":[{"loc":["body","signature"],"msg":"is no signature","type":"value_error","input":"` + sent +
				`"}]}`},
		"a message": {400, `{"error":{"code":"validation_failed","message":"the value \"` + escaped +
			`\" is wrong","details":{"sum":1.50}}}`},
		"other escapes": {400, `{"error":{"code":"validation_failed","message":"wrong","details":{"input":"` +
			spelled + `"}}}`},
		"a name": {400, `{"error":{"code":"validation_failed","message":"wrong","details":{"` + sent +
			`":1}}}`},
		"the credentials": {401, `{"error":{"code":"forbidden","message":"Bearer ` + bearer + ` and ` + key +
			`"}}`},
		"what is not an envelope": {500, `{"signature":"` + sent + `"}`},
		"what is no JSON":         {502, `<html>` + sent + " " + bearer},
		"what is cut off":         {400, `{"error":{"code":"x","message":"` + sent},
		"a name that came twice": {400, `{"error":{"code":"x","message":"` + spelled + `","message":"` + spelled +
			`"}}`},
		"no UTF-8": {400, "{\"error\":{\"code\":\"x\",\"message\":\"\xff " + spelled + "\"}}"},
	} {
		t.Run(name, func(t *testing.T) {
			server, _ := counted(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			var kept moneymovement.Response
			call := transport.Kept(&kept)
			call.Auth = bearing{bearer, key}
			r := transport.NewRequest(&tellThing, "", call)
			r.Body(struct{ Signature told }{tell(sent)}, nil)
			_, err := transport.Do[thing](t.Context(), newClient(t, server.URL), r)
			require.Error(t, err)
			shown := fmt.Sprintf("%v %+v %s", err, errorDetails(err), kept.Body)
			for _, secret := range []string{sent, escaped, spelled, bearer, key} {
				assert.NotContains(t, shown, secret)
			}
			assert.Contains(t, shown, hidden.Redaction)
			if name == "a message" {
				assert.Contains(t, shown, "1.50", "what is not secret stays as it is")
			}
		})
	}
}

// Every secret of a body is sent as it is. It is searched for in a refusal if it is so long that it cannot be there by
// chance.
func TestEverySecretOfABodyIsRedactedFromARefusal(t *testing.T) {
	const first, second, short, number = "canary-a", "canary-b", "canary7", "12345678"
	mirror := step(func(req *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		return responds(400,
			`{"error":{"code":"validation_failed","message":"wrong","details":[`+string(body)+`,`+number+`,1.50]}}`)(req)
	})
	r := transport.NewRequest(&tellThing, "", transport.Call{Auth: bearing{"token-of-the-canary", ""}})
	r.Body(struct{ First, Second, Short, Number told }{tell(first), tell(second), tell(short), tell(number)}, nil)
	_, err := transport.Do[thing](t.Context(), newClient(t, host, through(mirror)), r)
	assert.JSONEq(t,
		`[{"First":"[redacted]","Second":"[redacted]","Short":"canary7","Number":"[redacted]"},"[redacted]",1.50]`,
		errorDetails(err),
		"the whole body was sent, and came back; a number of its digits is the same secret")
}

// The caller gets everything in a success, also a secret that was sent before.
func TestASuccessIsNotRedacted(t *testing.T) {
	const token = "token-of-the-canary"
	svc := script(responds(200, `{"id":"`+token+`","amount":"1","status":"`+token+`"}`))
	got, err := send(t.Context(), newClient(t, host, through(svc)), &readThing,
		transport.Call{Auth: bearing{token, ""}})
	require.NoError(t, err)
	assert.Equal(t, token, got.ID)
	assert.Equal(t, token, got.Status)
}

// errorDetails are the parts of a refusal that are not in its text.
func errorDetails(err error) string {
	if refusal, ok := errors.AsType[*errors.Refusal](err); ok {
		return string(refusal.Details)
	}
	if unexpected, ok := errors.AsType[*errors.UnexpectedResponse](err); ok {
		return unexpected.Excerpt
	}
	return ""
}

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
	op.Response = &wire.Response{Shape: &shape}
	var log bytes.Buffer
	logged := func(c *transport.Config) { c.Logger = slog.New(slog.NewJSONHandler(&log, nil)) }
	odd := responds(200, `{"id":[],"status":{},"tags":["a",{},[],true],"names":[{},[],"b"],"a":[]}`, "X-Request-ID",
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
	client = newClient(t, host, logged, through(script(responds(200, `{"id":"th_1","names":[],"a":"","status":{}}`))))
	require.Len(t, records(), 1, "one is enough")
	client = newClient(t, host, logged, through(script(responds(200, `{"id":"th_1"}`))))
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

// A write of money is proven by the resource alone: in the response, or by a read.
func TestUnstatedResponseToAMoneyWriteIsInDoubt(t *testing.T) {
	unreadable := errors.New("unreadable")
	proven := func(response step, read func(transport.Origin) (*thing, error)) (*thing, error) {
		client := newClient(t, host, through(script(response)), authorizedBy(bearing{"old", ""}))
		return transport.DoUnstated[thing](t.Context(), client, request(&quietThing, transport.Call{})).
			ValueOrInDoubt(read)
	}
	reads := func(value *thing, err error) func(transport.Origin) (*thing, error) {
		return func(origin transport.Origin) (*thing, error) {
			assert.Equal(t, bearing{"old", ""}, origin.Auth)
			return value, err
		}
	}
	never := func(transport.Origin) (*thing, error) { assert.Fail(t, "it is read"); return nil, nil }
	nothing := responds(204, "")

	value, err := proven(responds(200, `{"id":"th_1","status":"ready"}`), never)
	require.NoError(t, err)
	assert.Equal(t, "th_1", value.ID)
	_, err = proven(refuses(403, errors.CodeForbidden), never)
	_, refused := errors.AsType[*errors.Forbidden](err)
	assert.True(t, refused, "%v", err)

	value, err = proven(nothing, reads(&thing{ID: "th_read"}, nil))
	require.NoError(t, err)
	assert.Equal(t, "th_read", value.ID)
	for _, read := range []func(transport.Origin) (*thing, error){nil, reads(new(thing), unreadable)} {
		value, err = proven(nothing, read)
		_, unknown := errors.AsType[*errors.InDoubt](err)
		assert.True(t, unknown, "%v", err)
		assert.Nil(t, value)
	}
}

// names is a page.
type names struct {
	Items []string `json:"items"`
}

var namesResponse = wire.Response{Shape: &wire.Shape{Kind: wire.KindObject, Members: []wire.Member{
	{Name: "items", Shape: &wire.Shape{Kind: wire.KindList, Item: &wire.Text}, Type: wire.Stated, Proof: true},
}, Fields: func(object any, name []byte) (int, any) {
	if string(name) == "items" {
		return 0, wire.List(&object.(*names).Items)
	}
	return -1, nil
}}}

// A page can have more entries than were asked for, or more than a client reads.
func TestMoreEntriesThanWereAskedFor(t *testing.T) {
	const more = "has 3 entries, but 2 were asked for"
	for name, tc := range map[string]struct {
		limit any
		most  int
		found string
		fails bool
	}{
		"as many":        {3, 0, "", false},
		"fewer":          {4, 0, "", false},
		"more":           {2, 0, more, false},
		"not asked":      {nil, 0, "", false},
		"not described":  {2, 0, "", false},
		"no number":      {"many", 0, "", false},
		"all that may":   {3, 3, "", false},
		"more than read": {nil, 2, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			list := readThing
			if list.Response = &namesResponse; name == "not described" {
				list.Response = nil
			}
			var kept moneymovement.Response
			r := request(&list, transport.Kept(&kept))
			if tc.limit != nil {
				r.Query("limit", tc.limit)
			}
			client := newClient(t, host, through(script(responds(200, `{"items":["a","b","c"]}`))),
				func(c *transport.Config) { c.Most = tc.most })
			_, err := transport.Do[names](t.Context(), client, r)
			require.Equal(t, tc.fails, err != nil, "%v", err)
			if tc.found == "" {
				assert.Empty(t, kept.Unread)
				return
			}
			require.Len(t, kept.Unread, 1)
			assert.Equal(t, tc.found, kept.Unread[0].Problem)
		})
	}
}
