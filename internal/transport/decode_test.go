package transport_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// unreadable asserts the error of a success that cannot be decoded: for a read an unexpected response, for a write an
// unknown outcome.
func unreadable(t *testing.T, op *transport.Operation, err error) {
	t.Helper()
	if op.Method == http.MethodGet {
		var unexpected *errors.UnexpectedResponse
		require.ErrorAs(t, err, &unexpected)
		return
	}
	var unknown *errors.OutcomeUnknown
	require.ErrorAs(t, err, &unknown)
	var unexpected *errors.UnexpectedResponse
	require.ErrorAs(t, unknown.Cause, &unexpected)
	assert.NotEmpty(t, unknown.IdempotencyKey)
	assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
}

func TestUnreadableSuccessIsNeitherSuccessNorFailure(t *testing.T) {
	const huge = 1_000_000
	for name, answer := range map[string]step{
		"trailing bytes":          answers(200, oneThing+"}"),
		"a second value":          answers(200, oneThing+oneThing),
		"duplicate keys":          answers(200, `{"amount":"1","amount":"1000"}`),
		"duplicate unknown keys":  answers(200, `{"new":1,"new":2}`),
		"an unknown escape":       answers(200, `{"id":"th_\x"}`),
		"HTML with 200":           page(200),
		"text with 200":           answers(200, oneThing, "Content-Type", "text/plain"),
		"unreadable content type": answers(200, oneThing, "Content-Type", "application/json; ="),
		"empty":                   answers(200, ""),
		"white space":             answers(200, " \n"),
		"204":                     answers(204, ""),
		"null":                    answers(200, " null "),
		"an array for an object":  answers(200, "[]"),
		"half an object":          answers(200, `{"id":"th_1"`),
		"over-long body":          answers(200, `{"note":"`+strings.Repeat("a", 8<<20)+`"}`),
		"nesting without end":     answers(200, `{"new":`+strings.Repeat("[", huge)+strings.Repeat("]", huge)+`}`),
	} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				svc := script(answer)
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
func TestAnAmountThatCannotBeReadIsNamed(t *testing.T) {
	const huge = 1_000_000
	for name, amount := range map[string]string{
		"amount that is huge":        `"1e999999999"`,
		"number that is huge":        `1e999999999`,
		"amount that is tiny":        `"1e-999999999"`,
		"zero with an exponent":      `"0e999999999"`,
		"exponent out of range":      `1e99999999999999999999`,
		"amount of a hundred digits": `"1` + strings.Repeat("0", 100) + `"`,
		"number of a hundred digits": `1` + strings.Repeat("0", 100),
		"number of a million digits": `1` + strings.Repeat("0", huge),
		"amount that is none":        `"ten"`,
		"amount that is empty":       `""`,
		"amount that is no number":   `"NaN"`,
		"amount that is an object":   `{"value":"1"}`,
		"amount that is true":        `true`,
	} {
		for _, op := range []*transport.Operation{&readThing, &bookThing, &spendThing} {
			t.Run(name+"/"+op.ID, func(t *testing.T) {
				var log strings.Builder
				var kept moneymovement.Response
				c := newClient(t, host,
					through(script(answers(200, `{"id":"th_1","amount":`+amount+`,"status":"ready"}`))),
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
		answer step
		want   thing
	}{
		"as described":          {answers(200, oneThing), whole},
		"created":               {answers(201, oneThing), whole},
		"an undeclared success": {answers(299, oneThing), whole},
		"with a charset":        {answers(200, oneThing, "Content-Type", "application/json; charset=utf-8"), whole},
		"a JSON dialect":        {answers(200, oneThing, "Content-Type", "application/problem+json"), whole},
		"no content type":       {answers(200, oneThing, "Content-Type", ""), whole},
		"white space around":    {answers(200, "\n "+oneThing+" \n"), whole},
		"unknown fields": {answers(200,
			`{"id":"th_1","new":{"deep":[1,{"a":null}]},"amount":"10.50","status":"ready"}`), whole},
		"unknown enum value":   {answers(200, `{"status":"levitating"}`), thing{Status: "levitating"}},
		"case variants":        {answers(200, `{"ID":"th_2","Id":"th_3","AMOUNT":"1"}`), thing{}},
		"case variant as well": {answers(200, `{"id":"th_1","ID":"th_2","amount":"10.50","status":"ready"}`), whole},
		"null for values": {answers(200, `{"id":null,"amount":null,"fee":null,"status":null,"tags":null}`),
			thing{}},
		"empty object":          {answers(200, `{}`), thing{}},
		"a number for a string": {answers(200, `{"id":1,"note":1.50}`), thing{ID: "1", Note: "1.50"}},
		"amount as a number":    {answers(200, `{"amount":10.50}`), thing{Amount: decimal.RequireFromString("10.50")}},
		"amount beyond floats": {answers(200, `{"amount":0.1000000000000000055511151231257827}`),
			thing{Amount: decimal.RequireFromString("0.1000000000000000055511151231257827")}},
		"amount as a signed one": {answers(200, `{"amount":"+1.","fee":"-.5"}`),
			thing{Amount: decimal.RequireFromString("1"), Fee: ptr(decimal.RequireFromString("-0.5"))}},
		"amount with an exponent": {
			answers(200, `{"amount":1e2}`), thing{Amount: decimal.New(1, 2)}},
		"as many digits as allowed": {
			answers(200, `{"amount":"`+strings.Repeat("9", 78)+`"}`),
			thing{Amount: decimal.RequireFromString(strings.Repeat("9", 78))}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := send(t.Context(), newClient(t, host, through(script(tc.answer))), &bookThing, transport.Call{})
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

func TestOperationsThatAnswerNothing(t *testing.T) {
	for name, answer := range map[string]step{
		"204":                 answers(204, ""),
		"200 without a body":  answers(200, ""),
		"200 with a body":     answers(200, oneThing),
		"204 without a media": answers(204, "", "Content-Type", ""),
	} {
		t.Run(name, func(t *testing.T) {
			client := newClient(t, host, through(script(answer)))
			_, err := transport.Do[transport.NoContent](t.Context(), client, request(&deleteThing, transport.Call{}))
			require.NoError(t, err)
		})
	}
	client := newClient(t, host, through(script(page(200))))
	_, err := transport.Do[transport.NoContent](t.Context(), client, request(&deleteThing, transport.Call{}))
	_, unknown := errors.AsType[*errors.OutcomeUnknown](err)
	assert.True(t, unknown, "a page of a proxy proves nothing: %v", err)
}

// On a real connection, the service promises more bytes than it sends.
func TestTruncatedBody(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-ID", "req_7")
		w.Header().Set("Content-Length", fmt.Sprint(len(oneThing)+1))
		_, _ = io.WriteString(w, oneThing) // complete JSON, and still not the whole answer
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
			var unknown *errors.OutcomeUnknown
			if errors.As(err, &unknown) {
				assert.Equal(t, "req_7", unknown.RequestID)
			}
		})
	}
}

// A response that begins with a byte order mark says so, whatever its status is.
func TestAByteOrderMarkIsNamed(t *testing.T) {
	for _, status := range []int{200, 404} {
		svc := script(answers(status, "\ufeff"+oneThing))
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
				resp, _ := answers(200, "")(req)
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
	_, err := send(t.Context(), newClient(t, host, through(script(answers(200, longest)))), &readThing,
		transport.Call{})
	require.NoError(t, err)
	var kept moneymovement.Response
	_, err = send(t.Context(), newClient(t, host, through(script(answers(200, longest+" ")))), &readThing,
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
func TestAnswersDoNotShareMemory(t *testing.T) {
	type keeper struct {
		Raw  jsonv2.Value `json:"raw"`
		Name string       `json:"name"`
	}
	svc := script(func(req *http.Request) (*http.Response, error) {
		name := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
		if strings.HasSuffix(name, "0") {
			return refuses(404, errors.Code(name))(req)
		}
		return answers(200, fmt.Sprintf(`{"raw":{"name":%q},"name":%q}`, name, name))(req)
	})
	client := newClient(t, host, through(svc))
	readKeeper := readThing
	readKeeper.Answer = nil // it is not a thing
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

func TestCapturedAnswer(t *testing.T) {
	var kept moneymovement.Response
	client := newClient(t, host, through(script(
		refuses(503, errors.CodeDatabaseUnavailable),
		answers(200, oneThing, "X-Request-ID", "req_1", "Idempotency-Replayed", "true", "X-New", "kept"),
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
		op.Reveals = reveals
		var usual, asked moneymovement.Response
		call := transport.Call{CallSettings: moneymovement.CallSettingsOf(
			moneymovement.CaptureResponse(&usual), moneymovement.CaptureResponseWithSecrets(&asked))}
		_, err := send(t.Context(), newClient(t, host, through(script(ok))), &op, call)
		require.NoError(t, err)
		assert.Equal(t, kept, string(usual.Body))
		assert.Equal(t, oneThing, string(asked.Body))
		assert.Equal(t, 200, usual.Status)
	}
}

// FuzzDecodeAnswer checks that a call returns a value or one of our typed errors, whatever the response is, and never
// panics.
func FuzzDecodeAnswer(f *testing.F) {
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
			t.Skip("not an input: no answer ends with such an HTTP status; the seeds are run by make test")
		}
		op := &readThing
		if write {
			op = &spendThing
		}
		now = answers(status, body, "Content-Type", contentType, "Retry-After", retryAfter)
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
