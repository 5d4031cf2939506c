package errors_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

func TestErrorTexts(t *testing.T) {
	refusal := errors.Refusal{
		CallInfo: errors.CallInfo{Operation: "BookPayout", RequestID: "req_1", IdempotencyKey: "invoice-42",
			Attempts: 1},
		Code: errors.CodeIdempotencyKeyReused, Message: "The key was used\nbefore.",
		Status:  409,
		Details: []byte(`{"payoutId":"po_1"}`),
	}
	fields := []errors.Field{{Field: "account.iban", Code: "missing", Message: "DE89 is wrong"}, {Field: "name"},
		{Code: "odd"}}
	lost := &url.Error{Op: "Post", URL: "https://example.com/dapi/v1/payouts/po_1?token=t", Err: io.ErrUnexpectedEOF}

	for want, err := range map[string]error{
		"BookPayout: 409 idempotency_key_reused: The key was used before - " +
			"the idempotency key belongs to po_1, which has other terms: check it before you use a new key (request " +
			"req_1, key invoice-42)": &errors.IdempotencyKeyReused{
			Refusal: refusal, PayoutID: "po_1",
		},
		"429 rate_limited - " +
			"wait before the next call, and let all processes that use this credential " +
			"share one rate limiter (3 attempts, retry after 12s)": &errors.RateLimited{
			Refusal: errors.Refusal{CallInfo: errors.CallInfo{Attempts: 3}, Code: errors.CodeRateLimited, Status: 429,
				RetryAfter: 12 * time.Second},
		},
		"request failed":                   &errors.Refusal{},
		"request failed (retry after 1ns)": &errors.Refusal{RetryAfter: 1},
		"gone - use another resource, for example from a new list": &errors.Gone{
			Refusal: errors.Refusal{Code: errors.CodeGone}},
		"CreateContact: 422 validation_failed: m: account.iban (missing), name, odd - " +
			"correct these fields": &errors.ValidationFailed{
			Refusal: errors.Refusal{CallInfo: errors.CallInfo{Operation: "CreateContact"}, Status: 422,
				Code: errors.CodeValidationFailed, Message: "m"}, Fields: fields},
		"409 contact_not_payable: kyc_pending (iban) - " +
			"update the contact if the blockers are about its name, email, address or currency, and repeat " +
			"with the same idempotency key; other details, such as an IBAN, cannot be updated: a new contact is " +
			"a new payment": &errors.ContactNotPayable{
			Refusal:  errors.Refusal{Status: 409, Code: errors.CodeContactNotPayable},
			Blockers: []errors.Blocker{{Code: "kyc_pending", Field: "iban"}}},
		"422 rail_requirements_unmet: kyb_open - " +
			"complete the client's verification as the blockers say, then open the " +
			"rail again": &errors.RailRequirementsUnmet{
			Refusal:  errors.Refusal{Status: 422, Code: errors.CodeRailRequirementsUnmet},
			Blockers: []errors.Blocker{{Code: "kyb_open"}}},
		"UpdateInvoice: 422: body.items[0].price (missing)": &errors.DetailErrors{
			Refusal: errors.Refusal{CallInfo: errors.CallInfo{Operation: "UpdateInvoice"}, Status: 422},
			Items:   []errors.DetailItem{{Path: "body.items[0].price", Type: "missing"}}},
		"CreateContact: invalid input: account.iban DE89 is wrong; name; odd": &errors.InvalidInput{
			CallInfo: errors.CallInfo{Operation: "CreateContact"}, Fields: fields},
		"invalid input: f0; f1; f2; f3; f4; f5; f6; f7": &errors.InvalidInput{
			Fields: numbered(8)},
		"invalid input: f0; f1; f2; f3; f4; f5; f6; f7 and 3 more": &errors.InvalidInput{
			Fields: numbered(11)},
		"BookPayout: in doubt: unexpected EOF - Repeat with the same key. " +
			"(key invoice-42, 2 attempts)": &errors.InDoubt{
			CallInfo: errors.CallInfo{Operation: "BookPayout", IdempotencyKey: "invoice-42", Attempts: 2},
			Resolve:  "Repeat with the same key.", Cause: lost,
		},
		"in doubt": &errors.InDoubt{},
		"BookPayout: in doubt: 403 forbidden: no - " +
			"check that the developer key still exists, and that its allowlist has this machine's address - repeat " +
			"it (request req_1, key invoice-42, 3 attempts)": &errors.InDoubt{
			CallInfo: errors.CallInfo{Operation: "BookPayout", IdempotencyKey: "invoice-42", RequestID: "req_1",
				Attempts: 3},
			Resolve: "repeat it",
			Cause: &errors.Forbidden{Refusal: errors.Refusal{
				CallInfo: errors.CallInfo{Operation: "BookPayout", IdempotencyKey: "invoice-42", RequestID: "req_1",
					Attempts: 3}, Status: 403, Message: "no",
			}}},
		"BookPayout: in doubt: context canceled; 429 rate_limited - " +
			"wait until 2026-01-02T03:04:05Z, and let all processes that use this " +
			"credential share one rate limiter (key k)": &errors.InDoubt{
			CallInfo: errors.CallInfo{Operation: "BookPayout", IdempotencyKey: "k"},
			Cause: fmt.Errorf("%w: %w", context.Canceled,
				&errors.RateLimited{Refusal: errors.Refusal{Status: 429, CallInfo: errors.CallInfo{
					Operation: "BookPayout", IdempotencyKey: "k",
					RetryAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}}})},
		"GetPayout: not delivered: context canceled - " +
			"the service did nothing: you can make the same call again, but not before " +
			"2026-01-02T03:04:05Z": &errors.NotDelivered{
			CallInfo: errors.CallInfo{Operation: "GetPayout",
				RetryAt: time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))}, Err: context.Canceled,
		},
		"not delivered: invalid input": &errors.NotDelivered{
			Err: &errors.InvalidInput{}},
		"not delivered - the service did nothing: you can make the same call again": &errors.NotDelivered{},
		"500: the response body is not the service's JSON error (request req_1)": &errors.UnexpectedResponse{
			CallInfo: errors.CallInfo{RequestID: "req_1"}, Status: 500, Excerpt: "secret", Err: errors.New("secret"),
		},
		"200: the response body cannot be read (text/html) - " +
			"something other than the service sent it: check the base URL, and any " +
			"proxy in between (request req_1)": &errors.UnexpectedResponse{
			CallInfo: errors.CallInfo{RequestID: "req_1"}, Status: 200, ContentType: "text/html",
			Err: errors.New("secret"),
		},
	} {
		t.Run(want, func(t *testing.T) { assert.Equal(t, want, errorbase.WithoutLink(err.Error())) })
	}
}

