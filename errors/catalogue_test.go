package errors_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/moneymovement/moneymovement-go/errors"
)

func TestUnknownCodeHasNoEntry(t *testing.T) {
	unknown := errors.Code("escrow_not_open")
	assert.False(t, unknown.Known())
	assert.Zero(t, unknown.Status())
	assert.Empty(t, unknown.Condition())
}
