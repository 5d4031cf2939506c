// Package inmemory delivers requests to a handler as a server would, without a socket: in a synctest bubble, one clock then moves both ends.
package inmemory

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing/iotest"
)

// Transport is an http.RoundTripper to a handler. One that closes the connection, with http.ErrAbortHandler, breaks its answer off.
type Transport struct{ Handler http.Handler }

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
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
	return answer, nil
}

// served is false if the handler closed the connection.
func served(handler http.Handler, w http.ResponseWriter, r *http.Request) (answered bool) {
	defer func() {
		if reason := recover(); reason != nil {
			if err, is := reason.(error); !is || !errors.Is(err, http.ErrAbortHandler) {
				panic(reason)
			}
		}
	}()
	handler.ServeHTTP(w, r)
	return true
}