// Whatever the service or a caller puts into an error, its text stays one bounded, printable line.
// Rule: error.message
func TestTextsAreOneBoundedLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) string { return string(rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, label)) }
		refusal := errors.Refusal{
			CallInfo: errors.CallInfo{RequestID: text("request id"), Operation: text("operation"),
				IdempotencyKey: text("key"),
				Attempts:       rapid.Int().Draw(t, "attempts")},
			Code: errors.Code(text("code")), Message: text("message"), Status: rapid.Int().Draw(t, "status"),
			RetryAfter: time.Duration(rapid.Int64().Draw(t, "wait")),
		}
		var fields []errors.Field
		for range rapid.IntRange(0, 20).Draw(t, "fields") {
			fields = append(fields, errors.Field{Field: text("field"), Code: text("field code")})
		}
		for _, err := range []error{
			&refusal,
			&errors.ValidationFailed{Refusal: refusal, Fields: fields},
			&errors.InvalidInput{CallInfo: errors.CallInfo{Operation: text("operation")}, Fields: fields},
			&errors.InDoubt{CallInfo: errors.CallInfo{RequestID: text("request id")}, Resolve: text("resolve"),
				Cause: errors.New(text("cause"))},
			&errors.NotDelivered{CallInfo: errors.CallInfo{IdempotencyKey: text("key")},
				Err: errors.New(text("cause"))},
			&errors.UnexpectedResponse{CallInfo: errors.CallInfo{Operation: text("operation")},
				ContentType: text("type")},
		} {
			line := err.Error()
			if line == "" || len(line) > 4096 || !utf8.ValidString(line) || strings.ContainsFunc(line, notPrinting) {
				t.Fatalf("%T prints as %q (%d bytes)", err, line, len(line))
			}
		}
	})
}

