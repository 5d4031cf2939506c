package transport_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/transport"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// quietThing is a write whose result the description does not state.
var quietThing = transport.Operation{
	ID: "QuietThing", Method: http.MethodPost, Path: "/things/quiet", Repeat: transport.RepeatNever, Silent: true,
	Answer: &quietAnswer,
}

// quietAnswer is a thing that should have its id.
var quietAnswer = wire.Answer{Shape: &wire.Shape{Kind: wire.KindObject, Members: []wire.Member{
	{Name: "id", Shape: &wire.Text, Type: wire.Stated, Required: wire.Assumed},
	{Name: "status", Shape: &wire.Text, Type: wire.Assumed},
	{Name: "tags", Shape: &wire.Shape{Kind: wire.KindList, Item: &wire.Text}, Type: wire.Assumed},
}}}

// Any success of a silent write means that it was carried out. If the response shows the resource, it is used.
// Otherwise a read returns it.
func TestWhatASilentWriteShows(t *testing.T) {
	whole := thing{Status: "ready"}
	read := thing{ID: "th_read"}
	for name, tc := range map[string]struct {
		answer step
		shown  bool
		lost   bool // it is no success of the service's
	}{
		"the resource": {answers(200,
			`{"id":"th_1","status":"ready","amount":"0","fee":null,"note":"","tags":[]}`), true, false},
		"a part of it":           {answers(200, `{"id":"th_1","status":"ready"}`), true, false},
		"one without its id":     {answers(200, `{"status":"ready"}`), true, false},
		"one with odd members":   {answers(200, `{"id":"th_1","status":"ready","tags":7}`), true, false},
		"nothing":                {answers(204, ""), false, false},
		"spaces":                 {answers(200, " \n"), false, false},
		"an acknowledgement":     {answers(200, `{"ok":true}`), false, false},
		"a word":                 {answers(200, `"ok"`), false, false},
		"null":                   {answers(200, `null`), false, false},
		"a page":                 {page(200), false, true},
		"JSON of a proxy":        {answers(200, `{"ok":true}`, "Content-Type", "text/html"), false, true},
		"what is no JSON":        {answers(200, `{"id":`), false, true},
		"two values":             {answers(200, `{} {}`), false, true},
		"broken off":             {brokenAnswer, false, true},
		"a page without content": {answers(200, "", "Content-Type", "text/html"), false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				carry := func() transport.Shown[thing] {
					return transport.Carry[thing](t.Context(), newClient(t, host, through(script(tc.answer))),
						request(&quietThing, transport.Call{}))
				}
				value, err := carry().Value()
				if tc.lost {
					var unknown *errors.OutcomeUnknown
					require.ErrorAs(t, err, &unknown)
					assert.Nil(t, value)
					_, err = carry().Or(func(transport.Authorizer) (*thing, error) {
						t.Error("was read")
						return nil, nil
					})
					require.ErrorAs(t, err, &unknown)
					_, err = carry().OrZero()
					require.ErrorAs(t, err, &unknown)
					return
				}
				require.NoError(t, err)
				assert.Equal(t, tc.shown, value != nil)

				reads := 0
				value, err = carry().Or(func(transport.Authorizer) (*thing, error) { reads++; return &read, nil })
				require.NoError(t, err)
				assert.Equal(t, !tc.shown, reads == 1, "it is read where nothing is shown")
				if tc.shown {
					assert.Equal(t, whole.Status, value.Status)
				} else {
					assert.Equal(t, &read, value)
				}

				value, err = carry().Or(func(transport.Authorizer) (*thing, error) {
					return nil, errors.New("unreadable")
				})
				require.NoError(t, err, "the write was carried out")
				assert.Equal(t, tc.shown, value.Status != "")
				value, err = carry().OrZero()
				require.NoError(t, err)
				assert.Equal(t, tc.shown, value.Status != "")
			})
		})
	}
}

// A resource that a write does not show is read with the credential of the write: a newer one can belong to another
// account.
func TestAReadAfterAWriteHasItsCredential(t *testing.T) {
	svc := script(answers(204, ""), ok)
	client := newClient(t, host, through(svc), authorizedBy(bearing{"old", ""}))
	got, err := transport.Carry[thing](t.Context(), client, request(&quietThing, transport.Call{})).
		Or(func(auth transport.Authorizer) (*thing, error) {
			client.Use(bearing{"new", ""})
			return send(t.Context(), client, &readThing, transport.Call{Auth: auth})
		})
	require.NoError(t, err)
	assert.Equal(t, "th_1", got.ID)
	require.Len(t, svc.attempts(), 2)
	assert.Equal(t, "Bearer old", svc.attempts()[1].header.Get("Authorization"))
}
