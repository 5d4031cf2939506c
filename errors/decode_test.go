package errors_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

func decode(status int, body string) error {
	return errors.Decode(errors.Response{Status: status, Body: []byte(body)})
}

// Rule: error.unknown-slug, error.one-typed-error
func TestUnknownSlugKeepsEverything(t *testing.T) {
	err := errors.Decode(errors.Response{
		CallInfo: errors.CallInfo{Operation: "SyncEscrow", IdempotencyKey: "k", Attempts: 2},
		Status:   409,
		Header:   http.Header{"X-Request-Id": {"req_9"}, "Retry-After": {"3"}},
		Body: []byte(`{"error":{"code":"escrow_window_closed","message":"closed","details":{"window":"holdFor"},` +
			`"new":1},"more":[]}`),
		Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	})

	var unrecognized *errors.Unrecognized
	require.ErrorAs(t, err, &unrecognized)
	assert.Equal(t, errors.Refusal{
		CallInfo: errors.CallInfo{RequestID: "req_9", Operation: "SyncEscrow", IdempotencyKey: "k", Attempts: 2,
			RetryAt: time.Date(2026, 1, 2, 3, 4, 8, 0, time.UTC)},
		Code: "escrow_window_closed", Message: "closed",
		Details:    []byte(`{"window":"holdFor"}`),
		Status:     409,
		RetryAfter: 3 * time.Second,
	}, unrecognized.Refusal)
	var refusal *errors.Refusal
	require.ErrorAs(t, err, &refusal)
	assert.Same(t, &unrecognized.Refusal, refusal)
}

// Rule: endpoint.request-id, error.request-id
func TestRequestIDComesFromTheHeaderFirst(t *testing.T) {
	body := []byte(`{"error":{"code":"internal_error","message":"m","details":{"requestId":"req_body"}}}`)
	for name, tc := range map[string]struct {
		header http.Header
		want   string
	}{
		"no header": {nil, "req_body"},
		"header":    {http.Header{"X-Request-Id": {"req_header"}}, "req_header"},
	} {
		t.Run(name, func(t *testing.T) {
			var internal *errors.InternalError
			require.ErrorAs(t, errors.Decode(errors.Response{Status: 500, Header: tc.header, Body: body}), &internal)
			assert.Equal(t, tc.want, internal.RequestID)
		})
	}
}

func TestSlugIsTakenAtItsWordWhateverTheStatus(t *testing.T) {
	for _, status := range []int{0, 200, 302, 418, 500, 999} {
		var expired *errors.QuoteExpired
		require.ErrorAs(t, decode(status, `{"error":{"code":"quote_expired"}}`), &expired)
		assert.Equal(t, status, expired.Status)
	}
}

// A body of 8 MB has room for millions of entries.
func TestListsOfARefusalAreBounded(t *testing.T) {
	many := func(entry string) string { return strings.Repeat(entry+",", 5000) + entry }
	var details *errors.DetailErrors
	require.ErrorAs(t, decode(422, `{"detail":[{"loc":[`+many(`"a"`)+`],"msg":"bad"},`+many(`{}`)+`]}`), &details)
	assert.Len(t, details.Items, 1000)
	assert.Len(t, details.Items[0].Loc, 1000)
	assert.Equal(t, "bad", details.Items[0].Message)
	var failed *errors.ValidationFailed
	require.ErrorAs(t, decode(422, `{"error":{"code":"validation_failed","details":{"fields":[`+many(`{}`)+`]}}}`),
		&failed)
	assert.Len(t, failed.Fields, 1000)
}