func TestLongMessageIsCutOff(t *testing.T) {
	textOf := func(message string) string {
		return errorbase.WithoutLink((&errors.Refusal{Message: message}).Error())
	}
	refusal := errors.Refusal{Message: strings.Repeat("é", 1000)}
	text := errorbase.WithoutLink(refusal.Error())
	assert.LessOrEqual(t, len(text), 300)
	assert.True(t, strings.HasSuffix(text, "é…"), text)
	assert.Equal(t, strings.Repeat("a", 300), textOf(strings.Repeat("a", 300)),
		"exactly the bound is not cut")
	assert.Equal(t, "no room", textOf(" \n no \t room "),
		"space is one, and neither first nor last")
	assert.Equal(t, "a b", textOf("a\nb"))
	words := strings.Repeat("a", 298) + " b"
	assert.Equal(t, words, textOf(words))
	assert.Equal(t, strings.Repeat("a", 297)+"…", textOf(strings.Repeat("a", 299)+" b"),
		"a space counts, too")
}

// A resource is named once: among the circumstances, where the line does not say it already.
func TestTheResourceIsNamedOnce(t *testing.T) {
	about := errors.CallInfo{Operation: "GetPayout", Resource: "po_1"}
	assert.Contains(t, (&errors.Refusal{CallInfo: about, Message: "no"}).Error(), "GetPayout: no (po_1) - see ")
	assert.Contains(t, (&errors.Refusal{CallInfo: about, Message: "po_1 is not yours"}).Error(),
		"GetPayout: po_1 is not yours - see ")
	within := &errors.InDoubt{CallInfo: about, Cause: &errors.Refusal{CallInfo: about, Message: "no"},
		Resolve: "ask"}
	assert.Contains(t, within.Error(), "GetPayout: in doubt: no - ask (po_1) - see ")
}

// A character that the end of an excerpt cuts in two is left out.
func TestAnExcerptEndsWithAWholeCharacter(t *testing.T) {
	for before := 506; before <= 512; before++ {
		for _, character := range []string{"é", "€", "🙂"} {
			err := errors.Decode(errors.Response{Status: 502,
				Body: []byte(strings.Repeat("a", before) + strings.Repeat(character, 3))})
			var unexpected *errors.UnexpectedResponse
			assert.ErrorAs(t, err, &unexpected)
			whole := (512 - before) / len(character)
			assert.Equal(t, strings.Repeat("a", before)+strings.Repeat(character, min(whole, 3)), unexpected.Excerpt)
		}
	}
}

// What a body of no text begins with is shown as well.
func TestAnExcerptOfBytes(t *testing.T) {
	err := errors.Decode(errors.Response{Status: 502, Body: bytes.Repeat([]byte{0x80}, 600)})
	var unexpected *errors.UnexpectedResponse
	assert.ErrorAs(t, err, &unexpected)
	assert.NotEmpty(t, unexpected.Excerpt)
	assert.LessOrEqual(t, len(unexpected.Excerpt), 512)
}

// What a success carries may be secret, and is not shown.
func TestASuccessHasNoExcerpt(t *testing.T) {
	for status, shown := range map[int]bool{199: false, 200: false, 299: false, 300: true, 404: true} {
		err := errors.Decode(errors.Response{Status: status, Body: []byte("a page")})
		var unexpected *errors.UnexpectedResponse
		assert.ErrorAs(t, err, &unexpected)
		assert.Equal(t, shown, unexpected.Excerpt == "a page", status)
		assert.Equal(t, status >= 200 && !shown, strings.Contains(err.Error(), "cannot be read"), status)
	}
}

// What makes no sense to repeat is not said to be repeatable, and what to look at instead is said.
func TestAdviceOfNotDelivered(t *testing.T) {
	for name, tc := range map[string]struct {
		err   error
		says  string
		again bool
	}{
		"no connection":              {io.EOF, "make the same call again", true},
		"a stranger":                 {&tls.CertificateVerificationError{Err: io.EOF}, "certificate", false},
		"a service without TLS":      {fmt.Errorf("sending: %w", http.ErrSchemeMismatch), "TLS", false},
		"a login that was refused":   {&errors.InvalidCredentials{}, "credentials", false},
		"a login that is not to now": {&errors.LoginUnavailable{}, "make the same call again", true},
	} {
		t.Run(name, func(t *testing.T) {
			undelivered := &errors.NotDelivered{CallInfo: errors.CallInfo{RetryAt: time.Date(2026, 1, 2, 3, 4, 5, 0,
				time.UTC)},
				Err: tc.err}
			assert.Equal(t, tc.again, undelivered.Retryable())
			assert.ErrorContains(t, undelivered, tc.says)
			assert.Equal(t, tc.again, strings.Contains(undelivered.Error(), "make the same call again"))
			assert.Equal(t, tc.again, strings.Contains(undelivered.Error(), "2026-01-02T03:04:05Z"))
		})
	}
}

