package hand

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Refusal is what the service says when it refuses a call.
type Refusal struct {
	Status     int
	Code       string
	Message    string
	Details    Details
	RequestID  string
	RetryAfter time.Duration
}

// Details are the details of the refusals that this client knows.
type Details struct {
	RequestID string    `json:"requestId"`
	Blockers  []Blocker `json:"blockers"`
}

// Blocker is a reason why a contact cannot be paid.
type Blocker struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

// Error implements error.
func (r *Refusal) Error() string {
	return fmt.Sprintf("status %d: %s: %s", r.Status, r.Code, r.Message)
}

// refusal returns the error of a response.
func refusal(resp *http.Response, body []byte) error {
	var envelope struct {
		Error struct {
			Code    string  `json:"code"`
			Message string  `json:"message"`
			Details Details `json:"details"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return fmt.Errorf("status %d: %w", resp.StatusCode, err)
	}
	refused := &Refusal{
		Status: resp.StatusCode, Code: envelope.Error.Code, Message: envelope.Error.Message,
		Details: envelope.Error.Details, RequestID: resp.Header.Get("X-Request-Id"),
	}
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil {
		refused.RetryAfter = time.Duration(seconds) * time.Second
	}
	return refused
}
