package dapi

import (
	"container/list"
	"net/http"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
)

// paymentMemory is what one credential's client knows about its payments, by key: which of them may have been paid, and
// what the first price was. It is not complete: another process or another client may have used the same key.
//
// A doubt is kept until it is settled, or until the service has forgotten the key and there are too many doubts.
// Everything else is dropped when there is too much of it.
type paymentMemory struct {
	mu     sync.Mutex
	known  map[paymentKey]*remembered
	plain  *list.List // *remembered without a doubt, oldest first
	doubts *list.List // *remembered with a doubt, oldest first
}

// paymentKey is the scope of an idempotency key: account and operation.
type paymentKey struct{ account, operation, key string }

type remembered struct {
	key      paymentKey
	place    *list.Element // in plain or doubts
	state    keyState
	since    time.Time // when its last call ended
	underway int       // calls that are running
	begun    int       // all calls
	resource string    // the id of the payout or deal, from a booking
	signed   bool      // an approval of resource may have been signed; resource then stays as it is
	settled  *ending   // how a call settled the payment
	booked   bool      // a call of Pay or Open has booked
	first    *Quote    // the first price, if that booking had one
}

const (
	maxDoubts     = 100_000
	maxRemembered = 10_000
)

func newPaymentMemory() *paymentMemory {
	return &paymentMemory{known: map[paymentKey]*remembered{}, plain: list.New(), doubts: list.New()}
}

// keyState is what is known about the calls with a key.
type keyState int

const (
	notPaid   keyState = iota // none of them can have paid
	maybePaid                 // one of them may have paid
	finished                  // the payment is paid or has ended
)

// doubt is what is known about earlier attempts of a payment.
type doubt int

const (
	noDoubt      doubt = iota // there was none, or none can have paid
	assumedDoubt              // the key may have been sent before
	knownDoubt                // an earlier call may have paid, or did
)

// attempt is one call that makes a payment.
type attempt struct {
	memory *paymentMemory
	known  *remembered
	number int // of the call, among those with its key
	ended  bool
}

// begin records that a call makes a payment, and returns the doubt that earlier calls left. It refuses a first use if
// there are so many doubts that no other could be kept, unless this client knows of an earlier call with the key.
func (m *paymentMemory) begin(key paymentKey, firstUse bool) (*attempt, doubt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	if firstUse && m.doubts.Len() >= maxDoubts && m.known[key].unpaid() {
		return nil, noDoubt, &errors.NotDelivered{
			CallInfo: errors.CallInfo{Operation: key.operation, IdempotencyKey: key.key}, Err: errTooManyDoubts,
		}
	}
	known := m.of(key)
	left := assumedDoubt
	switch {
	case known.state != notPaid:
		left = knownDoubt
	case firstUse && known.unpaid():
		left = noDoubt
	}
	known.begun++
	known.underway++
	return &attempt{memory: m, known: known, number: known.begun}, left, nil
}

// of returns the entry of a key, a new one if there is none. The caller holds mu.
func (m *paymentMemory) of(key paymentKey) *remembered {
	known := m.known[key]
	if known == nil {
		known = &remembered{key: key, since: time.Now()}
		known.place = m.plain.PushBack(known)
		m.known[key] = known
		m.trim()
	}
	return known
}

// sign records that an approval of a payout or deal is about to be signed. If one of another payout or deal was signed
// with the same key, it records nothing and returns the id of that one.
func (m *paymentMemory) sign(key paymentKey, resource string) (other string) {
	if key.key == "" { // of a booking by hand, whose response has none
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.of(key)
	if known.signed && known.resource != resource {
		return known.resource
	}
	known.resource, known.signed = resource, true
	return ""
}

// signed returns the id of the payout or deal of which an approval may have been signed, or "".
func (a *attempt) signed() string {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	if !a.known.signed {
		return ""
	}
	return a.known.resource
}

// settle records how the payment was settled.
func (a *attempt) settle(end ending) {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	a.known.settled = &end
}

// settled returns how a call of this client settled the payment, or nil if none did.
func (a *attempt) settled() *ending {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	return a.known.settled
}

// unpaid reports that this client knows of no call with the key that has paid or can still pay.
func (m *paymentMemory) unpaid(key paymentKey) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[key].unpaid()
}