// Rule: error.logged-request-id
func TestLogValueHasSearchableAttributes(t *testing.T) {
	var out bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&out, nil))
	logger.Error("paying", "err", &errors.ContactNotPayable{Refusal: errors.Refusal{
		CallInfo: errors.CallInfo{RequestID: "req_1", Operation: "BookPayout", IdempotencyKey: "invoice-42"},
		Code:     errors.CodeContactNotPayable,
		Status:   409, Message: "m",
		Details: []byte(`{"blockers":[]}`),
	}})
	assert.Contains(t, out.String(),
		`"err":{"operation":"BookPayout","status":409,"code":"contact_not_payable","message":"m",`+
			`"remedy":"update the contact `)
	assert.Contains(t, out.String(), `"requestId":"req_1","idempotencyKey":"invoice-42"}`)
	known := (&errors.Refusal{Status: 500}).LogValue().Group()
	assert.Len(t, known, 1, "what is not known is left out: %v", known)
	out.Reset()
	logger.Error("paying", "err", &errors.PayoutNotFundable{
		Refusal: errors.Refusal{Details: []byte(`{"available":"3"}`)}, Available: decimal.NewFromInt(3), Currency: "USDC",
	})
	assert.Contains(t, out.String(), "credit the account", "as the error's text says, and not only its slug")
}

func numbered(n int) []errors.Field {
	fields := make([]errors.Field, n)
	for i := range fields {
		fields[i].Field = fmt.Sprintf("f%d", i)
	}
	return fields
}

func notPrinting(r rune) bool { return !unicode.IsGraphic(r) }

