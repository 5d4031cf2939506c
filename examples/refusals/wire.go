package main

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

// wire is where things go wrong on the way. It serves one call at a time.
type wire struct {
	next http.RoundTripper
	trip func(*http.Request) (*http.Response, error) // in place of next, except for logins; nil for a wire that works
}

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.trip == nil || strings.Contains(r.URL.Path, "/auth/") {
		return w.next.RoundTrip(r)
	}
	return w.trip(r)
}

// while makes a call over a wire that does something else.
func (w *wire) while(trip func(*http.Request) (*http.Response, error), call func() error) error {
	w.trip = trip
	defer func() { w.trip = nil }()
	return call()
}

// lose delivers a request and loses its answer.
func (w *wire) lose(r *http.Request) (*http.Response, error) {
	answer, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	_ = answer.Body.Close()
	return nil, errors.New("the connection broke before the answer came")
}

// answer gives an answer of its own in place of the service's.
func answer(status int, contentType, body string, header ...string) func(*http.Request) (*http.Response, error) {
	return func(r *http.Request) (*http.Response, error) {
		if r.Body != nil {
			_, _ = io.Copy(io.Discard, r.Body)
			_ = r.Body.Close()
		}
		h := http.Header{"Content-Type": {contentType}, "X-Request-Id": {"req_made_up"}}
		for i := 0; i+1 < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: h, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
	}
}

// refuse answers a refusal of the platform API.
func refuse(status int, slug, message string, header ...string) func(*http.Request) (*http.Response, error) {
	return answer(status, "application/json", `{"error":{"code":"`+slug+`","message":"`+message+`"}}`, header...)
}
