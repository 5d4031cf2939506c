// Package inprocess connects a client with a handler in the same process, without a socket. A test in a synctest bubble
// needs that: one clock then moves the client and the handler.
package inprocess

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing/iotest"
	"time"
)

// Transport is an http.RoundTripper that passes each request to a handler in the same process. OnAnswer lets a test
// change the responses.
type Transport struct {
	Handler http.Handler
	Now     func() time.Time // for the Date of each response; nil sets no Date

	mu     sync.Mutex
	tamper func(*http.Request, *http.Response)
}

// RoundTrip implements http.RoundTripper. If the handler panics with http.ErrAbortHandler, the body of the response
// ends with an error where the handler stopped.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := readAll(r.Body)
	if err != nil {
		return nil, err
	}
	arrived := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), bytes.NewReader(body))
	for name, values := range r.Header {
		for _, value := range values {
			arrived.Header.Add(name, value)
		}
	}
	recorder := httptest.NewRecorder()
	whole := served(t.Handler, recorder, arrived)
	if !whole && recorder.Body.Len() == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	answer := recorder.Result()
	answer.Request = r
	if !whole {
		answer.Body = io.NopCloser(io.MultiReader(answer.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
	}
	if t.Now != nil {
		answer.Header.Set("Date", t.Now().Format(http.TimeFormat))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tamper != nil {
		t.tamper(r, answer)
	}
	return answer, nil
}

// OnAnswer sets a function that changes each response before the client sees it. It replaces the one set before; nil
// removes it.
func (t *Transport) OnAnswer(tamper func(*http.Request, *http.Response)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tamper = tamper
}

// SetBody replaces the body of a response.
func SetBody(answer *http.Response, body []byte) {
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Del("Content-Length")
}

// served calls the handler, and returns false if that closed the connection.
func served(handler http.Handler, recorder http.ResponseWriter, r *http.Request) (answered bool) {
	defer func() {
		if reason, aborted := recover().(error); aborted {
			if !errors.Is(reason, http.ErrAbortHandler) {
				panic(reason)
			}
			answered = false
		}
	}()
	handler.ServeHTTP(recorder, r)
	return true
}

func readAll(body io.ReadCloser) ([]byte, error) {
	if body == nil {
		return nil, nil
	}
	defer body.Close()
	return io.ReadAll(body)
}
