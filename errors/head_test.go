package errors_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/callfacts"
)

func TestEveryErrorOfACallHasAHead(t *testing.T) {
	head := errors.Head{
		Operation: "BookPayout", IdempotencyKey: "invoice-42", RequestID: "req_1", Attempts: 2,
		RetryAt: time.Unix(1, 0), Resource: "ct_1", Account: "cl_1",
	}
	for _, err := range []error{
		&errors.Refusal{Head: head},
		&errors.QuoteExpired{Refusal: errors.Refusal{Head: head}},
		&errors.Unrecognized{Refusal: errors.Refusal{Head: head}},
		&errors.DetailErrors{Refusal: errors.Refusal{Head: head}},
		&errors.UnexpectedResponse{Head: head},
		&errors.OutcomeUnknown{Head: head, Cause: &errors.NotFound{}},
		&errors.InvalidInput{Head: head},
		&errors.NotDelivered{Head: head, Err: io.EOF},
	} {
		found, ok := errors.HeadOf(fmt.Errorf("paying: %w", err))
		assert.True(t, ok, "%T", err)
		assert.Equal(t, head, found, "%T", err)
	}
	_, ok := errors.HeadOf(io.EOF)
	assert.False(t, ok)
}

// Whether the request was carried out is another question than whether money moved.
func TestCarriedOut(t *testing.T) {
	for name, tc := range map[string]struct {
		err  error
		want errors.Movement
	}{
		"an unknown outcome": {&errors.OutcomeUnknown{Head: harmless}, errors.MaybeMoved},
		"an unknown outcome of a plain cause": {&errors.OutcomeUnknown{Head: harmless, Cause: &errors.Forbidden{}},
			errors.MaybeMoved},
		"an answer that cannot be read": {&errors.UnexpectedResponse{Head: harmless, Status: 502},
			errors.MaybeMoved},
		"a page that rejects": {&errors.UnexpectedResponse{Head: harmless, Status: 403}, errors.NotMoved},
		"a server error": {&errors.InternalError{Refusal: errors.Refusal{Head: harmless,
			Code: errors.CodeInternalError, Status: 500}}, errors.MaybeMoved},
		"a refusal": {&errors.Refusal{Head: harmless, Code: errors.CodeForbidden,
			Status: 403}, errors.NotMoved},
		"success in disguise": {&errors.Refusal{Head: keyed, Code: errors.CodeAlreadyFunded,
			Status: 409}, errors.Moved},
		"what was not sent":           {&errors.NotDelivered{Head: keyed}, errors.NotMoved},
		"what was refused here":       {&errors.InvalidInput{Head: keyed}, errors.NotMoved},
		"an error of another package": {io.EOF, errors.MaybeMoved},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, errors.CarriedOut(fmt.Errorf("paying: %w", tc.err), callfacts.Asker{}))
		})
	}
}

// A flow of several calls says in an error which resource it was about, in a copy of its own where the error is shared.
func TestAFlowNamesWhatItsErrorIsAbout(t *testing.T) {
	shared := &errors.Forbidden{Refusal: errors.Refusal{Head: errors.Head{Operation: "CreateToken"}, Message: "no"},
		Reason: "a reason"}
	own := errors.Own(shared, callfacts.Asker{})
	errors.Name(fmt.Errorf("paying: %w", own), "po_1", "invoice-42", callfacts.Asker{})
	copied, ok := errors.AsType[*errors.Forbidden](own)
	assert.True(t, ok)
	assert.Equal(t, errors.Head{Operation: "CreateToken", Resource: "po_1", IdempotencyKey: "invoice-42"}, copied.Head)
	assert.Equal(t, "a reason", copied.Reason)
	assert.Equal(t, errors.Head{Operation: "CreateToken"}, shared.Head, "who else has it sees nothing of it")

	assert.Equal(t, io.EOF, errors.Own(io.EOF, callfacts.Asker{}), "what has no head is not copied")
	assert.Equal(t, (*errors.NotDelivered)(nil), errors.Own((*errors.NotDelivered)(nil), callfacts.Asker{}))
	errors.Name(io.EOF, "po_1", "invoice-42", callfacts.Asker{})
}
