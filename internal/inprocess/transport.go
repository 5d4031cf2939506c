// Package inprocess connects a client with a handler in the same process, without a socket. A test in a synctest bubble
// needs that: one clock then moves the client and the handler.
package inprocess

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Transport is an http.RoundTripper that passes each request to a handler in the same process. OnResponse lets a test
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
	//gosec:disable G704 -- it is given to a handler, and not sent
	arrived, err := http.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	arrived.RequestURI, arrived.RemoteAddr = r.URL.RequestURI(), "127.0.0.1:1234"
	for name, values := range r.Header {
		for _, value := range values {
			arrived.Header.Add(name, value)
		}
	}
	recorder := &recorder{header: http.Header{}}
	whole := served(t.Handler, recorder, arrived)
	if !whole && recorder.body.Len() == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	response := recorder.result()
	response.Request = r
	if !whole {
		response.Body = io.NopCloser(io.MultiReader(response.Body, cut{}))
	}
	if t.Now != nil {
		response.Header.Set("Date", t.Now().Format(http.TimeFormat))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.tamper != nil {
		t.tamper(r, response)
	}
	return response, nil
}

// cut is the end of a body whose connection was closed.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// recorder keeps what a handler writes.
type recorder struct {
	header, sent http.Header
	status       int
	body         bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *recorder) Write(data []byte) (int, error) {
	if w.status == 0 && w.header.Get("Content-Type") == "" {
		w.header.Set("Content-Type", http.DetectContentType(data))
	}
	w.WriteHeader(http.StatusOK)
	return w.body.Write(data)
}

// Flush implements http.Flusher. What was written arrives when the handler has ended.
func (w *recorder) Flush() { w.WriteHeader(http.StatusOK) }

func (w *recorder) result() *http.Response {
	w.WriteHeader(http.StatusOK)
	length, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	return &http.Response{
		Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, ContentLength: length,
		Body: io.NopCloser(bytes.NewReader(w.body.Bytes())),
	}
}

// OnResponse sets a function that changes each response before the client sees it. It replaces the one set before; nil
// removes it.
func (t *Transport) OnResponse(tamper func(*http.Request, *http.Response)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tamper = tamper
}

// SetBody replaces the body of a response.
func SetBody(response *http.Response, body []byte) {
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	response.Header.Del("Content-Length")
}

// served calls the handler, and returns false if that closed the connection.
func served(handler http.Handler, recorder http.ResponseWriter, r *http.Request) (whole bool) {
	defer func() {
		if reason, aborted := recover().(error); aborted {
			if !errors.Is(reason, http.ErrAbortHandler) {
				panic(reason)
			}
			whole = false
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