// unpaid is the same for an entry, nil for a key without a call. The caller holds mu.
func (r *remembered) unpaid() bool { return r == nil || r.state == notPaid && r.underway == 0 }

var errTooManyDoubts = errors.New("100,000 payments of this client are in doubt: " +
	"settle some of them by calling again with their keys, then start new ones")

// onlyCall reports that no other call with the key is running, or ran, during this one.
func (a *attempt) onlyCall() bool {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	return a.known.underway == 1 && a.known.begun == a.number
}

// end ends the call. The highest state of all calls counts: if this call paid nothing, another one may still have paid.
func (a *attempt) end(came keyState) {
	m := a.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	if a.ended {
		return
	}
	a.ended = true
	a.known.underway--
	m.mark(a.known, max(a.known.state, came))
}

// abandon ends a call in which the caller's function panicked. After end, it does nothing.
func (a *attempt) abandon() { a.end(maybePaid) }

// doubtful records a doubt from outside of Pay and Open.
func (m *paymentMemory) doubtful(key paymentKey) {
	if attempt, _, err := m.begin(key, false); err == nil { // begin refuses only a first use
		attempt.end(maybePaid)
	}
}

// recordBooking stores a booking. It returns the first price of the payment in any booking, or nil if this booking has
// it. again reports that there was a booking before.
func (a *attempt) recordBooking(resource string, quote *Quote) (first *Quote, again bool) {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	again, a.known.booked = a.known.booked, true
	if !a.known.signed {
		a.known.resource = resource
	}
	first = a.known.first
	if first == nil && quote != nil && !again {
		seen := *quote
		a.known.first = &seen
	}
	return first, again
}

// updateDoubt returns the doubt after the first response of a call. A replay shows that there was an earlier call. It
// says nothing new if this call sent the request twice, or if an earlier call of this client booked and did not pay, or
// one of another process, for which the caller names what it booked. A new booking ends no doubt: the service may have
// forgotten the key.
func (a *attempt) updateDoubt(
	left doubt, resource string, done bool, before string, response moneymovement.Response,
) doubt {
	replayed := response.Replayed || response.Status == http.StatusOK
	switch {
	case left == knownDoubt, done:
		return knownDoubt
	case replayed && response.Attempts <= 1 && a.resource() != resource && before != resource:
		return assumedDoubt
	}
	return left
}

// newlyMade reports a response that says that this call created its resource.
func newlyMade(response moneymovement.Response) bool {
	return response.Status == http.StatusCreated && !response.Replayed
}

// done reports that the payment is paid or has ended, as far as this client knows.
func (a *attempt) done() bool {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	return a.known.state == finished
}

// resource returns the id of the payout or deal of the key, or "" if this client does not know it.
func (a *attempt) resource() string {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	return a.known.resource
}

// mark moves an entry between the lists. The caller holds mu.
func (m *paymentMemory) mark(known *remembered, came keyState) {
	m.listOf(known.state).Remove(known.place)
	known.state, known.since = came, time.Now()
	known.place = m.listOf(came).PushBack(known)
}

func (m *paymentMemory) listOf(f keyState) *list.List {
	if f == maybePaid {
		return m.doubts
	}
	return m.plain
}

// expire makes room for doubts: it drops those about keys that the service has forgotten. The caller holds mu.
func (m *paymentMemory) expire() {
	for m.doubts.Len() >= maxDoubts {
		oldest := m.doubts.Front().Value.(*remembered) //nolint:errcheck,forcetypeassert // nothing else is in the list
		if time.Since(oldest.since) <= keyLifetime || oldest.underway > 0 {
			return
		}
		m.forget(m.doubts, oldest)
	}
}

// trim drops the oldest entries without a doubt. The caller holds mu.
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
