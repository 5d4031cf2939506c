package errors_test

import (
	"context"
	stderrors "errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

func TestHasCode(t *testing.T) {
	reused := &errors.IdempotencyKeyReused{}
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"itself":                      {reused, true},
		"the common part alone":       {&errors.Refusal{Code: errors.CodeIdempotencyKeyReused}, true},
		"wrapped":                     {fmt.Errorf("paying: %w", reused), true},
		"second of two":               {errors.Join(&errors.Gone{}, fmt.Errorf("then: %w", reused)), true},
		"not sent":                    {&errors.NotDelivered{Err: reused}, true},
		"another":                     {&errors.Gone{}, false},
		"no refusal":                  {errors.Join(io.EOF, nil), false},
		"nothing":                     {nil, false},
		"inside of one in doubt":      {&errors.InDoubt{Cause: reused}, false},
		"inside of a wrapped unknown": {fmt.Errorf("paying: %w", &errors.InDoubt{Cause: reused}), false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, errors.HasCode(tc.err, errors.CodeIdempotencyKeyReused))
		})
	}
	unknown := &errors.Unrecognized{Refusal: errors.Refusal{Code: "wallet_frozen"}}
	assert.True(t, errors.HasCode(unknown, "wallet_frozen"), "the set of slugs is open")
}

func TestLowBalanceAndNoRoutingAreDistinguished(t *testing.T) {
	const low = `{"error":{"code":%q,"message":"no","details":{"available":"0","currency":"USDC"}}}`
	var fundable *errors.PayoutNotFundable
	require.ErrorAs(t, decode(409, fmt.Sprintf(low, "payout_not_fundable")), &fundable)
	assert.True(t, fundable.LowBalance())
	assert.True(t, fundable.Available.IsZero())
	assert.Equal(t, "USDC", fundable.Currency)
	assert.Equal(t, errors.RemedyChangeAccount, fundable.Remedy())
	assert.False(t, fundable.Retryable(), "not before an operator has acted")

	var conflict *errors.Conflict
	require.ErrorAs(t, decode(409, fmt.Sprintf(low, "conflict")), &conflict)
	assert.True(t, conflict.LowBalance())
	assert.Equal(t, errors.RemedyChangeAccount, conflict.Remedy())

	require.ErrorAs(t, decode(409, `{"error":{"code":"payout_not_fundable","message":"no"}}`), &fundable)
	assert.False(t, fundable.LowBalance())
	require.ErrorAs(t, decode(409, `{"error":{"code":"conflict","message":"no"}}`), &conflict)
	assert.False(t, conflict.LowBalance())
	assert.True(t, (&errors.PayoutNotFundable{Available: decimal.NewFromInt(3)}).LowBalance())
	assert.True(t, (&errors.Conflict{Currency: "EURC"}).LowBalance())
}

func TestUnknownCodeHasNoEntry(t *testing.T) {
	unknown := errors.Code("escrow_not_open")
	assert.False(t, unknown.Known())
	assert.Zero(t, unknown.Status())
	assert.Empty(t, unknown.Condition())
}

// Heads of calls about which different things are known.
var (
	reading      = errorbase.With(errors.CallInfo{Operation: "GetPayout"}, errorbase.Facts{ReadOnly: true})
	keyed        = errors.CallInfo{Operation: "BookPayout", IdempotencyKey: "invoice-42"}
	once         = errorbase.With(errors.CallInfo{Operation: "CreateQuote"}, errorbase.Facts{Once: true})
	harmless     = errorbase.With(errors.CallInfo{Operation: "CreateContact"}, errorbase.Facts{Moneyless: true})
	harmlessOnce = errorbase.With(errors.CallInfo{Operation: "CreateInvoice"},
		errorbase.Facts{Once: true, Moneyless: true})
)

