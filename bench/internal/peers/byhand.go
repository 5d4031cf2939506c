package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// byHand is a client written by hand for any of these services.
type byHand struct {
	base   string
	client *http.Client
}

// refusal is the hand-written client's error. All of these services send a message, and most of them a code.
type refusal struct {
	Status  int    `json:"-"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("status %d: %s: %s", r.Status, r.Code, r.Message)
}

// fetch makes a request without a body, and decodes the response.
func fetch[T any](c byHand, method, path string) func(context.Context) (*T, error) {
	return func(ctx context.Context) (*T, error) {
		req, err := http.NewRequestWithContext(ctx, method, c.base+path, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Accept", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := c.client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode < 200 || resp.StatusCode > 299 {
			return nil, refusalOf(resp.StatusCode, body)
		}
		value := new(T)
		return value, json.Unmarshal(body, value)
	}
}

// token belongs to nobody.
const token = "token-of-nobody"

// refusalOf reads {"error":{...}}, or the same without the envelope.
func refusalOf(status int, body []byte) error {
	var envelope struct {
		Error *refusal `json:"error"`
		refusal
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return fmt.Errorf("status %d: %w", status, err)
	}
	refused := &envelope.refusal
	if envelope.Error != nil {
		refused = envelope.Error
	}
	refused.Status = status
	return refused
}
