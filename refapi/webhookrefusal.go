package refapi

import (
	"net/http"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
)

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

func (r *webhookRefusal) answer(w http.ResponseWriter, requestID string) {
	if r.detail != nil {
		answerJSON(w, r.status, map[string]any{"detail": r.detail})
		return
	}
	refused := map[string]any{"code": r.code, "message": r.message}
	if r.status >= http.StatusInternalServerError {
		refused["details"] = map[string]string{"requestId": requestID}
	}
	answerJSON(w, r.status, map[string]any{"error": refused})
}

func answerJSON(w http.ResponseWriter, status int, value any) {
	body, _ := codec.Marshal(value, codec.Deterministic()) // only strings, so it cannot fail
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(body)
}
