// Package service is the service that both sides call. It returns prepared bytes: in memory as an [http.RoundTripper],
// or over TCP as an [http.Handler]. It does as little as it can, because its cost is in the figures of both sides and
// moves their ratio closer to one.
package service

import (
	"bytes"
	"io"
	"net/http"
)

// BaseURL is the address of a service in memory.
const BaseURL = "https://service.invalid"

// Service returns what respond returns.
type Service struct {
	respond func(r *http.Request) *Response
	// Keep is where the next request is stored, nil while measuring.
	Keep func(Sent)
}

// Response is a prepared response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Sent is one request as the service sees it.
type Sent struct {
	Method, URL string
	Header      http.Header
	Body        []byte
}

// Always returns a service with one response.
func Always(status int, body string, header ...string) *Service {
	prepared := JSON(status, body)
	for i := 0; i+1 < len(header); i += 2 {
		prepared.Header.Set(header[i], header[i+1])
	}
	return By(func(*http.Request) *Response { return prepared })
}

// By returns a service that chooses the response by the request.
func By(respond func(r *http.Request) *Response) *Service {
	return &Service{respond: respond}
}

// JSON prepares a response.
func JSON(status int, body string) *Response {
	return &Response{Status: status, Body: []byte(body), Header: http.Header{
		"Content-Type": {"application/json"},
		"Date":         {"Sun, 04 May 2031 10:00:00 GMT"}, // every server sends one, and the SDK reads it
		"X-Request-Id": {"req_01J9Z3K8R4"},
	}}
}

// RoundTrip implements [http.RoundTripper].
func (s *Service) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.take(r)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: response.Status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: response.Header,
		ContentLength: int64(len(response.Body)), Body: connection{bytes.NewReader(response.Body)}, Request: r,
	}, nil
}

// ServeHTTP implements [http.Handler].
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	response, err := s.take(r)
	if err != nil {
		return // the connection has gone
	}
	header := w.Header()
	for name, values := range response.Header {
		header[name] = values
	}
	w.WriteHeader(response.Status)
	_, _ = w.Write(response.Body)
}

// take reads a request, and returns the response to it.
func (s *Service) take(r *http.Request) (*Response, error) {
	var body []byte
	if r.Body != nil && r.Body != http.NoBody {
		defer r.Body.Close()
		var err error
		if s.Keep != nil {
			body, err = io.ReadAll(r.Body)
		} else {
			_, err = io.Copy(io.Discard, r.Body)
		}
		if err != nil {
			return nil, err
		}
	}
	if s.Keep != nil {
		s.Keep(Sent{Method: r.Method, URL: r.URL.String(), Header: r.Header.Clone(), Body: body})
	}
	return s.respond(r), nil
}

// connection hides that the bytes are in memory: a connection has Read and Close only.
type connection struct{ r *bytes.Reader }

func (c connection) Read(p []byte) (int, error) { return c.r.Read(p) }
func (c connection) Close() error               { return nil }