func TestDetailShape(t *testing.T) {
	body := `{"detail":[
		{"loc":["body","items",0,"price"],"msg":"field required","type":"missing","input":{}},
		{"loc":["query","ids","2","3"],"msg":"bad","type":"int_parsing"},
		{"loc":[1,{},"a",null],"msg":7},
		{"msg":"whole body"},
		"not an object"]}`
	var failure *errors.DetailErrors
	require.ErrorAs(t,
		errors.Decode(errors.Response{CallInfo: errors.CallInfo{Operation: "UpdateInvoice"}, Status: 422,
			Body: []byte(body)}),
		&failure)

	assert.Equal(t, []errors.DetailItem{
		{Loc: []string{"body", "items", "0", "price"}, Path: "body.items[0].price", Message: "field required",
			Type: "missing"},
		{Loc: []string{"query", "ids", "2", "3"}, Path: "query.ids[2][3]", Message: "bad", Type: "int_parsing"},
		{Loc: []string{"1", "a"}, Path: "[1].a"},
		{Message: "whole body"},
	}, failure.Items)
	assert.Empty(t, failure.Code)
	assert.True(t, strings.HasPrefix(string(failure.Details), `[`), "the raw array is kept")

	var refusal *errors.Refusal
	require.ErrorAs(t, error(failure), &refusal)
	assert.Equal(t, 422, refusal.Status)
	assert.False(t, failure.Retryable())
	assert.Equal(t, errors.NotMoved, failure.MovedByCall())
}

// Where the reference endpoints answer a sentence in place of the array, it is the refusal's message. Only the status
// then says what it is about.
func TestDetailThatIsASentence(t *testing.T) {
	for status, remedy := range map[int]errors.Remedy{
		400: errors.RemedyChangeRequest, 401: errors.RemedyLogin, 403: errors.RemedyChangeAccount,
		404: errors.RemedyChangeRequest,
		409: errors.RemedyChangeRequest, 422: errors.RemedyChangeRequest, 429: errors.RemedyWait,
	} {
		err := errors.Decode(errors.Response{
			CallInfo: errors.CallInfo{Operation: "GetContract"},
			Status:   status, Body: []byte(`{"detail":"Not authenticated"}`),
			Header: http.Header{"X-Request-Id": {"req_1"}},
		})
		var refusal *errors.Refusal
		require.ErrorAs(t, err, &refusal, status)
		assert.Equal(t, "Not authenticated", refusal.Message)
		assert.Equal(t, status, refusal.Status)
		assert.Equal(t, "req_1", refusal.RequestID)
		assert.Equal(t, remedy, refusal.Remedy(), status)
		assert.JSONEq(t, `"Not authenticated"`, string(refusal.Details))
		assert.Contains(t, err.Error(), fmt.Sprintf("%d", status))
		assert.Contains(t, err.Error(), "Not authenticated")

		unauthenticated, is := errors.AsType[*errors.Unauthenticated](err)
		assert.Equal(t, status == http.StatusUnauthorized, is, "%d: %T", status, err)
		if is {
			assert.Equal(t, errors.CodeUnauthenticated, unauthenticated.Code)
			continue
		}
		_, is = errors.AsType[*errors.Unrecognized](err)
		assert.True(t, is, "%d: %T: no slug is made up", status, err)
		assert.Empty(t, refusal.Code)
		want := errors.NotMoved
		if status == http.StatusConflict {
			want = errors.MaybeMoved
		}
		assert.Equal(t, want, refusal.MovedByCall(), status)
	}
}

func TestEnvelopeWinsOverDetail(t *testing.T) {
	var gone *errors.Gone
	assert.ErrorAs(t, decode(410, `{"detail":[{"msg":"m"}],"error":{"code":"gone"}}`), &gone)
}

