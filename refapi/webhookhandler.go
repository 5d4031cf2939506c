package refapi

import (
	"bytes"
	"context"
	"io"
	"mime"
	"net/http"

	"github.com/google/uuid"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/jsonv2"
)

// WebhookDelivery is a partner's request as it came, for what a deployment has agreed on with that partner, such as a
// signature.
type WebhookDelivery struct {
	Method string
	Host   string // from the Host header
	Path   string // with the query, as it was sent
	Header http.Header
	Body   []byte // exactly the bytes received
}

// WebhookHandler receives a partner's webhook: it takes POST with a JSON body of bounded size, reads the event, and
// hands it on.
//
//	mux.Handle("POST /api/v1/webhook/acme", &refapi.WebhookHandler{Handle: func(ctx context.Context, event refapi.WebhookEvent) error {
//		return queue.Put(ctx, event.EventType, event.EntityID)
//	}})
//
// It answers 200 {"ok":true} when Handle is done, and 500 when Handle fails, so that the sender tries again; the error
// itself stays here. A panic of Handle is net/http's: it breaks the connection off, and the sender tries again, too.
// What is no event is refused before: 405 another method, 415 another content type, 413 too large, 401 what Verify
// refuses, 422 with the failures in the shape of the reference endpoints.
//
// The description states the path, the body and the answer of a partner's webhook. It states no signature, no secret
// and no other proof of who sent it, so that without Verify anybody who reaches the handler can send events. Check
// there what a deployment has agreed on with its partner, or put in front of the handler what knows the partner, such
// as an allowlist of addresses or mutual TLS. The handler can meet the same event twice, for a sender that lost the
// answer sends again.
//
// No event reaches an integrator's backend by the description: partners report to the service, and how the service
// would call an integrator, with what names, signature or retries, is not shown. Progress is read: see dapi's Wait
// methods and [Quotes.Wait]. This handler is for who runs the receiving end, or for a deployment that agreed on more.
//
// It is safe for concurrent use if Handle, Verify and OnError are. Its fields are not to be changed while it serves.
//
// Source: Events.
type WebhookHandler struct {
	// Handle takes an event. Its context ends when the sender goes away. Nil takes none: every event is answered 503.
	Handle func(ctx context.Context, event WebhookEvent) error
	// Verify judges a delivery before anything in its body is read as JSON. It gets a copy of the body, and has to
	// compare in constant time, as hmac.Equal does. An error is answered 401 without the reason, which OnError is told.
	// Nil lets every delivery pass.
	Verify func(ctx context.Context, delivery WebhookDelivery) error
	// MaxBody bounds the body in bytes; zero is 1 MiB.
	MaxBody int64
	// OnError is told why an event was not taken, with the request id that the sender got: Handle's or Verify's error,
	// or what was wrong with the request. Nil tells nobody.
	OnError func(r *http.Request, requestID string, err error)
}

// defaultMaxBody is far more than an event needs: its content is an object of a few fields.
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
		answerJSON(w, http.StatusOK, webhookAcknowledgement{OK: new(true)})
		return
	}
	if h.OnError != nil {
		h.OnError(r, requestID, refusal.cause)
	}
	refusal.answer(w, requestID)
}

// receive reads the event out of a request.
func (h *WebhookHandler) receive(w http.ResponseWriter, r *http.Request) (event WebhookEvent, refusal *webhookRefusal) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return event, refuse(http.StatusMethodNotAllowed, errors.CodeMethodNotAllowed, "webhooks are posted")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return event, refuse(http.StatusUnsupportedMediaType, errors.CodeInvalidRequest,
			"content type must be application/json")
	}
	most := h.MaxBody
	if most <= 0 {
		most = defaultMaxBody
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return event, refuse(http.StatusRequestEntityTooLarge, errors.CodePayloadTooLarge, "body is too large")
	}
	if err != nil {
		return event, refuse(http.StatusBadRequest, errors.CodeInvalidRequest, "body broke off").because(err)
	}
	if h.Verify != nil {
		delivery := WebhookDelivery{Method: r.Method, Host: r.Host, Path: r.RequestURI, Header: r.Header,
			Body: bytes.Clone(body)}
		if err := h.Verify(r.Context(), delivery); err != nil {
			return event, refuse(http.StatusUnauthorized, errors.CodeUnauthenticated, "delivery is not accepted").
				because(err)
		}
	}
	return event, event.read(body)
}

// hand passes the event to its handler.
func (h *WebhookHandler) hand(ctx context.Context, event WebhookEvent) *webhookRefusal {
	if h.Handle == nil {
		return refuse(http.StatusServiceUnavailable, errors.CodeProviderUnavailable, "no events are taken")
	}
	if err := h.Handle(ctx, event); err != nil {
		return refuse(http.StatusInternalServerError, errors.CodeInternalError, "event was not handled").because(err)
	}
	return nil
}

// read reads strictly what is stated, and lets more fields than these pass: partners may add some.
func (e *WebhookEvent) read(body []byte) *webhookRefusal {
	if err := jsonv2.Unmarshal(body, e); err != nil {
		return unreadable(err)
	}
	var missing []validationErrorItem
	for _, field := range []struct{ name, value string }{
		{"eventType", e.EventType}, {"entityId", e.EntityID}, {"entityType", e.EntityType}, {"createdAt", e.CreatedAt},
	} {
		if field.value == "" {
			missing = append(missing, validationErrorItem{Loc: []string{"body", field.name}, Msg: "is required",
				Type: "missing"})
		}
	}
	if missing != nil {
		return invalid(missing, nil)
	}
	return nil
}
