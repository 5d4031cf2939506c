package errors_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
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

func TestSlugDecidesTheTypeWhateverTheStatus(t *testing.T) {
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

// Where the reference endpoints response a sentence in place of the array, it is the refusal's message. Only the status
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

func TestResponsesWithoutAnEnvelope(t *testing.T) {
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

func TestTruncatedResponseSaysSo(t *testing.T) {
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
func TestInvalidTextInARefusalIsReplaced(t *testing.T) {
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

// FuzzDecode holds Decode to its promise: an error for any input, of a type that responds every question about it.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `null`, `<html>`, `{"detail":"no"}`, `{"error":{"code":"conf`,
		`{"detail":[{"loc":["body",0],"msg":"m","type":"t"}]}`,
		`{"error":{"code":"validation_failed","message":"m","details":{"location":"query","fields":[{"field":"a",` +
			`"code":"missing"}]}}}`,
		`{"error":{"code":"amount_above_maximum","details":{"maxCredit":"100.00"}}}`,
		`{"error":{"code":"forbidden","details":{"scope":"a b","requiredScope":"c"}}}`,
		`{"error":{"code":"direct_transfer_unsupported","details":{"blockers":[{"code":"b"}]}}}`,
		`{"error":{"code":"internal_error","details":{"requestId":"req_1"}}}`,
		`{"error":{"code":"already_funded","message":"m","details":{"payoutId":"po_1","x":{"y":1,"y":2}}}}`,
		`{"error":{"code":"already\u005ffunded","message":"\ud83d\ude00","details":{"payout\u0049d":"po_1"}}}`,
		`{"error":{"code":"contact_not_payable","details":{"blockers":[7,{"code":"b","field":null},{}]}},"a":1,"a":2}`,
		"{\"error\":{\"code\":\"gone\",\"message\":\"\xff\"}}", `{"error":{"code":"gone"}}{}`,
	} {
		f.Add(400, []byte(body), "text/html", "10", true)
	}
	long := strings.Repeat(`a\r\nb\u001b[31m`, 1000)
	f.Add(400, []byte(`{"error":{"code":"`+long+`","message":"`+long+`"}}`), "text/"+strings.Repeat("a\n", 3000), "10",
		true)
	f.Add(422, []byte(`{"detail":[{"loc":["`+long+`","`+long+`"],"msg":"`+long+`","type":"`+long+`"}]}`), "", "", true)
	f.Add(422, []byte(`{"error":{"code":"validation_failed","details":{"location":"`+long+`","fields":[{"field":"`+long+`","code":"`+long+`"}]}}}`), "", "", true)
	f.Add(403, []byte(`{"error":{"code":"forbidden","details":{"scope":"`+long+`","requiredScope":"`+long+`",`+
		`"requestId":"`+long+`"}}}`), "", "", true)
	f.Add(409, []byte(`{"error":{"code":"already_funded","details":{"payoutId":"`+long+`","blockers":[{"code":"`+long+`"}]}}}`), "", "", true)
	f.Fuzz(func(t *testing.T, status int, body []byte, contentType, retryAfter string, write bool) {
		err := errors.Decode(errors.Response{
			CallInfo: errorbase.With(errors.CallInfo{}, errorbase.Facts{ReadOnly: !write}),
			Status:   status, Body: body,
			Header: http.Header{"Content-Type": {contentType}, "Retry-After": {retryAfter}},
		})
		if err == nil {
			t.Fatal("no error")
		}
		failure, ok := errors.AsType[errors.Failure](err)
		if !ok {
			t.Fatalf("%T is no Failure", err)
		}
		if text := err.Error(); text == "" || len(text) > 4096 || strings.ContainsFunc(text, unicode.IsControl) {
			t.Fatalf("%T prints as %q, which is not a bounded line", err, text)
		}
		failure.Retryable()
		if moved := failure.MovedByCall(); !write && moved == errors.MaybeMoved {
			t.Fatalf("%T: a read moved money", err)
		}
		body, _ = codec.ReplaceInvalidText(body)
		refusal, isRefusal := errors.AsType[*errors.Refusal](err)
		unexpected, isUnexpected := errors.AsType[*errors.UnexpectedResponse](err)
		switch {
		case isRefusal == isUnexpected:
			t.Fatalf("%T is neither a refusal nor an unexpected response, or both", err)
		case isRefusal && refusal.Status != status, isUnexpected && unexpected.Status != status:
			t.Fatalf("%T lost the status", err)
		case isRefusal != accepted(body, status):
			t.Fatalf("%T for %q", err, body)
		case isRefusal:
			readAsJSONv2Does(t, refusal, err, body)
		}
	})
}

// members reads an object with JSON v2. It returns nil for everything else.
func members(raw codec.Value) (object map[string]codec.Value) {
	if raw.Kind() == codec.KindBeginObject {
		_ = codec.Unmarshal(raw, &object)
	}
	return object
}

// text reads a string with JSON v2. Everything else reads as "".
func text(raw codec.Value) (text string) {
	if raw.Kind() == codec.KindString {
		_ = codec.Unmarshal(raw, &text)
	}
	return text
}

// word reads a string that is not for people. One with U+FFFD lacks a part, and reads as "".
func word(raw codec.Value) string {
	if read := text(raw); !strings.ContainsRune(read, utf8.RuneError) {
		return read
	}
	return ""
}

// accepted reports whether JSON v2 reads an error of the service from the body.
func accepted(body []byte, status int) bool {
	var valid map[string]codec.Value
	if codec.Unmarshal(body, &valid) != nil {
		return false
	}
	sentence := text(valid["detail"]) != "" && status >= 400 && status < 500 && status != http.StatusRequestTimeout
	return word(members(valid["error"])["code"]) != "" || valid["detail"].Kind() == codec.KindBeginArray || sentence
}

// readAsJSONv2Does checks the parts of a refusal that every slug has, and one detail of each form.
func readAsJSONv2Does(t *testing.T, refusal *errors.Refusal, err error, body []byte) {
	t.Helper()
	var top map[string]codec.Value
	if err := codec.Unmarshal(body, &top); err != nil {
		t.Fatal(err)
	}
	sent := members(top["error"])
	code, details := word(sent["code"]), sent["details"]
	if code == "" {
		return
	}
	if details.Kind() == codec.KindNull {
		details = nil
	}
	if refusal.Message != text(sent["message"]) || string(refusal.Details) != string(details) {
		t.Fatalf("%q was read as %q and %q", body, refusal.Message, refusal.Details)
	}
	folded := code == "contact_requires_quote" || code == "direct_transfer_unsupported"
	if !folded && string(refusal.Code) != code {
		t.Fatalf("%q was read as %q", body, refusal.Code)
	}
	object := members(details)
	if refusal.RequestID != word(object["requestId"]) {
		t.Fatalf("%q was read as request %q", body, refusal.RequestID)
	}
	switch typed := err.(type) { //nolint:errorlint // Decode wraps nothing
	case *errors.AlreadyFunded:
		if typed.PayoutID != word(object["payoutId"]) {
			t.Fatalf("%q was read as %q", body, typed.PayoutID)
		}
	case *errors.ContactNotPayable:
		var entries []codec.Value
		var want []errors.Blocker
		_ = codec.Unmarshal(object["blockers"], &entries)
		for _, entry := range entries {
			if blocker := members(entry); blocker != nil {
				want = append(want, errors.Blocker{Code: text(blocker["code"]), Message: text(blocker["message"]),
					Field: text(blocker["field"])})
			}
		}
		if !slices.Equal(want, typed.Blockers) {
			t.Fatalf("%q was read as %q", body, typed.Blockers)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		value string
		want  time.Duration
		ok    bool
	}{
		"seconds":              {"30", 30 * time.Second, true},
		"zero":                 {"0", 0, true},
		"leading zeros":        {"007", 7 * time.Second, true},
		"spaces":               {" 5 ", 5 * time.Second, true},
		"negative":             {"-5", 0, true},
		"a day":                {"86400", 24 * time.Hour, true},
		"more than a day":      {"86401", 24 * time.Hour, true},
		"overflows a duration": {"9223372037", 24 * time.Hour, true},
		"overflows an integer": {"99999999999999999999999", 24 * time.Hour, true},
		"hugely negative":      {"-99999999999999999999999", 0, true},
		"date":                 {"Sun, 01 Mar 2026 12:01:30 GMT", 90 * time.Second, true},
		"RFC 850 date":         {"Sunday, 01-Mar-26 12:00:10 GMT", 10 * time.Second, true},
		"date in the past":     {"Sun, 01 Mar 2026 11:00:00 GMT", 0, true},
		"date far in the past": {"Mon, 01 Jan 0001 00:00:00 GMT", 0, true},
		"date far in the future": {
			"Fri, 31 Dec 9999 23:59:59 GMT", 24 * time.Hour, true},
		"absent":                          {"", 0, false},
		"fraction":                        {"2.5", 3 * time.Second, true},
		"no fraction":                     {"2.000", 2 * time.Second, true},
		"half a fraction":                 {"2.", 0, false},
		"two fractions":                   {"2.5.1", 0, false},
		"negative fraction":               {"-2.5", 0, true},
		"date of another zone":            {"Sun, 01 Mar 2026 13:01:30 +0100", 90 * time.Second, true},
		"date of a zone without a number": {"Sun, 01 Mar 2026 13:01:30 CEST", 0, false},
		"date in UTC":                     {"Sun, 01 Mar 2026 12:01:30 UTC", 90 * time.Second, true},
		"date with a leap second":         {"Sun, 01 Mar 2026 12:00:60 GMT", 60 * time.Second, true},
		"plus sign":                       {"+5", 0, false},
		"minus only":                      {"-", 0, false},
		"unit":                            {"5s", 0, false},
		"words":                           {"soon", 0, false},
		"other digits":                    {"٣", 0, false},
		"hexadecimal":                     {"0x10", 0, false},
		"several numbers":                 {"120, 60", 120 * time.Second, true},
		"several, one without a meaning":  {"120, soon", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			wait, ok := errors.RetryAfter(http.Header{"Retry-After": {tc.value}}, now)
			assert.Equal(t, tc.ok, ok)
			assert.Equal(t, tc.want, wait)
		})
	}
}

// Several headers are a list, too.
func TestRetryAfterTakesTheLongest(t *testing.T) {
	wait, ok := errors.RetryAfter(http.Header{"Retry-After": {"5", "60", "soon"}}, time.Now())
	assert.True(t, ok)
	assert.Equal(t, time.Minute, wait)
}

func TestRetryAfterWithoutHeader(t *testing.T) {
	_, ok := errors.RetryAfter(nil, time.Now())
	assert.False(t, ok)
}

func TestRetryAfterIsAlwaysWithinADay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "now"), 0)
		value := rapid.OneOf(
			rapid.StringMatching(`-?[0-9]{1,25}`),
			rapid.String(),
			rapid.Custom(func(t *rapid.T) string {
				return time.Unix(rapid.Int64Range(-1<<35, 1<<37).Draw(t, "date"), 0).UTC().Format(http.TimeFormat)
			}),
		).Draw(t, "value")
		wait, ok := errors.RetryAfter(http.Header{"Retry-After": {value}}, now)
		if wait < 0 || wait > 24*time.Hour || (!ok && wait != 0) {
			t.Fatalf("%q gives %v, %v", value, wait, ok)
		}
	})
}