func TestAnswersThatAreNoEnvelope(t *testing.T) {
	const html = "<html>\r\n<body>\x1b[31m502\x00 Bad Gateway\u202e</body></html>"
	for name, tc := range map[string]struct {
		status  int
		body    string
		excerpt string
	}{
		"HTML":           {502, html, "<html> <body> [31m502 Bad Gateway </body></html>"},
		"empty":          {500, "", ""},
		"redirect":       {302, "moved", "moved"},
		"truncated":      {409, `{"error":{"code":"conf`, `{"error":{"code":"conf`},
		"trailing bytes": {409, `{"error":{"code":"conflict"}} x`, `{"error":{"code":"conflict"}} x`},
		"duplicate keys": {409, `{"error":{"code":"gone"},"error":{"code":"conflict"}}`,
			`{"error":{"code":"gone"},"error":{"code":"conflict"}}`},
		"other case":          {409, `{"Error":{"Code":"gone"}}`, `{"Error":{"Code":"gone"}}`},
		"a code that is cut":  {409, `{"error":{"code":"gone\ud800"}}`, `{"error":{"code":"gone\ud800"}}`},
		"invalid UTF-8":       {409, "{\"error\":{\"code\":\"gone\xff\"}}", "{\"error\":{\"code\":\"gone\ufffd\"}}"},
		"no code":             {400, `{"error":{"message":"m"}}`, `{"error":{"message":"m"}}`},
		"empty code":          {400, `{"error":{"code":""}}`, `{"error":{"code":""}}`},
		"code is a number":    {400, `{"error":{"code":7}}`, `{"error":{"code":7}}`},
		"error is a string":   {400, `{"error":"invalid_grant"}`, `{"error":"invalid_grant"}`},
		"a sentence on a 5xx": {503, `{"detail":"Not now"}`, `{"detail":"Not now"}`},
		"a sentence on a 408": {408, `{"detail":"Too slow"}`, `{"detail":"Too slow"}`},
		"a sentence on a 3xx": {302, `{"detail":"There"}`, `{"detail":"There"}`},
		"an empty sentence":   {404, `{"detail":""}`, `{"detail":""}`},
		"detail is an object": {404, `{"detail":{"msg":"no"}}`, `{"detail":{"msg":"no"}}`},
		"a message":           {403, `{"message":"Forbidden by policy"}`, `{"message":"Forbidden by policy"}`},
		"array":               {400, `[]`, `[]`},
		"null":                {400, `null`, `null`},
		"success is secret":   {200, `{"cardNumber":"4111"`, ""},
		"long":                {503, strings.Repeat("é", 400), strings.Repeat("é", 256)},
		"long, cut in two":    {503, "x" + strings.Repeat("é", 400), "x" + strings.Repeat("é", 255)},
		"nested beyond depth": {400, strings.Repeat("[", 20000), strings.Repeat("[", 512)},
	} {
		t.Run(name, func(t *testing.T) {
			err := errors.Decode(errors.Response{
				CallInfo: errors.CallInfo{Operation: "GetPayout", Attempts: 2},
				Status:   tc.status,
				Body:     []byte(tc.body),
				Header:   http.Header{"Content-Type": {"text/html"}, "X-Request-Id": {"req_1"}, "Retry-After": {"7"}},
			})
			var unexpected *errors.UnexpectedResponse
			require.ErrorAs(t, err, &unexpected)
			assert.Equal(t, tc.status, unexpected.Status)
			assert.Equal(t, tc.excerpt, unexpected.Excerpt)
			assert.LessOrEqual(t, len(unexpected.Excerpt), 512)
			assert.Equal(t, "text/html", unexpected.ContentType)
			assert.Equal(t, "req_1", unexpected.RequestID)
			assert.Equal(t, 7*time.Second, unexpected.RetryAfter)
			assert.Error(t, unexpected.Err)
			what := "the response body is not the service's JSON error"
			if tc.status == http.StatusOK {
				what = "the response body cannot be read"
			}
			assert.Equal(t, fmt.Sprintf("GetPayout: %d: %s (text/html) - something other than the service sent it: "+
				"check the base URL, and any proxy in between (request req_1, 2 attempts, retry after 7s)", tc.status,
				what),
				errorbase.WithoutLink(err.Error()), "the body stays out of the text")

			var refusal *errors.Refusal
			assert.False(t, errors.As(err, &refusal), "it is not the service that refused")
		})
	}
}