func TestRetryableAndMovementOfRefusals(t *testing.T) {
	for name, tc := range map[string]struct {
		refusal   errors.Refusal
		retryable bool
		moved     errors.Movement
		remedy    errors.Remedy
	}{
		"a read never moves money": {
			errors.Refusal{CallInfo: reading, Code: errors.CodeInternalError, Status: 500},
			true, errors.NotMoved, errors.RemedyWait},
		"a server error on a write may have": {
			errors.Refusal{CallInfo: keyed, Code: errors.CodeInternalError, Status: 500},
			true, errors.MaybeMoved, errors.RemedyWait},
		"and without a key must not be repeated": {
			errors.Refusal{CallInfo: once, Code: errors.CodeInternalError, Status: 500},
			false, errors.MaybeMoved, errors.RemedyWait},
		"a rate limit refuses before anything happens": {
			errors.Refusal{CallInfo: once, Code: errors.CodeRateLimited, Status: 429},
			true, errors.NotMoved, errors.RemedyWait},
		"success in disguise": {
			errors.Refusal{CallInfo: keyed, Code: errors.CodeAlreadyFunded, Status: 409},
			false, errors.Moved, errors.RemedyNone},
		"funding under way": {
			errors.Refusal{CallInfo: keyed, Code: errors.CodeFundingInProgress, Status: 409},
			true, errors.MaybeMoved, errors.RemedyWait},
		"a new token first": {
			errors.Refusal{CallInfo: keyed, Code: errors.CodeTokenExpired, Status: 401},
			false, errors.NotMoved, errors.RemedyLogin},
		"a login moves no money, also when it is down": {
			errors.Refusal{CallInfo: once, Code: errors.CodeLoginUnavailable, Status: 503},
			true, errors.NotMoved, errors.RemedyWait},
		"a known slug without a status": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired},
			false, errors.NotMoved, errors.RemedyRestart},
		"a known slug with another client error": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 410},
			false, errors.NotMoved, errors.RemedyRestart},
		"a known slug with a server error it does not come with": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 502},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"a known slug with the least server error": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 500},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"a known slug with less than a client error": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 399},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"a known slug with the least client error": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 400},
			false, errors.NotMoved, errors.RemedyRestart},
		"a known slug with a success": {
			errors.Refusal{CallInfo: once, Code: errors.CodeQuoteExpired, Status: 200},
			false, errors.MaybeMoved, errors.RemedyRestart},
		"an unknown slug with a client error": {
			errors.Refusal{CallInfo: once, Code: "documents_missing", Status: 422},
			false, errors.NotMoved, errors.RemedyChangeRequest},
		"an unknown conflict may say that it is done already": {
			errors.Refusal{CallInfo: once, Code: "escrow_released", Status: 409},
			false, errors.MaybeMoved, errors.RemedyChangeRequest},
		"an unknown conflict of a read": {
			errors.Refusal{CallInfo: reading, Code: "escrow_released", Status: 409},
			false, errors.NotMoved, errors.RemedyChangeRequest},
		"chain infrastructure unreachable": {
			errors.Refusal{CallInfo: keyed, Code: "chain_unreachable", Status: 502},
			true, errors.MaybeMoved, errors.RemedyWait},
		"an unknown slug with 401": {
			errors.Refusal{CallInfo: once, Code: "session_revoked", Status: 401},
			false, errors.NotMoved, errors.RemedyLogin},
		"a key that anchors nothing makes no repeat safe": {
			errors.Refusal{CallInfo: once, Code: errors.CodeInternalError, Status: 500},
			false, errors.MaybeMoved, errors.RemedyWait},
		"what moves no money can be done twice all the same": {
			errors.Refusal{CallInfo: harmlessOnce, Code: errors.CodeInternalError, Status: 500},
			false, errors.NotMoved, errors.RemedyWait},
		"a slug that says moved is believed": {
			errors.Refusal{CallInfo: harmlessOnce, Code: errors.CodeAlreadyFunded, Status: 409},
			false, errors.Moved, errors.RemedyNone},
		"an unknown slug with 408": {
			errors.Refusal{CallInfo: keyed, Code: "took_too_long", Status: 408},
			true, errors.MaybeMoved, errors.RemedyWait},
		"an unknown slug with 501": {
			errors.Refusal{CallInfo: keyed, Code: "mode_unavailable", Status: 501},
			false, errors.MaybeMoved, errors.RemedyChangeRequest},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.retryable, tc.refusal.Retryable())
			assert.Equal(t, tc.moved, tc.refusal.MovedByCall())
			assert.Equal(t, tc.remedy, tc.refusal.Remedy())
		})
	}
}

