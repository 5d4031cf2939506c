package transport_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// A call without a context sends nothing.
func TestACallWithoutAContext(t *testing.T) {
	var without context.Context
	svc := script(ok)
	_, err := send(without, newClient(t, host, through(svc)), &readThing, transport.Call{})
	refused(t, err, "context", "required")
	assert.Empty(t, svc.attempts())
}

// A flow without a context or a client fails before it begins, and names both at once.
func TestWhatAFlowCannotBeginWithout(t *testing.T) {
	var without context.Context
	client := newClient(t, host, through(script(ok)))
	require.NoError(t, transport.Ready(t.Context(), client, &readThing, "New"))
	refused(t, transport.Ready(without, client, &readThing, "New"), "context", "required")
	refused(t, transport.Ready(t.Context(), nil, &readThing, "New"), "client", "not_made")
	err := transport.Ready(without, nil, &readThing, "appapi.New")
	refused(t, err, "context", "required", "client", "not_made")
	require.ErrorContains(t, err, "GetThing")
	require.ErrorContains(t, err, "appapi.New")
}

func TestAClientThatNobodyMade(t *testing.T) {
	assert.Equal(t, []string{"client not_made"}, refusals(t, func(c *transport.Check) { c.Made(nil, "New") }))
	assert.Nil(t, refusals(t, func(c *transport.Check) { c.Made(newClient(t, host), "New") }))
}

// A call acts for its client's own account, with its options. Without a client it is refused.
func TestARequestOfAClient(t *testing.T) {
	svc := script(ok)
	client := newClient(t, host, through(svc))
	list := transport.Operation{ID: "ListThings", Method: http.MethodGet, Path: "/things"}
	var kept moneymovement.Response
	_, err := transport.Do[thing](t.Context(), client,
		transport.RequestOf(client, "New", &list, transport.Kept(&kept)))
	require.NoError(t, err)
	require.Len(t, svc.attempts(), 1)
	assert.Equal(t, "/v1/things", svc.attempts()[0].uri)
	assert.Empty(t, svc.attempts()[0].header["X-Service-Account"])
	assert.Equal(t, http.StatusOK, kept.Status)

	_, err = transport.Do[thing](t.Context(), nil,
		transport.RequestOf(nil, "appapi.New", &list, transport.Kept(&kept)))
	refused(t, err, "client", "not_made")
	require.ErrorContains(t, err, "appapi.New")
}

// The calls of a service that no constructor made are refused, and do not panic.
func TestAServiceThatNobodyMade(t *testing.T) {
	made := &thing{ID: "th_1"}
	assert.Same(t, made, transport.Of(made))
	assert.Equal(t, &thing{}, transport.Of[thing](nil))
}
