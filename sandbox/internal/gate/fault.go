package gate

import (
	"bytes"
	"container/heap"
	"context"
	"io"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// garbagePage is a page as a proxy sends it.
const garbagePage = "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body>" +
	"<h1>502 Bad gateway</h1></body></html>\n"

// dropConnection, in place of a length, closes the connection without a response.
const dropConnection = -1

// applyBefore does what a fault does before the request is checked. It reports whether the operation runs. It reads the
// body of the request first: net/http notices only then that a caller gives up, and closing a connection with unread
// bytes causes an error.
func (g *Gate) applyBefore(c *call, f fault.Fault) bool {
	if f.Kind != "" {
		_, _ = c.body.read() // a later step reports what is wrong with the body
	}
	switch {
	case f.Kind == fault.ExpireToken:
		g.tokens.Expire(bearerOf(c.request))
	case f.Kind == fault.Delay && !f.AfterCommit:
		c.wait(f)
	}
	return f.RunsOperation()
}

// wait waits for the time of a delay, or until the caller closes the connection. The request is handled in both cases.
func (c *call) wait(f fault.Fault) {
	timer := time.NewTimer(time.Duration(f.Delay))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.request.Context().Done():
	}
}

// applyAfter does what a fault does to the response. It returns how many bytes of its body are sent.
func (g *Gate) applyAfter(c *call, f fault.Fault, misrouted *sentResponse) (length int) {
	a := c.response
	switch f.Kind {
	case fault.Delay:
		if f.AfterCommit {
			c.wait(f)
		}
	case fault.MisroutedResponse:
		a.replaceBy(misrouted)
	case fault.DropBefore, fault.DropAfterCommit:
		return dropConnection
	case fault.Truncate:
		if f.Keep == 0 {
			return len(a.body) / 2
		}
		return max(0, min(f.Keep, len(a.body)-1))
	case fault.Garbage:
		status := f.Status
		if status == 0 {
			status = http.StatusBadGateway
		}
		a.replace(status, "text/html; charset=utf-8", []byte(garbagePage))
	case fault.Respond:
		a.respond(f)
	}
	return math.MaxInt
}

// respond writes a scripted response.
func (a *response) respond(f fault.Fault) {
	if f.Body != "" || f.Code == "" {
		a.replace(f.Status, "application/json", []byte(f.Body))
	} else {
		message := f.Message
		if message == "" {
			message = "A scripted refusal."
		}
		a.writeRefusal(&wire.Refusal{Status: f.Status, Code: f.Code, Message: message, Details: f.Details})
	}
	for name, value := range f.Headers {
		a.header.Set(name, value)
	}
}

// abortConnection closes the connection. The bytes written so far reach the caller first.
func abortConnection(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // a writer that cannot flush has written nothing
	panic(http.ErrAbortHandler)
}

// redeliver returns the call for a request that arrives a second time.
func (g *Gate) redeliver(c *call, r *http.Request) *call {
	body, _ := c.body.read()
	r.Body = io.NopCloser(bytes.NewReader(body))
	second := g.newCall(r)
	second.resolveRoute()
	second.entry.Repeated, second.entry.Attempt = true, g.attempts.count(second)
	return second
}

// retryAsProxy handles the request a second time if the fault says so. It returns the call whose response is sent.
func (g *Gate) retryAsProxy(c *call, f fault.Fault) *call {
	if f.Kind != fault.ProxyRetry {
		return c
	}
	g.record(c, c.response.status, c.response.slug)
	second := g.redeliver(c, c.request.WithContext(c.request.Context())) // a copy
	second.entry.Fault = c.entry.Fault
	g.handle(second)
	return second
}

// deliverTwice handles the request a second time, at once or later. Nobody gets the second response.
func (g *Gate) deliverTwice(c *call, f fault.Fault) {
	// The request must not end with its caller, and the caller must not see a change.
	copied := c.request.Clone(context.WithoutCancel(c.request.Context()))
	if f.After == 0 {
		g.deliver(g.redeliver(c, copied))
		return
	}
	body, _ := c.body.read()
	copied = copied.WithContext(context.Background())
	g.deliveries.add(delivery{due: g.clock.Now().Add(time.Duration(f.After)), arrive: func() *call {
		second := g.redeliver(&call{body: &payload{wasRead: true, bytes: body}}, copied)
		// The session may have ended since. It was checked when the request first arrived.
		second.caller = callerOf(c.caller, second.response.requestID)
		return second
	}})
}

// callerOf returns the caller of the first call, for the second one.
func callerOf(caller *wire.Caller, requestID string) *wire.Caller {
	if caller == nil {
		return nil
	}
	again := *caller
	again.RequestID = requestID
	return &again
}