func TestRetryableAndMovementOfOtherFailures(t *testing.T) {
	for name, tc := range map[string]struct {
		failure   errors.Failure
		retryable bool
		moved     errors.Movement
	}{
		"gateway down on a read": {&errors.UnexpectedResponse{CallInfo: reading, Status: 502}, true,
			errors.NotMoved},
		"gateway down on a keyed write": {&errors.UnexpectedResponse{CallInfo: keyed, Status: 504}, true,
			errors.MaybeMoved},
		"gateway down on a write, no key": {&errors.UnexpectedResponse{CallInfo: once, Status: 504}, false,
			errors.MaybeMoved},
		"gateway says 404 to a write": {&errors.UnexpectedResponse{CallInfo: once, Status: 404}, false,
			errors.NotMoved},
		"gateway limits a write": {&errors.UnexpectedResponse{CallInfo: once, Status: 429}, true, errors.NotMoved},
		"gateway times out a read": {&errors.UnexpectedResponse{CallInfo: reading, Status: 408}, true,
			errors.NotMoved},
		"gateway times out a keyed write": {&errors.UnexpectedResponse{CallInfo: keyed, Status: 408}, true,
			errors.MaybeMoved},
		"gateway times out a write": {&errors.UnexpectedResponse{CallInfo: once, Status: 408}, false,
			errors.MaybeMoved},
		"redirect of a write": {&errors.UnexpectedResponse{CallInfo: keyed, Status: 307}, false,
			errors.MaybeMoved},
		"unreadable success of a write": {&errors.UnexpectedResponse{CallInfo: keyed, Status: 201}, false,
			errors.MaybeMoved},
		"in doubt with a key": {&errors.InDoubt{CallInfo: keyed}, true, errors.MaybeMoved},
		"gateway down on a contact": {&errors.UnexpectedResponse{CallInfo: harmless, Status: 502}, true,
			errors.NotMoved},
		"gateway down on an invoice": {&errors.UnexpectedResponse{CallInfo: harmlessOnce, Status: 502}, false,
			errors.NotMoved},
		"a contact, nobody knows":    {&errors.InDoubt{CallInfo: harmless}, true, errors.NotMoved},
		"a key that anchors nothing": {&errors.InDoubt{CallInfo: once}, false, errors.MaybeMoved},
		"in doubt without a key":     {&errors.InDoubt{CallInfo: once}, false, errors.MaybeMoved},
		"invalid input":              {&errors.InvalidInput{}, false, errors.NotMoved},
		"not delivered, a refused login": {&errors.NotDelivered{Err: &errors.InvalidCredentials{}}, false,
			errors.NotMoved},
		"not delivered, login is down": {&errors.NotDelivered{Err: &errors.LoginUnavailable{}}, true,
			errors.NotMoved},
		"not delivered": {&errors.NotDelivered{Err: context.Canceled}, true, errors.NotMoved},
		"validation failure of /api/v1": {&errors.DetailErrors{Refusal: errors.Refusal{CallInfo: once, Status: 422}},
			false, errors.NotMoved},
		"the question asked of the slug": {&errors.RateLimited{Refusal: errors.Refusal{CallInfo: reading,
			Code: errors.CodeRateLimited}}, true, errors.NotMoved},
		"the question asked of an unknown": {&errors.Unrecognized{Refusal: errors.Refusal{CallInfo: reading,
			Status: 503}},
			true, errors.NotMoved},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.retryable, tc.failure.Retryable())
			assert.Equal(t, tc.moved, tc.failure.MovedByCall())
		})
	}
}

