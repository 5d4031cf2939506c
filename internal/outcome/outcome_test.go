package outcome_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
)

// What to do after each slug that a write can receive is in payments/testdata/errors.txt. These are the cases that the
// table cannot show.
func TestNextStepAfterEachError(t *testing.T) {
	refused := &errors.KeyNotRegistered{}
	for name, c := range map[string]struct {
		err  error
		want outcome.Next
	}{
		"nothing":                             {nil, outcome.Wait},
		"of no known type":                    {errors.New("no"), outcome.Wait},
		"a login that was refused":            {&errors.NotDelivered{Err: refused}, outcome.Pause},
		"a login in doubt":                    {&errors.NotDelivered{Err: &errors.InDoubt{}}, outcome.Wait},
		"a wrapped refusal":                   {fmt.Errorf("paying: %w", refused), outcome.Pause},
		"a doubt does not unwrap":             {&errors.InDoubt{Cause: refused}, outcome.Wait},
		"made by hand, without its code":      {&errors.ContactNotPayable{}, outcome.Decide},
		"a conflict about a balance":          {conflict(`{"available":"1","currency":"USDC"}`), outcome.Wait},
		"a conflict may have a lost cause":    {conflict(`{}`), outcome.Wait},
		"a key of another payment":            {&errors.IdempotencyKeyReused{}, outcome.NewKey},
		"input":                               {&errors.InvalidInput{}, outcome.Change},
		"a page that may have been a payment": {&errors.UnexpectedResponse{Status: 302}, outcome.Wait},
		"a page of a proxy":                   {&errors.UnexpectedResponse{Status: 403}, outcome.Decide},
		"a proxy's limit":                     {&errors.UnexpectedResponse{Status: 429}, outcome.Pause},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, outcome.After(c.err)) })
	}
}

func conflict(details string) error {
	return errors.Decode(errors.Response{Status: 409, CallInfo: errors.CallInfo{Operation: "BookPayout"},
		Body: fmt.Appendf(nil, `{"error":{"code":"conflict","message":"No.","details":%s}}`, details)})
}

// A refusal names the operation, what is missing, and what to do about it.
func TestNilContextAndClientAreReported(t *testing.T) {
	require.NoError(t, outcome.RequireContext(t.Context(), "GetPayout"))
	var without context.Context
	refused, is := errors.AsType[*errors.InvalidInput](outcome.RequireContext(without, "GetPayout"))
	require.True(t, is)
	assert.Equal(t, "GetPayout", refused.Operation)
	assert.Equal(t, []errors.Field{outcome.NoContext()}, refused.Fields)
	assert.Equal(t, "context required", refused.Fields[0].Field+" "+refused.Fields[0].Code)
	assert.Contains(t, refused.Fields[0].Message, "context.Background()")

	client := outcome.NoClient("appapi.New")
	assert.Equal(t, "client not_made", client.Field+" "+client.Code)
	assert.Contains(t, client.Message, "appapi.New")
}
