package required_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/required"
)

// A refusal names the operation, what is missing, and what to do about it.
func TestWhatIsMissingIsNamed(t *testing.T) {
	require.NoError(t, required.Context(t.Context(), "GetPayout"))
	var without context.Context
	refused, is := errors.AsType[*errors.InvalidInput](required.Context(without, "GetPayout"))
	require.True(t, is)
	assert.Equal(t, "GetPayout", refused.Operation)
	assert.Equal(t, []errors.Field{required.NoContext()}, refused.Fields)
	assert.Equal(t, "context required", refused.Fields[0].Field+" "+refused.Fields[0].Code)
	assert.Contains(t, refused.Fields[0].Message, "context.Background()")

	client := required.NoClient("appapi.New")
	assert.Equal(t, "client not_made", client.Field+" "+client.Code)
	assert.Contains(t, client.Message, "appapi.New")
}
