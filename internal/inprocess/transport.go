// Package inprocess takes the requests of a client to a handler of the same process, without a socket between them. A test that runs in a
// synctest bubble needs that, so that one clock moves both.
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

// Transport is an http.RoundTripper that calls a handler as a server would. It can change the answers on their way.
type Transport struct {
	Handler http.Handler
	Now     func() time.Time // for the Date of each answer; nil sets no Date

	mu     sync.Mutex
	tamper func(*http.Request, *http.Response)
}

// RoundTrip implements http.RoundTripper. An answer that the handler gave up with http.ErrAbortHandler breaks off where it stood.
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

// OnAnswer changes the answers from now on.
func (t *Transport) OnAnswer(tamper func(*http.Request, *http.Response)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tamper = tamper
}

// SetBody gives an answer another body.
func SetBody(answer *http.Response, body []byte) {
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	answer.Header.Del("Content-Length")
}

// served is false if the handler closed the connection.
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
