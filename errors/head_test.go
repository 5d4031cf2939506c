package errors_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
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
		&errors.UnexpectedAnswer{Head: head},
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
