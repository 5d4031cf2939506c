package errors_test

import (
	"net/http"
	"strings"
	"testing"
	"unicode"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
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
			CallInfo: errors.CallInfo{}.WithFacts(callfacts.Facts{ReadOnly: !write}),
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
		refusal, isRefusal := errors.AsType[*errors.Refusal](err)
		unexpected, isUnexpected := errors.AsType[*errors.UnexpectedResponse](err)
		switch {
		case isRefusal == isUnexpected:
			t.Fatalf("%T is neither a refusal nor an unexpected answer, or both", err)
		case isRefusal && refusal.Status != status, isUnexpected && unexpected.Status != status:
			t.Fatalf("%T lost the status", err)
		}
	})
}
