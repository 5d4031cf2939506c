package report

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/moneymovement/moneymovement-go/cmd/moneymove/contract/wire"
)

// maxBody limits the body of a response. A longer body is an error, and no part of it is kept.
const maxBody = 64 << 20

// Log holds the exchanges of a run, in the order in which they ended. It is safe for concurrent use.
type Log struct {
	description *wire.Description
	base        string // path of the host's address

	mu        sync.Mutex
	exchanges []*Exchange
}

// NewLog returns an empty log of a host. base is the path of the host's address, such as /v2, or "".
func NewLog(description *wire.Description, basePath string) *Log {
	return &Log{description: description, base: strings.TrimSuffix(basePath, "/")}
}

// Exchanges returns the exchanges so far.
func (l *Log) Exchanges() []*Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.exchanges)
}

// Observer records every exchange that passes through it, whatever the response is.
type Observer struct {
	Next http.RoundTripper
	Log  *Log
	// Scripted marks the exchanges of a host with scripted responses. They show that an operation was called and that a
	// slug was understood. They show nothing about the service.
	Scripted bool
}

// RoundTrip implements http.RoundTripper.
func (o *Observer) RoundTrip(r *http.Request) (*http.Response, error) {
	sent, err := take(r)
	if err != nil {
		return nil, err
	}
	answer, err := o.Next.RoundTrip(r)
	if err != nil {
		o.add(o.Log.record(r, sent, nil, nil))
		return nil, err
	}
	received, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	if closed := answer.Body.Close(); err == nil {
		err = closed
	}
	if err == nil && len(received) > maxBody {
		err = fmt.Errorf("the response to %s %s is over %d bytes", r.Method, r.URL.Path, maxBody)
	}
	if err != nil {
		o.add(o.Log.record(r, sent, nil, nil))
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(received))
	o.add(o.Log.record(r, sent, answer, received))
	return answer, nil
}

func (o *Observer) add(x *Exchange) {
	x.Scripted = o.Scripted
	o.Log.mu.Lock()
	defer o.Log.mu.Unlock()
	o.Log.exchanges = append(o.Log.exchanges, x)
}

// take reads a request's body and puts it back.
func take(r *http.Request) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	body, err := io.ReadAll(r.Body)
	if closed := r.Body.Close(); err == nil {
		err = closed
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}