// What a refusal's details or its call add to the slug's hint, and the hint alone where they say nothing.
func TestAdvice(t *testing.T) {
	about := func(code errors.Code, resource, account string) errors.Refusal {
		return errors.Refusal{Code: code, CallInfo: errors.CallInfo{Resource: resource, Account: account}}
	}
	known := func(code errors.Code) errors.Refusal { return errors.Refusal{Code: code} }
	at := time.Date(2026, 1, 2, 4, 4, 5, 0, time.FixedZone("", 3600))
	for want, err := range map[string]error{
		"the credential's own account has no po_7: check the id, and the account " +
			"that the call acts for": &errors.NotFound{
			Refusal: about(errors.CodeNotFound, "po_7", "")},
		"client cl_1 has no po_7: check the id, and the account that the call acts for": &errors.NotFound{
			Refusal: about(errors.CodeNotFound, "po_7", "cl_1")},
		errors.CodeNotFound.Hint(): &errors.NotFound{Refusal: known(errors.CodeNotFound)},

		"the token does not come from a developer-key login: log in with a developer key": &errors.Forbidden{
			Refusal: known(errors.CodeForbidden), Reason: errors.ReasonDeveloperSessionRequired},
		"the developer key has cards:read, invoices but needs cards:write: use " +
			"a key with this scope, then repeat with the same idempotency key": &errors.Forbidden{
			Refusal: known(errors.CodeForbidden), RequiredScope: "cards:write",
			Scope: []string{"cards:read", "invoices"}},
		"the developer key has no scopes but needs cards:write: use a key with " +
			"this scope, then repeat with the same idempotency key": &errors.Forbidden{
			Refusal: known(errors.CodeForbidden), RequiredScope: "cards:write"},
		"the developer key has cards:read but needs cards:write: use a key with " +
			"this scope, then repeat with the same idempotency key": &errors.Forbidden{
			Refusal: known(errors.CodeForbidden), RequiredScope: "cards:write", Scope: []string{"cards:read"}},
		errors.CodeForbidden.Hint(): &errors.Forbidden{Refusal: known(errors.CodeForbidden)},

		"pass an id that begins with po_": &errors.InvalidID{Refusal: known(errors.CodeInvalidID),
			ExpectedPrefix: "po_"},
		"pass an id that begins with po_ ": &errors.InvalidID{Refusal: about(errors.CodeInvalidID,
			"po_7", ""), ExpectedPrefix: "po_"},
		"pass an id that begins with po_, not ct_1": &errors.InvalidID{Refusal: about(errors.CodeInvalidID,
			"ct_1", ""), ExpectedPrefix: "po_"},
		errors.CodeInvalidID.Hint(): &errors.InvalidID{Refusal: known(errors.CodeInvalidID)},

		"the idempotency key belongs to po_1, which has other terms: " +
			"check it before you use a new key": &errors.IdempotencyKeyReused{
			Refusal: known(errors.CodeIdempotencyKeyReused), PayoutID: "po_1", EscrowID: "esc_1"},
		"the idempotency key belongs to esc_1, which has other terms: " +
			"check it before you use a new key": &errors.IdempotencyKeyReused{
			Refusal: known(errors.CodeIdempotencyKeyReused), EscrowID: "esc_1"},
		errors.CodeIdempotencyKeyReused.Hint(): &errors.IdempotencyKeyReused{
			Refusal: known(errors.CodeIdempotencyKeyReused)},

		"wait until 2026-01-02T03:04:05Z, and let all processes that use this " +
			"credential share one rate limiter": &errors.RateLimited{
			Refusal: errors.Refusal{Code: errors.CodeRateLimited, CallInfo: errors.CallInfo{RetryAt: at}}},
		errors.CodeRateLimited.Hint(): &errors.RateLimited{Refusal: known(errors.CodeRateLimited)},

		"log in with developer_key, the mode that is enabled": &errors.LoginModeUnavailable{
			Refusal: known(errors.CodeLoginModeUnavailable), Use: "developer_key"},
		errors.CodeLoginModeUnavailable.Hint(): &errors.LoginModeUnavailable{
			Refusal: known(errors.CodeLoginModeUnavailable)},

		"treat this as a success: payout po_1 is funded, do not pay it again": &errors.AlreadyFunded{
			Refusal: known(errors.CodeAlreadyFunded), PayoutID: "po_1"},
		errors.CodeAlreadyFunded.Hint(): &errors.AlreadyFunded{
			Refusal: known(errors.CodeAlreadyFunded)},

		"ask for at most 100 per call": &errors.AmountAboveMaximum{Refusal: known(errors.CodeAmountAboveMaximum),
			MaxCredit: decimal.NewFromInt(100)},
		errors.CodeAmountAboveMaximum.Hint(): &errors.AmountAboveMaximum{Refusal: known(errors.CodeAmountAboveMaximum)},

		"the balance is 2.5 USDC: credit the account, then repeat with the same " +
			"idempotency key": &errors.PayoutNotFundable{
			Refusal: known(errors.CodePayoutNotFundable), Available: decimal.RequireFromString("2.5"),
			Currency: "USDC"},
		"the balance is 0: credit the account, then repeat with the same idempotency key": &errors.PayoutNotFundable{
			Refusal: errors.Refusal{Code: errors.CodePayoutNotFundable, Details: []byte(`{"available":"0"}`)}},
		errors.CodePayoutNotFundable.Hint(): &errors.PayoutNotFundable{Refusal: known(errors.CodePayoutNotFundable)},
		"the balance is 1 EURC: credit the account, then repeat with the same idempotency key": &errors.Conflict{
			Refusal: known(errors.CodeConflict), Available: decimal.NewFromInt(1), Currency: "EURC"},
		errors.CodeConflict.Hint(): &errors.Conflict{Refusal: known(errors.CodeConflict)},
	} {
		t.Run(want, func(t *testing.T) {
			_, advice, found := strings.Cut(errorbase.WithoutLink(err.Error()), " - ")
			assert.True(t, found, err.Error())
			said, _, _ := strings.Cut(advice, " (po_") // the resource, where the advice does not name it
			assert.Equal(t, strings.TrimSpace(want), said)
		})
	}
}

// What comes from outside into advice is bounded as everything else.
func TestAdviceIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, err := range []error{
		&errors.NotFound{Refusal: errors.Refusal{CallInfo: errors.CallInfo{Resource: long, Account: long}}},
		&errors.Forbidden{RequiredScope: long, Scope: []string{long, long}},
		&errors.InvalidID{ExpectedPrefix: long},
		&errors.IdempotencyKeyReused{PayoutID: long},
		&errors.LoginModeUnavailable{Use: long},
		&errors.AlreadyFunded{PayoutID: long},
		&errors.PayoutNotFundable{Currency: long},
	} {
		assert.NotContains(t, err.Error(), strings.Repeat("x", 129), "%T", err)
		assert.Contains(t, err.Error(), strings.Repeat("x", 100), "%T", err)
	}
}