func TestEveryErrorOfACallHasACallInfo(t *testing.T) {
	head := errors.CallInfo{
		Operation: "BookPayout", IdempotencyKey: "invoice-42", RequestID: "req_1", Attempts: 2,
		RetryAt: time.Unix(1, 0), Resource: "ct_1", Account: "cl_1",
	}
	for _, err := range []error{
		&errors.Refusal{CallInfo: head},
		&errors.QuoteExpired{Refusal: errors.Refusal{CallInfo: head}},
		&errors.Unrecognized{Refusal: errors.Refusal{CallInfo: head}},
		&errors.DetailErrors{Refusal: errors.Refusal{CallInfo: head}},
		&errors.UnexpectedResponse{CallInfo: head},
		&errors.InDoubt{CallInfo: head, Cause: &errors.NotFound{}},
		&errors.InvalidInput{CallInfo: head},
		&errors.NotDelivered{CallInfo: head, Err: io.EOF},
	} {
		found, ok := errors.CallInfoOf(fmt.Errorf("paying: %w", err))
		assert.True(t, ok, "%T", err)
		assert.Equal(t, head, found, "%T", err)
	}
	_, ok := errors.CallInfoOf(io.EOF)
	assert.False(t, ok)
}

// Whether the request was carried out is another question than whether money moved.
func TestErrorsOfCallsWithoutEffect(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"in doubt": {&errors.InDoubt{CallInfo: harmless}, false},
		"in doubt with a plain cause": {&errors.InDoubt{CallInfo: harmless, Cause: &errors.Forbidden{}},
			false},
		"a response that cannot be read": {&errors.UnexpectedResponse{CallInfo: harmless, Status: 502},
			false},
		"a page that rejects": {&errors.UnexpectedResponse{CallInfo: harmless, Status: 403}, true},
		"a server error": {&errors.InternalError{Refusal: errors.Refusal{CallInfo: harmless,
			Code: errors.CodeInternalError, Status: 500}}, false},
		"a refusal": {&errors.Refusal{CallInfo: harmless, Code: errors.CodeForbidden,
			Status: 403}, true},
		"success in disguise": {&errors.Refusal{CallInfo: keyed, Code: errors.CodeAlreadyFunded,
			Status: 409}, false},
		"what was not sent":           {&errors.NotDelivered{CallInfo: keyed}, true},
		"what was refused here":       {&errors.InvalidInput{CallInfo: keyed}, true},
		"an error of another package": {io.EOF, false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, errorbase.WithoutEffect(fmt.Errorf("paying: %w", tc.err)))
		})
	}
}

// A flow of several calls says in an error which resource it was about, in a copy of its own where the error is shared.
func TestFlowSetsTheResourceOfAnError(t *testing.T) {
	shared := &errors.Forbidden{Refusal: errors.Refusal{CallInfo: errors.CallInfo{Operation: "CreateToken"},
		Message: "no"},
		Reason: "a reason"}
	own := errorbase.Clone(shared)
	errorbase.SetResource(fmt.Errorf("paying: %w", own), "po_1", "invoice-42")
	copied, ok := errors.AsType[*errors.Forbidden](own)
	assert.True(t, ok)
	assert.Equal(t, errors.CallInfo{Operation: "CreateToken", Resource: "po_1", IdempotencyKey: "invoice-42"},
		copied.CallInfo)
	assert.Equal(t, "a reason", copied.Reason)
	assert.Equal(t, errors.CallInfo{Operation: "CreateToken"}, shared.CallInfo, "who else has it sees nothing of it")

	assert.Equal(t, io.EOF, errorbase.Clone(io.EOF), "what has no head is not copied")
	assert.Equal(t, (*errors.NotDelivered)(nil), errorbase.Clone((*errors.NotDelivered)(nil)))
	errorbase.SetResource(io.EOF, "po_1", "invoice-42")
}

func TestCausesAreVisible(t *testing.T) {
	for name, err := range map[string]error{
		"in doubt":            &errors.InDoubt{Cause: fmt.Errorf("sending: %w", context.DeadlineExceeded)},
		"not delivered":       &errors.NotDelivered{Err: fmt.Errorf("waiting: %w", context.DeadlineExceeded)},
		"unexpected response": &errors.UnexpectedResponse{Err: context.DeadlineExceeded},
		"unexpected in unknown": &errors.InDoubt{
			Cause: &errors.UnexpectedResponse{Err: context.DeadlineExceeded},
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.ErrorIs(t, fmt.Errorf("outer: %w", err), context.DeadlineExceeded)
		})
	}
}

