package dapi

import (
	"container/list"
	"net/http"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// paymentMemory is what the client of one credential knows about its payments by key: which of them may have been paid,
// and what the first price was. It is a help and no proof: another process, or another client, may have used the same
// key.
//
// A doubt is never forgotten before it is settled or the service has forgotten the key. Everything else is dropped when
// there is too much of it.
type paymentMemory struct {
	mu     sync.Mutex
	known  map[paymentKey]*remembered
	plain  *list.List // of *remembered without a doubt, oldest first
	doubts *list.List // of *remembered with one, oldest first
}

// paymentKey is where an idempotency key has its meaning.
//
// Source: Limits, Idempotency (the scope is account and operation).
type paymentKey struct{ account, operation, key string }

type remembered struct {
	key      paymentKey
	place    *list.Element // in plain or doubts
	fate     fate
	since    time.Time // when its last call ended
	underway int       // calls
	begun    int       // calls, ever
	resource string    // that the key anchors, as a booking said
	first    *Quote    // the first price
}

const (
	maxDoubts     = 100_000
	maxRemembered = 10_000
)

func newPaymentMemory() *paymentMemory {
	return &paymentMemory{known: map[paymentKey]*remembered{}, plain: list.New(), doubts: list.New()}
}

// fate is what is known to have come of the calls with a key.
type fate int

const (
	nothing fate = iota // none of them can have paid
	maybe               // one of them may have paid
	over                // it is paid, or came to its own end
)

// doubt is how much is known about earlier attempts of a payment.
type doubt int

const (
	noDoubt      doubt = iota // there was none, or none that can have paid
	assumedDoubt              // a caller's key may have been sent before
	knownDoubt                // an earlier call may have paid, or has
)

// attempt is one call that makes a payment.
type attempt struct {
	memory *paymentMemory
	known  *remembered
	number int // of the call, among those with its key
	ended  bool
}

// begin notes that a call makes a payment, and says what earlier ones leave open. A first use is refused if there are
// so many doubts already that another could not be kept, unless this client knows that it is not the first.
func (m *paymentMemory) begin(key paymentKey, firstUse bool) (*attempt, doubt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	known := m.known[key]
	if firstUse && m.doubts.Len() >= maxDoubts && (known == nil || known.fate == nothing && known.underway == 0) {
		return nil, noDoubt, &errors.NotDelivered{
			CallInfo: errors.CallInfo{Operation: key.operation, IdempotencyKey: key.key}, Err: errTooManyDoubts,
		}
	}
	if known == nil {
		known = &remembered{key: key, since: time.Now()}
		known.place = m.plain.PushBack(known)
		m.known[key] = known
		m.trim()
	}
	left := assumedDoubt
	switch {
	case known.fate != nothing:
		left = knownDoubt
	case firstUse && known.underway == 0:
		left = noDoubt
	}
	known.begun++
	known.underway++
	return &attempt{memory: m, known: known, number: known.begun}, left, nil
}

var errTooManyDoubts = errors.New("100,000 payments of this client are in doubt; settle some of them by calling again with their keys, then start new ones")

// alone reports that no other call with the key is or was under way during this one.
func (a *attempt) alone() bool {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	return a.known.underway == 1 && a.known.begun == a.number
}

// end ends the call. What it knows for certain outweighs what others did not; that a call came to nothing says nothing
// about others.
func (a *attempt) end(came fate) {
	m := a.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.ended {
		return
	}
	a.ended = true
	a.known.underway--
	m.mark(a.known, max(a.known.fate, came))
}

// abandon ends a call that did not come to its end: a function of the caller's panicked. After end it does nothing.
func (a *attempt) abandon() { a.end(maybe) }

// doubtful notes a doubt that arose outside of a whole payment.
func (m *paymentMemory) doubtful(key paymentKey) {
	if attempt, _, err := m.begin(key, false); err == nil { // it refuses nothing but a first use
		attempt.end(maybe)
	}
}

// bookedAs notes what a booking said, and gives the first price of the payment that any booking said, nil if this one
// has the first. again says that a booking was seen before.
func (a *attempt) bookedAs(resource string, quote *Quote) (first *Quote, again bool) {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	again = a.known.resource != ""
	a.known.resource = resource
	first = a.known.first
	if first == nil && quote != nil && !again {
		seen := *quote
		a.known.first = &seen
	}
	return first, again
}

// learn takes from the first answer of a call whether there was a call before it, and gives what that leaves open. A
// replay of what this call sent twice, or of what an earlier call of this client booked and did not pay, means nothing
// new.
func (a *attempt) learn(left doubt, resource string, done bool, answer moneymovement.Response) doubt {
	replayed := answer.Replayed || answer.Status == http.StatusOK
	switch {
	case left == knownDoubt, done:
		return knownDoubt
	case newlyMade(answer):
		return noDoubt
	case replayed && answer.Attempts <= 1 && a.resource() != resource:
		return assumedDoubt
	}
	return left
}

// newlyMade reports an answer that says that its resource was made by this call.
func newlyMade(answer moneymovement.Response) bool {
	return answer.Status == http.StatusCreated && !answer.Replayed
}

// done reports that the payment is paid or came to its own end, as far as this client has seen.
func (a *attempt) done() bool {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	return a.known.fate == over
}

// resource is what the key anchors, as far as this client has seen; empty if it has not.
func (a *attempt) resource() string {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	return a.known.resource
}

// mark moves an entry between those in doubt and the others. The caller holds mu.
func (m *paymentMemory) mark(known *remembered, came fate) {
	m.listOf(known.fate).Remove(known.place)
	known.fate, known.since = came, time.Now()
	known.place = m.listOf(came).PushBack(known)
}

func (m *paymentMemory) listOf(f fate) *list.List {
	if f == maybe {
		return m.doubts
	}
	return m.plain
}

// expire drops the doubts about keys that the service has forgotten. The caller holds mu.
func (m *paymentMemory) expire() {
	for m.doubts.Len() > 0 {
		oldest := m.doubts.Front().Value.(*remembered) //nolint:errcheck,forcetypeassert // nothing else is in the list
		if time.Since(oldest.since) <= keyLifetime || oldest.underway > 0 {
			return
		}
		m.forget(m.doubts, oldest)
	}
}

// trim drops the oldest entries that hold no doubt. The caller holds mu.
func (m *paymentMemory) trim() {
	for place := m.plain.Front(); place != nil && m.plain.Len() > maxRemembered; {
		oldest := place.Value.(*remembered) //nolint:errcheck,forcetypeassert // nothing else is in the list
		place = place.Next()
		if oldest.underway == 0 {
			m.forget(m.plain, oldest)
		}
	}
}

func (m *paymentMemory) forget(from *list.List, known *remembered) {
	from.Remove(known.place)
	delete(m.known, known.key)
}