// deliver runs the operation for nobody.
func (g *Gate) deliver(c *call) {
	g.handle(c)
	c.response.finish()
	g.record(c, c.response.status, c.response.slug)
}

// DeliverDue delivers the second requests that are due.
func (g *Gate) DeliverDue() {
	for {
		due, ok := g.deliveries.take(g.clock.Now)
		if !ok {
			return
		}
		g.deliver(due.arrive())
	}
}

// PendingDeliveries returns how many second requests are not delivered yet.
func (g *Gate) PendingDeliveries() int { return g.deliveries.pending() }

// delivery is a second request that arrives later.
type delivery struct {
	due    time.Time
	number int // in the order of adding
	arrive func() *call
}

// deliveries are the second requests that arrive later, the first one first. The zero value is ready.
type deliveries struct {
	mu    sync.Mutex
	queue deliveryQueue
	added int
}

func (d *deliveries) add(added delivery) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.added++
	added.number = d.added
	heap.Push(&d.queue, added)
}

// take removes the first delivery if it is due. It reads the clock only if there is a delivery.
func (d *deliveries) take(now func() time.Time) (due delivery, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) == 0 || now().Before(d.queue[0].due) {
		return delivery{}, false
	}
	due, ok = heap.Pop(&d.queue).(delivery)
	return due, ok
}

func (d *deliveries) pending() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.queue)
}

func (d *deliveries) reset() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = nil
}

// deliveryQueue implements [heap.Interface].
type deliveryQueue []delivery

func (q deliveryQueue) Len() int      { return len(q) }
func (q deliveryQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q deliveryQueue) Less(i, j int) bool {
	if q[i].due.Equal(q[j].due) {
		return q[i].number < q[j].number
	}
	return q[i].due.Before(q[j].due)
}

// Push adds a delivery at the end. Package heap calls it, and Pop.
func (q *deliveryQueue) Push(added any) {
	if next, ok := added.(delivery); ok {
		*q = append(*q, next)
	}
}

// Pop removes the last delivery.
func (q *deliveryQueue) Pop() any {
	last := len(*q) - 1
	popped := (*q)[last]
	(*q)[last] = delivery{}
	*q = (*q)[:last]
	return popped
}

const (
	// maxSentResponses is how many responses of each operation are remembered.
	maxSentResponses = 8
	// maxSentResponseSize is how many bytes a remembered response has, at most.
	maxSentResponseSize = 64 << 10
)

// sentResponse is a response that an operation returned.
type sentResponse struct {
	account, path, key string
	status             int
	header             []headerField // less to copy than a map
	body               []byte
}

type headerField struct {
	name   string
	values []string
}

// sentResponses remembers the latest successful responses of each operation. The zero value is ready.
type sentResponses struct {
	mu          sync.Mutex
	byOperation map[string][]*sentResponse // the latest is last
}

// remember keeps the response of a request, if it is a success.
func (a *sentResponses) remember(c *call) {
	if c.response.status >= http.StatusBadRequest || c.route == nil || len(c.response.body) > maxSentResponseSize {
		return
	}
	past := &sentResponse{
		account: requestedAccount(c.request), path: c.entry.Path, key: c.entry.IdempotencyKey,
		status: c.response.status, header: make([]headerField, 0, len(c.response.header)), body: c.response.body,
	}
	for name, values := range c.response.header {
		past.header = append(past.header, headerField{name, values})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byOperation == nil {
		a.byOperation = map[string][]*sentResponse{}
	}
	list := a.byOperation[c.route.operation]
	if len(list) == maxSentResponses {
		copy(list, list[1:])
		list = list[:maxSentResponses-1]
	}
	a.byOperation[c.route.operation] = append(list, past)
}

// misrouted returns the latest response of the same operation to a request of another account, or to another request of
// the same account, or nil.
func (a *sentResponses) misrouted(c *call, otherAccount bool) *sentResponse {
	if c.route == nil {
		return nil
	}
	account := requestedAccount(c.request)
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.byOperation[c.route.operation]
	for i := len(list) - 1; i >= 0; i-- {
		past := list[i]
		other := past.path != c.entry.Path || past.key != c.entry.IdempotencyKey
		if otherAccount && past.account != account || !otherAccount && past.account == account && other {
			return past
		}
	}
	return nil
}

func (a *sentResponses) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byOperation = nil
}

// replaceBy replaces the response by that of another request.
func (a *response) replaceBy(past *sentResponse) {
	a.status, a.slug, a.body = past.status, "", past.body
	clear(a.header)
	for _, field := range past.header {
		a.header[field.name] = field.values
	}
}