// Rule: error.branch-on-code
func TestSlugTypesAreDistinguished(t *testing.T) {
	err := error(&errors.QuoteExpired{})
	var other *errors.FundingAttemptExpired
	assert.False(t, errors.As(err, &other))
	_, ok := errors.AsType[*errors.QuoteExpired](errors.Join(io.EOF, err))
	assert.True(t, ok)
}

func TestStandardFunctionsWorkOnTypedErrors(t *testing.T) {
	cause := errors.New("cause")
	wrapped := fmt.Errorf("outer: %w", cause)
	assert.True(t, errors.Is(wrapped, cause))
	assert.True(t, stderrors.Is(errors.Join(wrapped, io.EOF), io.EOF)) //nolint:testifylint // errors.Is itself is under test
	assert.Same(t, cause, errors.Unwrap(wrapped))
	require.NoError(t, errors.Join(nil, nil))
}

// What the last attempt of a payment was refused with says nothing about the attempts before it.
func TestInDoubtIsNotARefusal(t *testing.T) {
	cause := fmt.Errorf("answered: %w", errors.Join(context.Canceled, &errors.Forbidden{}))
	err := fmt.Errorf("paying: %w", &errors.InDoubt{Cause: cause})

	var forbidden *errors.Forbidden
	assert.False(t, errors.As(err, &forbidden))
	var refusal *errors.Refusal
	assert.False(t, errors.As(err, &refusal))
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotErrorIs(t, err, context.DeadlineExceeded)
	failure, ok := errors.AsType[errors.Failure](err)
	require.True(t, ok)
	assert.Equal(t, errors.MaybeMoved, failure.MovedByCall())
}

// One import is enough: what the standard package exports, this one exports as well. A release of Go that adds a name
// fails here.
func TestTheStandardPackageIsExported(t *testing.T) {
	standard, err := build.Import("errors", "", build.FindOnly)
	require.NoError(t, err)
	own := exportedNames(t, ".")
	names := exportedNames(t, standard.Dir)
	require.Contains(t, names, "ErrUnsupported")
	require.Contains(t, names, "AsType")
	for name := range names {
		assert.Contains(t, own, name, "add errors.%s to failure.go", name)
	}
}

// And they are the same functions: errors of either package are found by the other.
func TestTheStandardFunctionsAreTheSame(t *testing.T) {
	assert.Equal(t, stderrors.ErrUnsupported, errors.ErrUnsupported)
	assert.ErrorIs(t, fmt.Errorf("a: %w", errors.ErrUnsupported), stderrors.ErrUnsupported)

	gone := &errors.Gone{}
	wrapped := fmt.Errorf("reading: %w", errors.Join(nil, io.EOF, gone))
	assert.True(t, errors.Is(wrapped, io.EOF))
	found, ok := errors.AsType[*errors.Gone](wrapped)
	assert.True(t, ok)
	assert.Same(t, gone, found)
	var as *errors.Gone
	assert.True(t, errors.As(wrapped, &as))
	assert.Same(t, gone, as)
	assert.EqualError(t, errors.Unwrap(wrapped), errors.Join(io.EOF, gone).Error())
	assert.EqualError(t, errors.New("text"), "text")
	assert.NoError(t, errors.Join(nil, nil))
}

// exportedNames are the names that a package exports, by its source.
func exportedNames(t *testing.T, folder string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, declaration := range parsed.Decls {
			for _, name := range declared(declaration) {
				if name.IsExported() {
					names[name.Name] = true
				}
			}
		}
	}
	return names
}

// declared are the names of a declaration at the top of a file, without methods.
func declared(declaration ast.Decl) (names []*ast.Ident) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			names = append(names, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name)
			case *ast.ValueSpec:
				names = append(names, s.Names...)
			}
		}
	}
	return names
}
