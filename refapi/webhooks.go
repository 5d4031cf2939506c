package refapi

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// Webhooks sends a partner's events to the service. To receive such events, use [WebhookHandler]. The description shows
// no event that the service sends to an integrator.
type Webhooks struct{ low lowLevel }

// Send reports an event as a partner. partner is the partner's name in the path of the webhook. ok is the value in the
// response; it is true if the response does not have it. The description does not say whether the service recognises a
// repeated event, so Send is never sent twice. If its response is lost, it fails with *errors.InDoubt.
func (s *Webhooks) Send(
	ctx context.Context, partner string, event WebhookEvent, options ...moneymovement.CallOption,
) (ok bool, err error) {
	taken, err := transport.OrNew(s).low.ReceiveWebhook(ctx, partner, &event, options).ValueOrZero()
	if err != nil {
		return false, err
	}
	return taken.OK == nil || *taken.OK, nil
}

// WebhookDelivery is a partner's request as it arrived, for [WebhookHandler].Verify.
type WebhookDelivery struct {
	Method string
	Host   string // from the Host header
	Path   string // with the query, exactly as sent
	Header http.Header
	Body   []byte // the bytes as received
}

// WebhookHandler is an http.Handler that receives a partner's webhook. It accepts a POST with a JSON body of limited
// size, reads the event, and passes it to Handle.
//
//	mux.Handle("POST /api/v1/webhook/acme", &refapi.WebhookHandler{
//		Handle: func(ctx context.Context, event refapi.WebhookEvent) error {
//			return queue.Put(ctx, event.EventType, event.EntityID)
//		},
//	})
//
// It responds with 200 and {"ok":true} after Handle returns nil. If Handle returns an error, it responds with 500, and
// the partner can send the event again. The text of the error is not sent. If Handle panics, net/http closes the
// connection, and the partner gets no response.
//
// Other requests never reach Handle: another method is refused with 405, another content type with 415, a body that is
// too large with 413, a delivery that Verify refuses with 401. A body that is not an event is refused with 422 and a
// list of the wrong fields, in the form of the reference endpoints.
//
// The description states the path, the body and the response of a partner's webhook. It states no signature and no
// other proof of the sender. Without Verify, everybody who can reach the handler can send events. Check in Verify the
// proof that you agreed on with the partner, or put a check of the sender in front of the handler, such as an allowlist
// of addresses or mutual TLS. The same event can arrive twice, for example if the partner did not receive the response.
//
// The description shows no event that the service sends to an integrator. To follow a payment, poll its status with
// [Quotes.Wait] or with the Wait methods of package dapi. Use this handler if you run an endpoint that partners send
// events to.
//
// The handler is safe for concurrent use if Handle, Verify and OnError are. Do not change its fields while it serves.
type WebhookHandler struct {
	// Handle processes an event. Its context ends when the sender closes the connection. If Handle is nil, every event
	// is refused with 503.
	Handle func(ctx context.Context, event WebhookEvent) error
	// Verify checks a delivery before its body is read as JSON. It gets a copy of the body. It must compare signatures
	// in constant time, as hmac.Equal does. If it returns an error, the delivery is refused with 401. The error goes to
	// OnError and not to the sender. If Verify is nil, every delivery is accepted.
	Verify func(ctx context.Context, delivery WebhookDelivery) error
	// MaxBody is the largest body in bytes. Zero or less means 1 MiB.
	MaxBody int64
	// OnError is called for each request that is refused, with the request id that the sender received. err is the
	// error of Handle or Verify, or says what is wrong with the request. OnError may be nil.
	OnError func(r *http.Request, requestID string, err error)
}

// defaultMaxBody is far more than an event of a few fields needs.
const defaultMaxBody = 1 << 20

// ServeHTTP implements http.Handler.
func (h *WebhookHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	requestID := uuid.NewString()
	w.Header().Set("X-Request-ID", requestID)
	event, refusal := h.receive(w, r)
	if refusal == nil {
		refusal = h.hand(r.Context(), event)
	}
	if refusal == nil {
		writeJSON(w, http.StatusOK, webhookAcknowledgement{OK: new(true)})
		return
	}
	if h.OnError != nil {
		h.OnError(r, requestID, refusal.cause)
	}
	refusal.write(w, requestID)
}

