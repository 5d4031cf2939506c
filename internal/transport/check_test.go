package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// refusals returns the fields that a check refuses, with the code of each.
func refusals(t *testing.T, check func(*transport.Check)) (found []string) {
	t.Helper()
	err := transport.Validate("BookThing", check)
	if err == nil {
		return nil
	}
	input, ok := errors.AsType[*errors.InvalidInput](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, "BookThing", input.Operation)
	for _, field := range input.Fields {
		assert.NotEmpty(t, field.Message)
		found = append(found, field.Field+" "+field.Code)
	}
	return found
}

func TestSignsOfAmounts(t *testing.T) {
	amount := decimal.RequireFromString
	for text, want := range map[string]struct{ positive, notNegative []string }{
		"1": {nil, nil}, "0": {[]string{"amount missing"}, nil},
		"-1": {[]string{"amount too_small"}, []string{"amount too_small"}},
	} {
		assert.Equal(t, want.positive, refusals(t, func(c *transport.Check) { c.Positive("amount", amount(text)) }),
			text)
		assert.Equal(t, want.notNegative,
			refusals(t, func(c *transport.Check) { c.NotNegative("amount", amount(text)) }), text)
	}
}

func TestUUIDs(t *testing.T) {
	const uuid = "0193a5f2-7B1c-7f3e-9d2a-1234567890aB"
	for value, want := range map[string][]string{
		uuid: nil, uuid + "0": {"id pattern"}, "0" + uuid: {"id pattern"}, uuid[:35]: {"id pattern"},
		strings.ReplaceAll(uuid, "-", ""):  {"id pattern"},
		strings.Replace(uuid, "f", "g", 1): {"id pattern"},
	} {
		assert.Equal(t, want,
			refusals(t, func(c *transport.Check) { c.Text("id", value, transport.Rule{Pattern: transport.UUID}) }),
			value)
	}
}

func TestExactlyOneOfSeveral(t *testing.T) {
	for name, set := range map[string]map[string]bool{
		"none": {"b": false, "a": false}, "two": {"b": true, "a": true},
	} {
		assert.Equal(t, []string{"a|b exactly_one_of"}, refusals(t, func(c *transport.Check) { c.ExactlyOne(set) }),
			name)
	}
	assert.Nil(t, refusals(t, func(c *transport.Check) { c.ExactlyOne(map[string]bool{"b": true, "a": false}) }))
	assert.Nil(t,
		refusals(t, func(c *transport.Check) { c.ExactlyOne(map[string]bool{"a": false, "b": true, "c": false}) }))
	assert.Len(t,
		refusals(t, func(c *transport.Check) { c.ExactlyOne(map[string]bool{"a": true, "b": true, "c": false}) }), 1)
}

func TestProblemsOfANestedValue(t *testing.T) {
	assert.Equal(t, []string{"before missing", "account.bank.iban missing", "after missing"},
		refusals(t, func(c *transport.Check) {
			c.Missing("before", true)
			c.In("account", func(c *transport.Check) {
				c.In("bank", func(c *transport.Check) { c.Missing("iban", true) })
			})
			c.Missing("after", true)
			c.Missing("there", false)
		}))
	assert.Equal(t, []string{"account.iban missing"}, refusals(t, func(c *transport.Check) {
		c.In("account", func(c *transport.Check) { c.Missing("iban", true) })
	}))
}

// A key that a program uses for another payment is refused before it is sent, also the second time.
func TestAKeyOfOtherTermsIsNotSent(t *testing.T) {
	svc := script(ok)
	client := newClient(t, host, through(svc))
	op := bookThing
	op.Terms = []wire.Term{{Name: "name", Format: wire.TermText}}
	book := func(name string) error {
		r := transport.NewRequest(&op, "", transport.Keyed("invoice-42"))
		r.Body(map[string]string{"name": name}, nil)
		_, err := transport.Do[thing](t.Context(), client, r)
		return err
	}
	require.NoError(t, book("Bob"))
	for range 2 {
		var reused *errors.IdempotencyKeyReused
		require.ErrorAs(t, book("Rob"), &reused)
	}
	require.NoError(t, book("Bob"))
	assert.Len(t, svc.attempts(), 2)
}

// A key whose first terms were refused is free for other terms.
func TestAKeyThatNothingCameOfTakesOtherTerms(t *testing.T) {
	svc := script(refuses(422, errors.CodeValidationFailed), ok)
	client := newClient(t, host, through(svc))
	op := bookThing
	op.Terms = []wire.Term{{Name: "name", Format: wire.TermText}}
	for _, name := range []string{"Bob", "Rob"} {
		r := transport.NewRequest(&op, "", transport.Keyed("invoice-42"))
		r.Body(map[string]string{"name": name}, nil)
		_, _ = transport.Do[thing](t.Context(), client, r)
	}
	assert.Len(t, svc.attempts(), 2)
}

// An error of a call names the id in the call's path, or else the contact in its body.
func TestWhatACallWasAbout(t *testing.T) {
	type payout struct {
		Amount    string `json:"amount"`
		ContactID string `json:"contactId,omitempty"`
	}
	about := func(op *transport.Operation, body any) string {
		r := transport.NewRequest(op, "", transport.Keyed("invoice-42"))
		if op == &confirmThing {
			r.PathParam("thingId", "ct_1", idRule)
		}
		r.Body(body, nil)
		_, err := transport.Do[thing](t.Context(),
			newClient(t, host, through(script(refuses(403, errors.CodeForbidden)))), r)
		head, headed := errors.CallInfoOf(err)
		require.True(t, headed, "%v", err)
		return head.Resource
	}
	assert.Equal(t, "ct_9", about(&bookThing, payout{ContactID: "ct_9"}))
	assert.Equal(t, "ct_9", about(&bookThing, &payout{ContactID: "ct_9"}))
	assert.Equal(t, "ct_1", about(&confirmThing, payout{ContactID: "ct_9"}))
	assert.Equal(t, "ct_9", about(&bookThing, struct {
		ContactID string `json:"contactId"`
	}{"ct_9"}))
	assert.Empty(t, about(&bookThing, payout{Amount: "1"}))
	assert.Empty(t, about(&bookThing, map[string]string{"contactId": "ct_9"}))
}

// An error that a surface creates itself knows whether the operation may be repeated.
func TestHeadOfAnOperation(t *testing.T) {
	for op, retryable := range map[*transport.Operation]bool{&bookThing: true, &confirmThing: true,
		&spendThing: false} {
		unknown := &errors.OutcomeUnknown{CallInfo: op.Head("invoice-42")}
		assert.Equal(t, retryable, unknown.Retryable(), op.ID)
		assert.Equal(t, op.ID, unknown.Operation)
		assert.Equal(t, "invoice-42", unknown.IdempotencyKey)
		assert.Equal(t, errors.MaybeMoved, unknown.MovedByCall())
	}
	page := &errors.UnexpectedResponse{CallInfo: readThing.Head(""), Status: http.StatusBadGateway}
	assert.True(t, page.Retryable())
	assert.Equal(t, errors.NotMoved, page.MovedByCall())
}
