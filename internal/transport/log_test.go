package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

func logged(t *testing.T, level slog.Level, svc *service) []map[string]any {
	t.Helper()
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: level}))
	client := newClient(t, host, through(svc), authorizedBy(keyCredential{}), func(c *transport.Config) {
		c.Logger = logger
	})
	r := request(&confirmThing, transport.Keyed("invoice-42"))
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

// Each attempt logs one record, with the listed attributes and nothing else.
func TestLogHoldsTheListedAttributesOnly(t *testing.T) {
	records := logged(t, slog.LevelDebug, script(
		lostResponse,
		refuses(503, errors.CodeDatabaseUnavailable, "X-Request-ID", "req_1", "Set-Cookie", "s3cret"),
		responds(200, `{"id":"s3cret"}`, "X-Request-ID", "req_2"),
	))
	require.Len(t, records, 3)
	for i, record := range records {
		assert.Equal(t, []string{"DEBUG", "WARN", "DEBUG"}[i], record["level"])
		assert.Equal(t, "moneymovement attempt", record["msg"])
		assert.NotNil(t, record["tookMs"])
		for _, name := range []string{"time", "level", "msg", "tookMs"} {
			delete(record, name)
		}
		want := map[string]any{
			"operation": "ConfirmThing", "method": "POST", "path": "/things/{thingId}/confirm",
			"attempt": float64(i + 1), "idempotencyKey": "invoice-42",
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

// A 429 is worth a record of its own level, also if the next attempt succeeds.
func TestA429IsAnInfoRecord(t *testing.T) {
	records := logged(t, slog.LevelInfo, script(
		refuses(429, errors.CodeRateLimited, "Retry-After", "0"), responds(200, `{"id":"t_1"}`)))
	require.Len(t, records, 1)
	assert.Equal(t, "INFO", records[0]["level"])
	assert.InDelta(t, 429, records[0]["status"], 0)
}

// A transport of the caller's can wrap its errors in the address.
func TestLogHoldsNoAddressOfAnError(t *testing.T) {
	records := logged(t, slog.LevelDebug,
		script(fails(&url.Error{Op: "Post", URL: host + "/things/ct_1?cursor=s3cret", Err: io.EOF}), ok))
	require.Len(t, records, 2)
	assert.Equal(t, "EOF", records[0]["error"])
}

func TestNothingButServerErrorsIsLoggedAboveDebug(t *testing.T) {
	assert.Empty(t,
		logged(t, slog.LevelInfo, script(lostResponse, refuses(409, errors.CodeConflict, "X-Request-ID", "req_1"))))
}

// Every server error is logged, also one that is retried: support can find it by its request id.
//
// Rule: error.logged-request-id
func TestServerErrorsAreLoggedWithTheirRequestID(t *testing.T) {
	const envelope = `{"error":{"code":"internal_error","message":"s3cret","details":{"requestId":"req_body",` +
		`"more":"s3cret"}}}`
	long := strings.Repeat("x", 300)
	tail := func(length int) string { // the envelope, so long
		return envelope[:1] + strings.Repeat(" ", length-len(envelope)) + envelope[1:]
	}
	for name, c := range map[string]struct {
		response step
		want     any
	}{
		"in the header":  {responds(503, envelope, "X-Request-ID", "req_header"), "req_header"},
		"in the details": {responds(503, envelope), "req_body"},
		"in neither": {responds(503,
			`{"error":{"code":"provider_unavailable","message":"s3cret"}}`), ""},
		"in no envelope":       {responds(502, `<html>s3cret</html>`), ""},
		"in an empty response": {responds(500, ``), ""},
		"of another type": {responds(500,
			`{"error":{"code":"internal_error","details":{"requestId":7}}}`), ""},
		"of great length": {responds(500,
			`{"error":{"code":"internal_error","details":{"requestId":"`+long+`"}}}`), long[:125] + "…"},
		"at the end of what is looked at": {responds(500, tail(64<<10)), "req_body"},
		"beyond what is looked at":        {responds(500, tail(64<<10+1)), ""},
		"behind much else": {
			responds(500,
				`{"error":{"message":"`+strings.Repeat("s3cret",
					1<<18)+`","code":"internal_error","details":{"requestId":"req_body"}}}`), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			records := logged(t, slog.LevelWarn, script(c.response, c.response, responds(200, `{"id":"x"}`)))
			require.NotEmpty(t, records)
			for _, record := range records {
				assert.Equal(t, "WARN", record["level"])
				assert.Equal(t, "ConfirmThing", record["operation"])
				assert.Equal(t, "invoice-42", record["idempotencyKey"])
				assert.Equal(t, c.want, record["requestId"])
			}
		})
	}
}

// An incomplete response is incomplete for the log and for the call.
func TestALoggedServerErrorThatBreaksOff(t *testing.T) {
	broken := step(func(req *http.Request) (*http.Response, error) {
		resp, _ := responds(500, "")(req)
		resp.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"error":`), failingOnce(io.ErrUnexpectedEOF)))
		return resp, nil
	})
	logger := slog.New(slog.NewJSONHandler(io.Discard, nil))
	client := newClient(t, host, through(script(broken)), retries(moneymovement.RetryPolicy{Max: -1}),
		func(c *transport.Config) {
			c.Logger = logger
		})
	_, err := send(t.Context(), client, &readThing, transport.Call{})
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.ErrorContains(t, errors.Unwrap(err), "the response ended after 9 bytes")
}

// failingOnce is a body that fails, and has ended if it is read again.
func failingOnce(err error) io.Reader {
	return readerFunc(func([]byte) (int, error) {
		failed := err
		err = io.EOF
		return 0, failed
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// The error still has the part of the body that the log has read.
func TestLoggedServerErrorIsStillDecoded(t *testing.T) {
	const envelope = `{"error":{"code":"internal_error","message":"No.","details":{"requestId":"req_body"}}}`
	logger := slog.New(slog.NewJSONHandler(io.Discard, nil))
	for name, body := range map[string]string{"short": envelope, "long": envelope + strings.Repeat(" ", 1<<18)} {
		client := newClient(t, host, through(script(responds(500, body))), func(c *transport.Config) {
			c.Logger = logger
		})
		_, err := send(t.Context(), client, &readThing, transport.Call{})
		internal, is := errors.AsType[*errors.InternalError](err)
		require.True(t, is, "%s: %v", name, err)
		assert.Equal(t, "No.", internal.Message)
		assert.Equal(t, "req_body", internal.RequestID)
	}
}

// The record of a call for a client names the client.
func TestLogNamesTheAccount(t *testing.T) {
	var out bytes.Buffer
	client := newClient(t, host, through(script(ok, ok)), func(c *transport.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	for account, contains := range map[string]bool{"cl_1": true, "": false} {
		out.Reset()
		r := transport.NewRequest(&readThing, account, transport.Call{})
		r.PathParam("thingId", "t_1", transport.Rule{})
		_, err := transport.Do[thing](t.Context(), client, r)
		require.NoError(t, err)
		assert.Equal(t, contains, strings.Contains(out.String(), "account=cl_1"), out.String())
		assert.Equal(t, contains, strings.Contains(out.String(), "account="), out.String())
	}
}

// What a service announces is logged once for each operation, and again if it changes. The response has all of it.
func TestAnnouncementsAreLoggedOnce(t *testing.T) {
	const first, second = "Sun, 30 Jun 2030 23:59:59 GMT", "Mon, 30 Dec 2030 23:59:59 GMT"
	announces := func(status int, sunset, left string) step {
		return responds(status, oneThing, "Deprecation", "@1688169599", "Sunset", sunset, "X-Request-ID", "req_1",
			"Link", `<https://docs.example/old?access_token=`+left+`#s3cret>; rel="deprecation"`,
			"RateLimit", `"reads";r=`+left, "RateLimit-Policy", `"reads";q=600;w=60`)
	}
	var out bytes.Buffer
	svc := script(announces(503, first, "9"), announces(200, first, "8"), announces(200, first, "7"),
		announces(200, second, "6"), ok, announces(200, first, "5"))
	client := newClient(t, host, through(svc), func(c *transport.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo}))
	})
	var got moneymovement.Response
	reads := func(op *transport.Operation) string {
		out.Reset()
		_, err := send(t.Context(), client, op, transport.Call{CallSettings: moneymovement.CallSettingsOf(
			moneymovement.CaptureResponse(&got))})
		require.NoError(t, err)
		return out.String()
	}
	const deprecated, limits = `level=WARN msg="moneymovement operation is deprecated" operation=GetThing ` +
		`since=2023-06-30T23:59:59Z sunset=`, `level=INFO msg="moneymovement service states rate limits" ` +
		`operation=GetThing limits="[reads: 600 in 1m0s]" requestId=req_1`
	log := reads(&readThing)
	assert.Equal(t, 1, strings.Count(log, deprecated+
		`2030-06-30T23:59:59Z link=https://docs.example/old requestId=req_1`), log)
	assert.Equal(t, 1, strings.Count(log, limits), log)
	assert.Equal(t, &moneymovement.Deprecation{Since: time.Unix(1688169599, 0).UTC(),
		Sunset: time.Date(2030, 6, 30, 23, 59, 59, 0, time.UTC), Link: "https://docs.example/old?access_token=8#s3cret"}, got.Deprecation)
	assert.Equal(t, []moneymovement.RateLimit{{Policy: "reads", Remaining: 8, Quota: 600, Window: time.Minute}},
		got.RateLimits)
	assert.Empty(t, reads(&readThing))
	log = reads(&readThing)
	assert.Equal(t, 1, strings.Count(log, deprecated+`2030-12-30T23:59:59Z`), log)
	assert.Equal(t, 1, strings.Count(log, "level="), log)
	assert.Empty(t, reads(&readThing))
	assert.Nil(t, got.Deprecation)
	assert.Nil(t, got.RateLimits)
	log = reads(&confirmThing)
	assert.Equal(t, 1, strings.Count(log, "is deprecated"), log)
	assert.Equal(t, 2, strings.Count(log, "operation=ConfirmThing"), log)
}

