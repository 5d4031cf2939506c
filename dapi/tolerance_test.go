package dapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"testing"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/signing"
)

// answering makes a client that has a session and gets this answer to all it asks.
func answering(t *testing.T, status int, answer string, options ...moneymovement.Option) *dapi.Integrator {
	t.Helper()
	mock := httpmock.NewMockTransport()
	mock.RegisterNoResponder(func(*http.Request) (*http.Response, error) {
		response := httpmock.NewStringResponse(status, answer)
		response.Header.Set("Content-Type", "application/json")
		return response, nil
	})
	key, err := signing.Generate()
	require.NoError(t, err)
	platform, err := dapi.NewIntegrator(baseURL, loggedIn(baseURL, key),
		append(options, moneymovement.WithHTTPClient(&http.Client{Transport: mock}))...)
	require.NoError(t, err)
	return platform
}

// open are members whose sets of values can grow.
var open = map[string]bool{"status": true, "type": true, "direction": true, "method": true}

// proof are members that an operation's answer is nothing without, besides the id and the items.
var proof = map[string]bool{
	"BookPayout.idempotencyKey": true, "PrepareEscrowAction.action": true, "CreateEscrow.idempotencyKey": true,
	"CreatePayinInstructions.requisites": true,
}

// A later version of the service may add members and values, and leave out what may be null.
func TestAnswersOfALaterVersionAreRead(t *testing.T) {
	for name, x := range exchanges {
		if x.answer == "" {
			continue
		}
		var described map[string]any
		require.NoError(t, json.Unmarshal([]byte(x.answer), &described))
		read := func(t *testing.T, answer map[string]any) map[string]any {
			t.Helper()
			text, err := json.Marshal(answer)
			require.NoError(t, err)
			value, err := x.call(t.Context(), answering(t, x.status, string(text)))
			require.NoError(t, err, "%s", text)
			written, err := json.Marshal(value)
			require.NoError(t, err)
			var got map[string]any
			require.NoError(t, json.Unmarshal(written, &got))
			return got
		}
		t.Run(name, func(t *testing.T) {
			later := maps.Clone(described)
			later["addedLater"] = map[string]any{"id": "x", "items": []any{1, nil}}
			for member := range described {
				if open[member] {
					later[member] = "of_a_later_version"
				}
			}
			got := read(t, later)
			for member := range described {
				assert.Equal(t, later[member], got[member], member)
			}
			for member := range described {
				if proof[name+"."+member] || member == "id" || member == "items" {
					continue // without it the answer is another: see TestAnotherAnswerIsNoSuccess
				}
				without := maps.Clone(described)
				without[member] = nil
				got := read(t, without)
				for other := range described {
					if other != member {
						assert.Equal(t, described[other], got[other], "%s without %s", other, member)
					}
				}
			}
		})
	}
}

// Everything optional in a contact may be null. What an answer holds beyond that is kept in its body.
// Rule: contact.answer
func TestAContactOfNulls(t *testing.T) {
	const text = `{"id":"7c9e6679","name":"","isExternal":true,"createdAt":"2026-01-02T03:04:05","email":null,"address":null,"bank":null,
		"crypto":null,"userId":null,"user":null,"labels":["a"]}`
	var answer moneymovement.Response
	contact, err := answering(t, 201, text).Self().Contacts.Create(t.Context(), dapi.ContactCreate{},
		moneymovement.CaptureResponse(&answer))
	require.NoError(t, err)
	assert.Equal(t, &dapi.Contact{ID: "7c9e6679", IsExternal: true, CreatedAt: contact.CreatedAt}, contact)
	assert.Equal(t, "2026-01-02T03:04:05Z", contact.CreatedAt.Format("2006-01-02T15:04:05Z07:00"))
	assert.JSONEq(t, text, string(answer.Body))
}

// An answer that is not the resource, such as one in an envelope of its own, is no resource without an id, and no empty
// ledger.
func TestAnotherAnswerIsNoSuccess(t *testing.T) {
	for name, x := range exchanges {
		var described map[string]any
		if x.answer != "" {
			require.NoError(t, json.Unmarshal([]byte(x.answer), &described))
		}
		if described["id"] == nil && described["items"] == nil || silent[name] {
			continue
		}
		for _, answer := range []string{`{}`, `{"data":` + x.answer + `}`,
			`{"error":{"code":"conflict","message":"No."}}`, `{"id":null}`} {
			_, err := x.call(t.Context(), answering(t, x.status, answer))
			if x.method != http.MethodGet {
				err = as[*errors.OutcomeUnknown](t, err).Cause
			}
			unexpected := as[*errors.UnexpectedResponse](t, err)
			assert.Equal(t, x.status, unexpected.Status, "%s: %s", name, answer)
			assert.ErrorContains(t, unexpected.Err, "the response has no i", name)
		}
	}
}
