package errors_test

import (
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
)

func TestCausesAreVisible(t *testing.T) {
	for name, err := range map[string]error{
		"outcome unknown":   &errors.InDoubt{Cause: fmt.Errorf("sending: %w", context.DeadlineExceeded)},
		"not delivered":     &errors.NotDelivered{Err: fmt.Errorf("waiting: %w", context.DeadlineExceeded)},
		"unexpected answer": &errors.UnexpectedResponse{Err: context.DeadlineExceeded},
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
func TestSlugTypesAreToldApart(t *testing.T) {
	err := error(&errors.QuoteExpired{})
	var other *errors.FundingAttemptExpired
	assert.False(t, errors.As(err, &other))
	_, ok := errors.AsType[*errors.QuoteExpired](errors.Join(io.EOF, err))
	assert.True(t, ok)
}

func TestStandsInForTheStandardPackage(t *testing.T) {
	cause := errors.New("cause")
	wrapped := fmt.Errorf("outer: %w", cause)
	assert.True(t, errors.Is(wrapped, cause))
	assert.True(t, stderrors.Is(errors.Join(wrapped, io.EOF), io.EOF)) //nolint:testifylint // errors.Is itself is under test
	assert.Same(t, cause, errors.Unwrap(wrapped))
	require.NoError(t, errors.Join(nil, nil))
}

// What the last attempt of a payment was refused with says nothing about the attempts before it.
func TestUnknownOutcomeIsNoRefusal(t *testing.T) {
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
