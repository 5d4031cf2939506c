package gate

import (
	"bytes"
	"container/heap"
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/fault"
)

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
func admittedAs(who *caller.Caller, requestID string) *caller.Caller {
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
