package refapi_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/model"
	"github.com/moneymovement/moneymovement-go/refapi"
)

const eventJSON = `{"eventType":"kyc.approved","entityId":"u_1","entityType":"user","createdAt":"2026-01-02T03:04:05Z",` +
	`"eventPayload":{"amount":0.10000000000000000001},"aFieldOfTomorrow":1}`

// post gives a body to a handler, as a partner does.
func post(t *testing.T, handler http.Handler, method, contentType string, body io.Reader) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/api/v1/webhook/acme?attempt=2", body)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func TestAnEventIsHandedOnAndAcknowledged(t *testing.T) {
	var events []refapi.WebhookEvent
	handler := &refapi.WebhookHandler{
		Handle: func(_ context.Context, event refapi.WebhookEvent) error {
			events = append(events, event)
			return nil
		},
		OnError: func(_ *http.Request, _ string, err error) { t.Error(err) },
	}
	for _, contentType := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON"} {
		w := post(t, handler, "POST", contentType, strings.NewReader(eventJSON))
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
		assert.NotEmpty(t, w.Header().Get("X-Request-ID"))
		assert.JSONEq(t, `{"ok":true}`, w.Body.String())
	}
	require.Len(t, events, 3)
	amount := events[0].EventPayload["amount"].(model.Number)
	assert.Equal(t, "0.10000000000000000001", amount.String())
	events[0].EventPayload = nil
	assert.Equal(t, refapi.WebhookEvent{EventType: "kyc.approved", EntityID: "u_1", EntityType: "user",
		CreatedAt: "2026-01-02T03:04:05Z"}, events[0])
}

// A payload is often text that was cut to a length, in the middle of a character too.
func TestEventWithInvalidText(t *testing.T) {
	var note any
	handler := &refapi.WebhookHandler{Handle: func(_ context.Context, event refapi.WebhookEvent) error {
		note = event.EventPayload["note"]
		return nil
	}}
	for text, want := range map[string]string{`Bob \ud83d`: "Bob \ufffd", "Bo\xffb": "Bo\ufffdb", "Bo\tb": "Bo\tb"} {
		body := `{"eventType":"a","entityId":"b","entityType":"c","createdAt":"d","eventPayload":{"note":"` + text + `"}}`
		require.Equal(t, http.StatusOK, post(t, handler, "POST", "application/json", strings.NewReader(body)).Code)
		assert.Equal(t, want, note)
		body = `{"eventType":"a","entityId":"` + text + `","entityType":"c","createdAt":"d"}`
		if strings.Contains(want, "\ufffd") {
			w := post(t, handler, "POST", "application/json", strings.NewReader(body))
			require.Equal(t, http.StatusUnprocessableEntity, w.Code, "an id of which a part is lost is no id")
			assert.Contains(t, w.Body.String(), "entityId")
		}
	}
}