// A service that announces something else in each response does not fill the log. What it says about its limits does
// not keep a deprecation out of the log.
func TestAnnouncementsDoNotFillTheLog(t *testing.T) {
	logged := countingHandler{}
	sent := 0
	client := newClient(t, host, through(step(func(req *http.Request) (*http.Response, error) {
		sent++
		headers := []string{"RateLimit-Policy", "reads;q=" + strconv.Itoa(sent)}
		if sent > 1100 {
			headers = append(headers, "Deprecation", "@"+strconv.Itoa(sent))
		}
		return responds(200, oneThing, headers...)(req)
	})), func(c *transport.Config) { c.Logger = slog.New(logged) })
	for range 2200 {
		_, err := send(t.Context(), client, &readThing, transport.Call{})
		require.NoError(t, err)
	}
	assert.Equal(t, 1000, logged["moneymovement service states rate limits"])
	assert.Equal(t, 1000, logged["moneymovement operation is deprecated"])
}

// countingHandler counts records by their message.
type countingHandler map[string]int

func (countingHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo
}

func (h countingHandler) Handle(_ context.Context, r slog.Record) error { h[r.Message]++; return nil }

func (h countingHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h countingHandler) WithGroup(string) slog.Handler { return h }

// fingerprinted is a credential whose key has a fingerprint.
type fingerprinted struct {
	keyCredential
	of string
}

func (f fingerprinted) KeyFingerprint() string { return f.of }

func TestLogNamesTheFingerprintOfTheKey(t *testing.T) {
	for _, of := range []string{"", transport.Fingerprint(strings.Repeat("s3cret", 4))} {
		var out bytes.Buffer
		client := newClient(t, host, through(script(ok)), authorizedBy(fingerprinted{of: of}),
			func(c *transport.Config) {
				c.Logger = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
		_, err := send(t.Context(), client, &readThing, transport.Call{})
		require.NoError(t, err)
		if of == "" {
			assert.NotContains(t, out.String(), "keyFingerprint")
			continue
		}
		assert.Contains(t, out.String(), "keyFingerprint="+of)
		assert.Regexp(t, `^SHA256:[0-9a-f]{16}$`, of)
	}
	assert.Empty(t, transport.Fingerprint("a short key"), "it could be guessed")
}
