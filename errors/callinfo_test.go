package errors_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
)

func TestEveryErrorOfACallHasAHead(t *testing.T) {
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
		"an unknown outcome": {&errors.InDoubt{CallInfo: harmless}, false},
		"an unknown outcome of a plain cause": {&errors.InDoubt{CallInfo: harmless, Cause: &errors.Forbidden{}},
			false},
		"an answer that cannot be read": {&errors.UnexpectedResponse{CallInfo: harmless, Status: 502},
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
func TestAFlowNamesWhatItsErrorIsAbout(t *testing.T) {
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
