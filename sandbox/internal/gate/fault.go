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

// garbage is a page as a proxy sends it.
const garbage = "<!DOCTYPE html>\n<html><head><title>Bad gateway</title></head><body>" +
	"<h1>502 Bad gateway</h1></body></html>\n"

// nothing, as the length of a response, closes the connection without a response.
const nothing = -1

// before does what a fault does before the request is checked. It reports whether the operation runs. It reads the body
// of the request first: net/http notices only then that a caller gives up, and closing a connection with unread bytes
// causes an error.
func (g *Gate) before(v *visit, f fault.Fault) bool {
	if f.Kind != "" {
		_, _ = v.body.read() // a later step reports what is wrong with the body
	}
	switch {
	case f.Kind == fault.ExpireToken:
		g.tokens.Expire(bearerOf(v.request))
	case f.Kind == fault.Delay && !f.AfterCommit:
		v.wait(f)
	}
	return f.RunsOperation()
}

// wait waits for the time of a delay, or until the caller gives up. Its request has arrived, whatever it does.
func (v *visit) wait(f fault.Fault) {
	timer := time.NewTimer(time.Duration(f.Delay))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-v.request.Context().Done():
	}
}

// after does what a fault does to the response. It returns how many bytes of its body are sent.
func (g *Gate) after(v *visit, f fault.Fault, foreign *sentAnswer) (length int) {
	a := v.answer
	switch f.Kind {
	case fault.Delay:
		if f.AfterCommit {
			v.wait(f)
		}
	case fault.Foreign:
		a.impersonate(foreign)
	case fault.DropBefore, fault.DropAfterCommit:
		return nothing
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
		a.replace(status, "text/html; charset=utf-8", []byte(garbage))
	case fault.Respond:
		a.respond(f)
	}
	return math.MaxInt
}

// respond writes a scripted response.
func (a *answer) respond(f fault.Fault) {
	if f.Body != "" || f.Code == "" {
		a.replace(f.Status, "application/json", []byte(f.Body))
	} else {
		message := f.Message
		if message == "" {
			message = "A scripted refusal."
		}
		a.write(&wire.Refusal{Status: f.Status, Code: f.Code, Message: message, Details: f.Details})
	}
	for name, value := range f.Headers {
		a.header.Set(name, value)
	}
}

// breakOff closes the connection. The bytes written so far reach the caller first.
func breakOff(w http.ResponseWriter) {
	_ = http.NewResponseController(w).Flush() // a writer that cannot flush has written nothing
	panic(http.ErrAbortHandler)
}

// again returns the second arrival of a request.
func (g *Gate) again(v *visit, r *http.Request) *visit {
	body, _ := v.body.read()
	r.Body = io.NopCloser(bytes.NewReader(body))
	second := g.newVisit(r)
	second.find()
	second.entry.Repeated, second.entry.Attempt = true, g.attempts.count(second)
	return second
}

// repeat makes the request arrive again if the fault says so, and returns the arrival that the caller gets the response
// of.
func (g *Gate) repeat(v *visit, f fault.Fault) *visit {
	if f.Kind != fault.Repeat {
		return v
	}
	g.note(v, v.answer.status, v.answer.slug)
	second := g.again(v, v.request.WithContext(v.request.Context())) // a copy
	second.entry.Fault = v.entry.Fault
	g.operate(second)
	return second
}

// duplicate makes the request arrive again, at once or later. Nobody gets the second response.
func (g *Gate) duplicate(v *visit, f fault.Fault) {
	// The request must not end with its caller, and the caller must not see a change.
	copied := v.request.Clone(context.WithoutCancel(v.request.Context()))
	if f.After == 0 {
		g.deliver(g.again(v, copied))
		return
	}
	body, _ := v.body.read()
	copied = copied.WithContext(context.Background())
	g.deliveries.add(delivery{due: g.clock.Now().Add(time.Duration(f.After)), arrive: func() *visit {
		second := g.again(&visit{body: &payload{wasRead: true, bytes: body}}, copied)
		// The session may have ended since: what arrives so late was held behind the check of the session.
		second.admitted = admittedAs(v.admitted, second.answer.requestID)
		return second
	}})
}

// admittedAs returns the caller of an earlier arrival, for another arrival.
func admittedAs(who *wire.Caller, requestID string) *wire.Caller {
	if who == nil {
		return nil
	}
	again := *who
	again.RequestID = requestID
	return &again
}

// deliver runs the operation for nobody.
func (g *Gate) deliver(v *visit) {
	g.operate(v)
	v.answer.finish()
	g.note(v, v.answer.status, v.answer.slug)
}

// DeliverDue delivers the duplicates that are due.
func (g *Gate) DeliverDue() {
	for {
		due, ok := g.deliveries.take(g.clock.Now)
		if !ok {
			return
		}
		g.deliver(due.arrive())
	}
}

// PendingDeliveries returns how many duplicates are not delivered yet.
func (g *Gate) PendingDeliveries() int { return g.deliveries.pending() }

// delivery is a duplicate that arrives later.
type delivery struct {
	due    time.Time
	number int // in the order of adding
	arrive func() *visit
}

// deliveries are the duplicates that arrive later, the first one first. The zero deliveries are ready.
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
	// mostAnswers is how many responses of each operation are remembered.
	mostAnswers = 8
	// longestAnswer is how many bytes a remembered response has, at most.
	longestAnswer = 64 << 10
)

// sentAnswer is a response that an operation returned.
type sentAnswer struct {
	account, path, key string
	status             int
	header             []headerField // less to copy than a map
	body               []byte
}

type headerField struct {
	name   string
	values []string
}

// answers remembers the latest successful responses of each operation. The zero answers are ready.
type answers struct {
	mu          sync.Mutex
	byOperation map[string][]*sentAnswer // the latest is last
}

// remember keeps the response of a request, if it is a success.
func (a *answers) remember(v *visit) {
	if v.answer.status >= http.StatusBadRequest || v.route == nil || len(v.answer.body) > longestAnswer {
		return
	}
	sent := &sentAnswer{
		account: askedAccount(v.request), path: v.entry.Path, key: v.entry.IdempotencyKey,
		status: v.answer.status, header: make([]headerField, 0, len(v.answer.header)), body: v.answer.body,
	}
	for name, values := range v.answer.header {
		sent.header = append(sent.header, headerField{name, values})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byOperation == nil {
		a.byOperation = map[string][]*sentAnswer{}
	}
	list := a.byOperation[v.route.operation]
	if len(list) == mostAnswers {
		copy(list, list[1:])
		list = list[:mostAnswers-1]
	}
	a.byOperation[v.route.operation] = append(list, sent)
}

// foreign returns the latest response of the same operation to a request of another account, or to another request of
// the same account, or nil.
func (a *answers) foreign(v *visit, otherAccount bool) *sentAnswer {
	if v.route == nil {
		return nil
	}
	account := askedAccount(v.request)
	a.mu.Lock()
	defer a.mu.Unlock()
	list := a.byOperation[v.route.operation]
	for i := len(list) - 1; i >= 0; i-- {
		sent := list[i]
		other := sent.path != v.entry.Path || sent.key != v.entry.IdempotencyKey
		if otherAccount && sent.account != account || !otherAccount && sent.account == account && other {
			return sent
		}
	}
	return nil
}

func (a *answers) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byOperation = nil
}

// impersonate replaces the response by that of another request.
func (a *answer) impersonate(sent *sentAnswer) {
	a.status, a.slug, a.body = sent.status, "", sent.body
	clear(a.header)
	for _, field := range sent.header {
		a.header[field.name] = field.values
	}
}