// Most responses have no such header, and looking for it costs next to nothing.
func TestAnAbsentRetryAfterAllocatesNothing(t *testing.T) {
	header, now := http.Header{"Content-Type": {"application/json"}}, time.Now()
	assert.Zero(t, testing.AllocsPerRun(100, func() { errors.RetryAfter(header, now) }))
}

// FuzzRetryAfter: whatever the header says, the wait is from 0 to 24 hours, 0 where nothing is readable, and a readable
// one means the same when it is written anew, as seconds and as a date.
func FuzzRetryAfter(f *testing.F) {
	for _, value := range []string{
		"", "30", " 5 ", "-5", "-", "86401", "99999999999999999999999", "1.5", "0x10", "1, 2", "٣",
		"Sun, 01 Mar 2026 12:01:30 GMT", "Sunday, 01-Mar-26 12:00:10 GMT", "Sun Mar  1 12:00:10 2026",
		"Fri, 31 Dec 9999 23:59:59 GMT",
	} {
		f.Add(value)
	}
	const day = 24 * time.Hour
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	header := http.Header{}
	read := func(value string) (time.Duration, bool) {
		header["Retry-After"] = []string{value}
		return errors.RetryAfter(header, now)
	}
	f.Fuzz(func(t *testing.T, value string) {
		wait, ok := read(value)
		if wait < 0 || wait > day || !ok && wait != 0 {
			t.Fatalf("%q is a wait of %v", value, wait)
		}
		if !ok {
			return
		}
		if !strings.ContainsAny(value, "0123456789") {
			t.Fatalf("%q says nothing, and was read as %v", value, wait)
		}
		if again, _ := read(now.Add(wait).Format(http.TimeFormat)); again != wait {
			t.Fatalf("%q is %v, and %v as a date", value, wait, again)
		}
		if same, _ := read(" " + value); same != wait {
			t.Fatalf("%q is %v, and %v after a space", value, wait, same)
		}
	})
}