// receive reads the event of a request.
func (h *WebhookHandler) receive(w http.ResponseWriter, r *http.Request) (event WebhookEvent, refusal *webhookRefusal) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return event, refuse(http.StatusMethodNotAllowed, errors.CodeMethodNotAllowed, "send a webhook with POST")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return event, refuse(http.StatusUnsupportedMediaType, errors.CodeInvalidRequest,
			"the content type must be application/json")
	}
	most := h.MaxBody
	if most <= 0 {
		most = defaultMaxBody
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return event, refuse(http.StatusRequestEntityTooLarge, errors.CodePayloadTooLarge, "the body is too large")
	}
	if err != nil {
		return event, refuse(http.StatusBadRequest, errors.CodeInvalidRequest, "the body ended early; send it again").
			because(err)
	}
	if h.Verify != nil {
		delivery := WebhookDelivery{Method: r.Method, Host: r.Host, Path: r.RequestURI, Header: r.Header,
			Body: bytes.Clone(body)}
		if err := h.Verify(r.Context(), delivery); err != nil {
			return event, refuse(http.StatusUnauthorized, errors.CodeUnauthenticated, "the delivery was not verified").
				because(err)
		}
	}
	return event, event.read(body)
}

// hand passes the event to Handle.
func (h *WebhookHandler) hand(ctx context.Context, event WebhookEvent) *webhookRefusal {
	if h.Handle == nil {
		return refuse(http.StatusServiceUnavailable, errors.CodeProviderUnavailable,
			"this endpoint does not accept events; send it later")
	}
	if err := h.Handle(ctx, event); err != nil {
		return refuse(http.StatusInternalServerError, errors.CodeInternalError,
			"the event was not processed; send it again").because(err)
	}
	return nil
}

// read requires the stated fields, and accepts others: a partner may add some.
func (e *WebhookEvent) read(body []byte) *webhookRefusal {
	body, _ = codec.ReplaceInvalidText(body) // a text that is cut in the middle of a character costs only that text
	if err := codec.Unmarshal(body, e); err != nil {
		return unreadable(err)
	}
	var missing []validationErrorItem
	for _, field := range []struct{ name, value string }{
		{"eventType", e.EventType}, {"entityId", e.EntityID}, {"entityType", e.EntityType}, {"createdAt", e.CreatedAt},
	} {
		if field.value == "" || strings.ContainsRune(field.value, utf8.RuneError) {
			missing = append(missing, validationErrorItem{Loc: []string{"body", field.name}, Msg: "is required",
				Type: "missing"})
		}
	}
	if missing != nil {
		return invalid(missing, nil)
	}
	return nil
}

// webhookRefusal is the response to a webhook that was not accepted. It has one of the two forms in which the service
// itself refuses.
type webhookRefusal struct {
	status  int
	code    errors.Code           // of the envelope
	message string                // of the envelope
	detail  []validationErrorItem // of a failed validation, which has this form in place of the envelope
	cause   error                 // for OnError, not for the sender
}

func refuse(status int, code errors.Code, message string) *webhookRefusal {
	return &webhookRefusal{status: status, code: code, message: message, cause: errors.New(message)}
}

func (r *webhookRefusal) because(cause error) *webhookRefusal {
	r.cause = cause
	return r
}

// invalid is a failed validation. Without a cause, its error lists the wrong fields.
func invalid(detail []validationErrorItem, cause error) *webhookRefusal {
	if cause == nil {
		in := &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: "ReceiveWebhook"}}
		for _, item := range detail {
			in.Fields = append(in.Fields, errors.Field{Field: item.Loc[len(item.Loc)-1], Code: item.Type,
				Message: item.Msg})
		}
		cause = in
	}
	return &webhookRefusal{status: http.StatusUnprocessableEntity, detail: detail, cause: cause}
}

// unreadable says where a body is not JSON, or not the JSON of an event. The JSON library's own text is for OnError
// only: it can quote the body.
func unreadable(err error) *webhookRefusal {
	item := validationErrorItem{Loc: []string{"body"}, Msg: "is not a JSON object", Type: "json_invalid"}
	if wrong, ok := errors.AsType[*codec.SemanticError](err); ok {
		item.Msg, item.Type = "has the wrong type", "type_error"
		item.Loc = append(item.Loc, steps(wrong.JSONPointer)...)
	}
	return invalid([]validationErrorItem{item}, err)
}

func steps(pointer codec.Pointer) (loc []string) {
	for step := range pointer.Tokens() {
		loc = append(loc, step)
	}
	return loc
}

func (r *webhookRefusal) write(w http.ResponseWriter, requestID string) {
	if r.detail != nil {
		writeJSON(w, r.status, map[string]any{"detail": r.detail})
		return
	}
	refused := map[string]any{"code": r.code, "message": r.message}
	if r.status >= http.StatusInternalServerError {
		refused["details"] = map[string]string{"requestId": requestID}
	}
	writeJSON(w, r.status, map[string]any{"error": refused})
}

func writeJSON(w http.ResponseWriter, status int, value any) {
	body, _ := codec.Marshal(value, codec.Deterministic()) // only strings, so it cannot fail
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}