// Each part of a line has a bound of its own, in bytes.
func TestErrorTextIsBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		most int
		line func(text string) error
	}{
		"operation": {128, func(text string) error {
			return &errors.Refusal{CallInfo: errors.CallInfo{Operation: text}}
		}},
		"code": {128, func(text string) error { return &errors.Refusal{Code: errors.Code(text)} }},
		"key": {128, func(text string) error {
			return &errors.Refusal{CallInfo: errors.CallInfo{IdempotencyKey: text}}
		}},
		"request": {128, func(text string) error {
			return &errors.Refusal{CallInfo: errors.CallInfo{RequestID: text}}
		}},
		"resource": {128, func(text string) error {
			return &errors.Refusal{CallInfo: errors.CallInfo{Resource: text}}
		}},
		"content type": {128, func(text string) error { return &errors.UnexpectedResponse{ContentType: text} }},
		"field": {128, func(text string) error {
			return &errors.ValidationFailed{Fields: []errors.Field{{Field: text}}}
		}},
		"message": {300, func(text string) error { return &errors.Refusal{Message: text} }},
		"resolve": {300, func(text string) error { return &errors.InDoubt{Resolve: text} }},
		"a cause": {300, func(text string) error { return &errors.NotDelivered{Err: errors.New(text)} }},
		"causes": {1000, func(text string) error {
			four := len(text) - 3*len("; ")
			part := text[:four/4]
			return &errors.NotDelivered{Err: fmt.Errorf("%w%w%w%w", errors.New(part), errors.New(part),
				errors.New(part), errors.New(text[:four-3*len(part)]))}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.NotContains(t, tc.line(strings.Repeat("x", tc.most)).Error(), "…")
			assert.Contains(t, tc.line(strings.Repeat("x", tc.most+1)).Error(), "…")
		})
	}
}

// The text of an error ends with a link to the entry that says what to do.
func TestAnErrorLinksToItsEntry(t *testing.T) {
	refused := &errors.InvalidCredentials{}
	for name, tc := range map[string]struct {
		err    error
		anchor string
	}{
		"a slug":                 {&errors.Refusal{Code: errors.CodeQuoteExpired}, "quote_expired"},
		"a type without a slug":  {&errors.RateLimited{}, "rate_limited"},
		"a slug that is unknown": {&errors.Unrecognized{Refusal: errors.Refusal{Code: "teapot"}}, "errorsunrecognized"},
		"a slug that is folded": {&errors.Refusal{Code: errors.CodeContactRequiresQuote},
			"errorsunrecognized"},
		"no slug":              {&errors.DetailErrors{}, "errorsdetailerrors"},
		"invalid input":        {&errors.InvalidInput{}, "errorsinvalidinput"},
		"not delivered":        {&errors.NotDelivered{Err: context.Canceled}, "errorsnotdelivered"},
		"a login was refused":  {&errors.NotDelivered{Err: fmt.Errorf("login: %w", refused)}, "invalid_credentials"},
		"in doubt":             {&errors.InDoubt{Cause: refused}, "errorsindoubt"},
		"not the service's":    {&errors.UnexpectedResponse{Status: 502}, "errorsunexpectedresponse"},
		"a cause in no type":   {&errors.NotDelivered{Err: errors.New(refused.Error())}, "errorsnotdelivered"},
		"a cause that is long": {&errors.NotDelivered{Err: errors.New(linked(280))}, "errorsnotdelivered"},
	} {
		t.Run(name, func(t *testing.T) {
			text := tc.err.Error()
			assert.True(t, strings.HasSuffix(text, " - see "+errorbase.PageAddress+"#"+tc.anchor), text)
			assert.Equal(t, 1, strings.Count(text, errorbase.PageAddress), "one link, not half of another: %s", text)
			assert.NotContains(t, text, "…")
		})
	}
}

// linked returns a text of so many bytes with a link at its end.
func linked(length int) string { return errorbase.LinkTo("not_found", strings.Repeat("x", length)) }