func TestMalformedEventsAreRefused(t *testing.T) {
	long := `{"eventType":"` + strings.Repeat("a", 1<<20) + `"}`
	for name, test := range map[string]struct {
		method, contentType string
		body                io.Reader
		status              int
		response            string
	}{
		"a read": {"GET", "application/json", strings.NewReader(eventJSON), 405,
			`{"error":{"code":"method_not_allowed","message":"send a webhook with POST"}}`},
		"a put": {"PUT", "application/json", strings.NewReader(eventJSON), 405,
			`{"error":{"code":"method_not_allowed","message":"send a webhook with POST"}}`},
		"a form": {"POST", "application/x-www-form-urlencoded", strings.NewReader("a=b"), 415,
			`{"error":{"code":"invalid_request","message":"the content type must be application/json"}}`},
		"no type": {"POST", "", strings.NewReader(eventJSON), 415,
			`{"error":{"code":"invalid_request","message":"the content type must be application/json"}}`},
		"a type of no meaning": {"POST", "application/json; charset", strings.NewReader(eventJSON), 415,
			`{"error":{"code":"invalid_request","message":"the content type must be application/json"}}`},
		"too large": {"POST", "application/json", strings.NewReader(long), 413,
			`{"error":{"code":"payload_too_large","message":"the body is too large"}}`},
		"broken off": {"POST", "application/json",
			io.MultiReader(strings.NewReader(`{"eve`), iotest.ErrReader(io.ErrUnexpectedEOF)), 400,
			`{"error":{"code":"invalid_request","message":"the body ended early; send it again"}}`},
		"nothing": {"POST", "application/json", strings.NewReader(""), 422,
			`{"detail":[{"loc":["body"],"msg":"is not a JSON object","type":"json_invalid"}]}`},
		"no JSON": {"POST", "application/json", strings.NewReader("<event/>"), 422,
			`{"detail":[{"loc":["body"],"msg":"is not a JSON object","type":"json_invalid"}]}`},
		"two values": {"POST", "application/json", strings.NewReader(eventJSON + eventJSON), 422,
			`{"detail":[{"loc":["body"],"msg":"is not a JSON object","type":"json_invalid"}]}`},
		"a field twice": {"POST", "application/json", strings.NewReader(`{"eventType":"a","eventType":"b"}`),
			422, `{"detail":[{"loc":["body"],"msg":"is not a JSON object","type":"json_invalid"}]}`},
		"a list": {"POST", "application/json", strings.NewReader(`[]`), 422,
			`{"detail":[{"loc":["body"],"msg":"has the wrong type","type":"type_error"}]}`},
		"a number for a text": {"POST", "application/json", strings.NewReader(`{"entityId":7}`), 422,
			`{"detail":[{"loc":["body","entityId"],"msg":"has the wrong type","type":"type_error"}]}`},
		"a payload of text": {"POST", "application/json", strings.NewReader(`{"eventPayload":"x"}`), 422,
			`{"detail":[{"loc":["body","eventPayload"],"msg":"has the wrong type","type":"type_error"}]}`},
		"fields missing": {"POST", "application/json",
			strings.NewReader(`{"eventType":"t","entityType":"","EntityId":"wrong case","createdAt":"now"}`), 422,
			`{"detail":[{"loc":["body","entityId"],"msg":"is required","type":"missing"},` +
				`{"loc":["body","entityType"],"msg":"is required","type":"missing"}]}`},
		"null": {"POST", "application/json", strings.NewReader(`null`), 422,
			`{"detail":[{"loc":["body","eventType"],"msg":"is required","type":"missing"},` +
				`{"loc":["body","entityId"],"msg":"is required","type":"missing"},` +
				`{"loc":["body","entityType"],"msg":"is required","type":"missing"},` +
				`{"loc":["body","createdAt"],"msg":"is required","type":"missing"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var told error
			w := post(t, &refapi.WebhookHandler{
				Handle:  func(context.Context, refapi.WebhookEvent) error { t.Error("was handed on"); return nil },
				OnError: func(_ *http.Request, _ string, err error) { told = err },
			}, test.method, test.contentType, test.body)
			assert.Equal(t, test.status, w.Code)
			assert.JSONEq(t, test.response, w.Body.String())
			assert.Equal(t, "application/json", w.Header().Get("Content-Type"))
			require.Error(t, told)
			if w.Code == http.StatusMethodNotAllowed {
				assert.Equal(t, "POST", w.Header().Get("Allow"))
			}
		})
	}
}

func TestMaxBodyIsConfigurable(t *testing.T) {
	handler := &refapi.WebhookHandler{Handle: func(context.Context, refapi.WebhookEvent) error {
		return nil
	}, MaxBody: int64(len(eventJSON))}
	assert.Equal(t, http.StatusOK, post(t, handler, "POST", "application/json", strings.NewReader(eventJSON)).Code)
	assert.Equal(t, http.StatusRequestEntityTooLarge,
		post(t, handler, "POST", "application/json", strings.NewReader(eventJSON+" ")).Code)
	handler.MaxBody = 1
	assert.Equal(t, http.StatusRequestEntityTooLarge,
		post(t, handler, "POST", "application/json", strings.NewReader(eventJSON)).Code)
	handler.MaxBody = 0
	room := strings.Repeat(" ", 1<<20-len(eventJSON))
	assert.Equal(t, http.StatusOK, post(t, handler, "POST", "application/json", strings.NewReader(eventJSON+room)).Code,
		"a mebibyte")
	assert.Equal(t, http.StatusRequestEntityTooLarge,
		post(t, handler, "POST", "application/json", strings.NewReader(eventJSON+room+" ")).Code)
}

// The receiver learns what was wrong with an event, field by field.
func TestRefusedEventsAreReported(t *testing.T) {
	var told error
	handler := &refapi.WebhookHandler{OnError: func(_ *http.Request, _ string, err error) { told = err }}
	post(t, handler, "POST", "application/json", strings.NewReader(`{"eventType":"t","createdAt":"now"}`))
	input, ok := errors.AsType[*errors.InvalidInput](told)
	require.True(t, ok, "%v", told)
	assert.Equal(t, "ReceiveWebhook", input.Operation)
	assert.Equal(t, []errors.Field{
		{Field: "entityId", Code: "missing", Message: "is required"},
		{Field: "entityType", Code: "missing", Message: "is required"},
	}, input.Fields)
}

func TestFailingHandlerMakesTheSenderRetry(t *testing.T) {
	for name, test := range map[string]struct {
		handle func(context.Context, refapi.WebhookEvent) error
		status int
		code   string
	}{
		"it fails": {func(context.Context, refapi.WebhookEvent) error {
			return errors.New("the database at 10.0.0.7 is gone")
		}, 500, "internal_error"},
		"nobody has come up": {nil, 503, "provider_unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			told, toldID := error(nil), ""
			w := post(t,
				&refapi.WebhookHandler{Handle: test.handle, OnError: func(_ *http.Request, id string, err error) {
					told, toldID = err, id
				}},
				"POST", "application/json", strings.NewReader(eventJSON))
			assert.Equal(t, test.status, w.Code)
			require.Error(t, told)
			var refused struct {
				Error struct {
					Code    string
					Details struct{ RequestID string }
				}
			}
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &refused))
			assert.Equal(t, test.code, refused.Error.Code)
			assert.Equal(t, toldID, refused.Error.Details.RequestID)
			assert.Equal(t, toldID, w.Header().Get("X-Request-ID"))
			assert.NotContains(t, w.Body.String(), "10.0.0.7", "the cause is not for the sender")
		})
	}
}

// TestSendAndReceive: the two ends understand each other, in success and in refusal.
func TestSendAndReceive(t *testing.T) {
	var fail error
	var received refapi.WebhookEvent
	server := httptest.NewServer(&refapi.WebhookHandler{Handle: func(_ context.Context,
		event refapi.WebhookEvent) error {
		received = event
		return fail
	}, MaxBody: 1000})
	t.Cleanup(server.Close)
	client, err := refapi.New(server.URL, refapi.Credential{AccessToken: refapi.NewAccessToken("t")})
	require.NoError(t, err)
	event := refapi.WebhookEvent{EventType: "t", EntityID: "e", EntityType: "u", CreatedAt: "now",
		EventPayload: model.OpenObject{"a": "b"}}

	ok, err := client.Webhooks.Send(t.Context(), "acme", event)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.Equal(t, event, received)

	fail = errors.New("no")
	ok, err = client.Webhooks.Send(t.Context(), "acme", event)
	assert.False(t, ok)
	var internal *errors.InternalError
	require.ErrorAs(t, err, &internal)
	assert.NotEmpty(t, internal.RequestID)

	event.EventPayload["a"] = strings.Repeat("b", 1000)
	_, err = client.Webhooks.Send(t.Context(), "acme", event)
	assert.True(t, is[*errors.PayloadTooLarge](err), "%v", err)
}

// FuzzWebhookHandler: whatever comes, the handler responds JSON with a status of its list, and hands on complete events
// only.
func FuzzWebhookHandler(f *testing.F) {
	for _, body := range []string{eventJSON, `{}`, `null`, `[]`, `{"eventType":1e999999999}`,
		`{"eventPayload":{"a":1e999999999,"b":[-0,1.50]}}`, "{\"\xff\":1}", `{"eventType":"\ud800"}`, `{"a":`,
		strings.Repeat("[", 20000)} {
		f.Add("POST", "application/json", body)
	}
	f.Add("GET", "text/html", "")
	f.Add("", "application/json;", "x")
	f.Fuzz(func(t *testing.T, method, contentType, body string) {
		handed := 0
		handler := &refapi.WebhookHandler{MaxBody: 4096,
			Handle: func(_ context.Context, event refapi.WebhookEvent) error {
				handed++
				if event.EventType == "" || event.EntityID == "" || event.EntityType == "" || event.CreatedAt == "" {
					t.Errorf("incomplete: %+v", event)
				}
				if _, err := json.Marshal(event); err != nil {
					t.Errorf("cannot be written again: %v", err)
				}
				return nil
			}}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, &http.Request{Method: method, Header: http.Header{"Content-Type": {contentType}},
			Body: io.NopCloser(strings.NewReader(body))})

		if (w.Code == http.StatusOK) != (handed == 1) || handed > 1 {
			t.Errorf("%d with %d events handed on", w.Code, handed)
		}
		switch w.Code {
		case 200, 405, 413, 415, 422:
		default:
			t.Errorf("answered %d", w.Code)
		}
		if len(body) > 4096 && w.Code == http.StatusOK {
			t.Error("took more than the bound")
		}
		if !json.Valid(w.Body.Bytes()) {
			t.Errorf("answered no JSON: %q", w.Body)
		}
	})
}

// What a deployment's partner signs is checked on the very bytes that came, before they are read.
func TestADeliveryIsVerifiedBeforeItIsRead(t *testing.T) {
	const odd = "\xef\xbb\xbf {\"eventType\" :\"a\\u0062\", \"x\":\"\xff\"}\r\n\n"
	for name, test := range map[string]struct {
		body     string
		verify   error
		status   int
		response string
	}{
		"accepted": {eventJSON, nil, 200, `{"ok":true}`},
		"accepted, and garbage": {odd, nil, 422,
			`{"detail":[{"loc":["body"],"msg":"is not a JSON object","type":"json_invalid"}]}`},
		"refused": {eventJSON, errors.New("the signature is of another key"), 401,
			`{"error":{"code":"unauthenticated","message":"the delivery was not verified"}}`},
		"refused, and garbage": {odd, errors.New("no signature"), 401,
			`{"error":{"code":"unauthenticated","message":"the delivery was not verified"}}`},
		"refused, and empty": {"", errors.New("no signature"), 401,
			`{"error":{"code":"unauthenticated","message":"the delivery was not verified"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var told error
			verified, handled := 0, 0
			handler := &refapi.WebhookHandler{
				Verify: func(_ context.Context, delivery refapi.WebhookDelivery) error {
					verified++
					assert.Equal(t, test.body, string(delivery.Body))
					assert.Equal(t, "application/json", delivery.Header.Get("Content-Type"))
					assert.Equal(t, "POST example.com /api/v1/webhook/acme?attempt=2",
						delivery.Method+" "+delivery.Host+" "+delivery.Path)
					clear(delivery.Body) // which changes nothing of what is read
					return test.verify
				},
				Handle: func(_ context.Context, event refapi.WebhookEvent) error {
					handled++
					assert.Equal(t, "kyc.approved", event.EventType)
					return nil
				},
				OnError: func(_ *http.Request, _ string, err error) { told = err },
			}
			w := post(t, handler, "POST", "application/json", strings.NewReader(test.body))
			assert.Equal(t, test.status, w.Code)
			assert.JSONEq(t, test.response, w.Body.String())
			assert.Equal(t, 1, verified)
			if test.verify != nil {
				require.ErrorIs(t, told, test.verify)
			}
			assert.Equal(t, test.status == 200, handled == 1)
		})
	}
}

func TestALargeDeliveryIsNotVerified(t *testing.T) {
	handler := &refapi.WebhookHandler{MaxBody: 10, Verify: func(context.Context, refapi.WebhookDelivery) error {
		t.Error("was verified")
		return nil
	}}
	assert.Equal(t, http.StatusRequestEntityTooLarge,
		post(t, handler, "POST", "application/json", strings.NewReader(eventJSON)).Code)
}