func TestTruncatedAnswerSaysSo(t *testing.T) {
	err := errors.Decode(errors.Response{Status: 500, Body: []byte(`{"error":{"co`), Truncated: true})
	assert.ErrorContains(t, errors.Unwrap(err), "body was cut short")
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestErrorDoesNotShareTheBody(t *testing.T) {
	body := []byte(`{"error":{"code":"already_funded","message":"m","details":{"payoutId":"po_1"}}}`)
	err := errors.Decode(errors.Response{Status: 409, Body: body})
	clear(body) // as a pooled buffer is used again

	var funded *errors.AlreadyFunded
	require.ErrorAs(t, err, &funded)
	assert.Equal(t, "po_1", funded.PayoutID)
	assert.JSONEq(t, `{"payoutId":"po_1"}`, string(funded.Details))
}

// A refusal is made of the error, its details and the texts that it keeps.
func TestDecodingAllocatesOnlyWhatTheErrorKeeps(t *testing.T) {
	header := http.Header{"X-Request-Id": {"req_1"}, "Content-Type": {"application/json"}}
	for body, most := range map[string]float64{
		`{"error":{"code":"not_found","message":"no such payout","details":{"a":[1]}}}`:                             3,
		`{"error":{"code":"new_slug","message":"no such payout","details":{"a":[1]}}}`:                              4,
		`{"error":{"code":"already_funded","message":"paid","details":{"payoutId":"po_1"}}}`:                        4,
		`{"error":{"code":"contact_not_payable","details":{"blockers":[{"code":"kyc"},{"message":"an address"}]}}}`: 4,
		`{"detail":[{"loc":["body"],"msg":"is required","type":"missing"},{"msg":"is wrong"}]}`:                     7,
	} {
		response := errors.Response{Status: 409, Header: header, Body: []byte(body)}
		allocations := testing.AllocsPerRun(100, func() { _ = errors.Decode(response) })
		assert.LessOrEqual(t, allocations, most, body)
	}
}

func TestRetryAtCountsFromTheClockWithoutNow(t *testing.T) {
	before := time.Now()
	err := errors.Decode(errors.Response{
		Status: 429, Header: http.Header{"Retry-After": {"60"}}, Body: []byte(`{"error":{"code":"rate_limited"}}`),
	})
	var limited *errors.RateLimited
	require.ErrorAs(t, err, &limited)
	assert.Equal(t, time.Minute, limited.RetryAfter)
	assert.WithinRange(t, limited.RetryAt, before.Add(time.Minute), time.Now().Add(time.Minute))
}

// A message that was cut in the middle of a character costs no more than that character. Of an id, nothing is read.
func TestARefusalWithTextThatJSONDoesNotAllow(t *testing.T) {
	for text, want := range map[string]string{`Bob \ud83d`: "Bob \ufffd", "Bo\xffb": "Bo\ufffdb", "Bo\tb": "Bo\tb"} {
		err := errors.Decode(errors.Response{Status: 409, Body: []byte(`{"error":{"code":"already_funded","message":"` +
			text + `","details":{"payoutId":"po_1","transactionHash":"` + text + `"}}}`)})
		funded, ok := errors.AsType[*errors.AlreadyFunded](err)
		require.True(t, ok, "%T", err)
		assert.Equal(t, want, funded.Message)
		assert.Equal(t, "po_1", funded.PayoutID)
		if strings.Contains(want, "\ufffd") {
			assert.Empty(t, funded.TransactionHash)
		}
		assert.True(t, json.Valid(funded.Details))

		err = errors.Decode(errors.Response{Status: 422, Body: []byte(`{"error":{"code":"validation_failed","details":` +
			`{"fields":[{"field":"name","code":"missing","message":"` + text + `"}]}}}`)})
		failed, ok := errors.AsType[*errors.ValidationFailed](err)
		require.True(t, ok, "%T", err)
		assert.Equal(t, []errors.Field{{Field: "name", Code: "missing", Message: want}}, failed.Fields)

		err = errors.Decode(errors.Response{Status: 422, Body: []byte(`{"detail":[{"loc":["body"],"msg":"` + text + `"}]}`)})
		details, ok := errors.AsType[*errors.DetailErrors](err)
		require.True(t, ok, "%T", err)
		assert.Equal(t, want, details.Items[0].Message)
	}
}
