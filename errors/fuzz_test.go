package errors_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

// FuzzDecode holds Decode to its promise: an error for any input, of a type that answers every question about it.
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
			t.Fatalf("%T prints as %q, which is no bounded line", err, text)
		}
		failure.Retryable()
		if moved := failure.MovedByCall(); !write && moved == errors.MaybeMoved {
			t.Fatalf("%T: a read moved money", err)
		}
		body, _ = codec.Mend(body)
		refusal, isRefusal := errors.AsType[*errors.Refusal](err)
		unexpected, isUnexpected := errors.AsType[*errors.UnexpectedResponse](err)
		switch {
		case isRefusal == isUnexpected:
			t.Fatalf("%T is neither a refusal nor an unexpected answer, or both", err)
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
