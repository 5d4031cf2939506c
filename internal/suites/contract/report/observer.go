package report

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/moneymovement/moneymovement-go/internal/suites/contract/wire"
)

// maxBody bounds what is kept of an answer; a longer one is an error, never a part of it.
const maxBody = 64 << 20

// Log holds the exchanges of a run, in the order in which they ended. It is safe for concurrent use.
type Log struct {
	description *wire.Description
	base        string // path of the host's address

	mu        sync.Mutex
	exchanges []*Exchange
}

// NewLog makes an empty log of a host whose address has a path, such as /v2, or none.
func NewLog(description *wire.Description, basePath string) *Log {
	return &Log{description: description, base: strings.TrimSuffix(basePath, "/")}
}

// Exchanges answers what happened so far.
func (l *Log) Exchanges() []*Exchange {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.exchanges)
}

// Observer records every exchange that passes through it, whatever the answer.
type Observer struct {
	Next http.RoundTripper
	Log  *Log
	// Scripted marks the exchanges of a host that was told what to answer: they show that an operation was called and a
	// slug understood, and nothing about the service.
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
		err = fmt.Errorf("the answer of %s %s is over %d bytes", r.Method, r.URL.Path, maxBody)
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

// take reads a request's body and leaves it in place.
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
