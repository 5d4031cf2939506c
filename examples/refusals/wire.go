package main

import (
	"errors"
	"io"
	"net/http"
	"strings"
)

// wire is a transport that can fail. It serves one call at a time.
type wire struct {
	next    http.RoundTripper
	instead http.RoundTripper // used in place of next, except for logins; nil if the wire works
}

// RoundTrip implements [http.RoundTripper].
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	if w.instead == nil || strings.Contains(r.URL.Path, "/auth/") {
		return w.next.RoundTrip(r)
	}
	return w.instead.RoundTrip(r)
}

// while makes a call over another transport.
func (w *wire) while(instead http.RoundTripper, call func() error) error {
	w.instead = instead
	defer func() { w.instead = nil }()
	return call()
}

// losing delivers a request and loses the response.
type losing struct{ next http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (l losing) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	_ = response.Body.Close()
	return nil, errors.New("the connection broke before the response came")
}

// responding returns this response and sends nothing.
type responding struct {
	status            int
	contentType, body string
	retryAfter        string
}

// refusing returns a refusal of the platform API.
func refusing(status int, slug, message string) responding {
	return responding{status: status, contentType: "application/json",
		body: `{"error":{"code":"` + slug + `","message":"` + message + `"}}`}
}

// RoundTrip implements [http.RoundTripper].
func (a responding) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
	header := http.Header{"Content-Type": {a.contentType}, "X-Request-Id": {"req_made_up"}}
	if a.retryAfter != "" {
		header.Set("Retry-After", a.retryAfter)
	}
	return &http.Response{StatusCode: a.status, ProtoMajor: 1, ProtoMinor: 1, Header: header,
		Body: io.NopCloser(strings.NewReader(a.body)), ContentLength: int64(len(a.body)), Request: r}, nil
}
