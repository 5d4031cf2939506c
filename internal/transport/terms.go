package transport

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// terms remembers the terms of each idempotency key. If a program uses a key for another payment by mistake, terms
// refuses the call before it is sent. This is a help and not a guarantee: it does not know keys of other processes, or
// forgotten keys. The service refuses those.
//
// It holds thousands of keys for a week. What it holds has no pointers, so that the garbage collector need not look
// through it.
type terms struct {
	seeds [2]maphash.Seed
	began time.Time
	limit int // of keys that are not under way
	mu    sync.Mutex
	sent  []sentTerms
	at    map[sentKey]int32  // where the terms of a key are in sent
	free  []int32            // unused places in sent
	order []int32            // places of finished writes, oldest first
	long  map[sentKey]string // ids that do not fit a sentOwner
}

// sentKey is the hash of a key and of where it is unique: its account, operation and path. It is long enough that two
// keys never have the same one.
type sentKey [2]uint64

type sentTerms struct {
	key      sentKey
	since    time.Duration // from terms.began: a clock that is set does not change it
	body     sentBody      // of the first request; empty if asked is set in its place
	asked    wire.Digests  // by Operation.Terms
	owner    sentOwner     // id of the resource that the key created; empty if no response showed it
	underway int32
	anchored bool // the service may know the key
	queued   bool // it is in order
	replaced bool // the key was used again after its lifetime, and has another place
}

// sentBody holds a body of usual length. Most keys are used once, and their terms are never compared.
type sentBody struct {
	text   [224]byte
	length uint8
}

// sentOwner holds an id of usual length.
type sentOwner struct {
	text   [40]byte
	length uint8 // more than the text for a longer id, which is in terms.long
}

const (
	maxTerms      = 10_000             // each has about 400 bytes
	termsLifetime = 7 * 24 * time.Hour // of a caller's key
)

func newTerms() *terms {
	return &terms{
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()},
		began: time.Now(),
		limit: maxTerms,
		at:    map[sentKey]int32{},
		long:  map[sentKey]string{},
	}
}

// claim notes that a write is sent with its key, and returns the function to call when the write has ended. It refuses
// other terms with the same key.
func (m *terms) claim(r *Request, body []byte) (over func(value any, err error), err error) {
	if !r.call.KeySet || r.op.Repeat != RepeatKey {
		return func(any, error) {}, nil
	}
	key, now := m.keyOf(r), time.Since(m.began)
	m.mu.Lock()
	defer m.mu.Unlock()
	place, found := m.at[key]
	if found && m.sent[place].underway == 0 && now-m.sent[place].since > termsLifetime {
		m.replace(place)
		found = false
	}
	if !found {
		place = m.add(key, now)
		m.remember(&m.sent[place], r, body)
	} else if others := m.differing(&m.sent[place], r, body); others != nil {
		return nil, reused(r, others, m.owner(&m.sent[place]))
	}
	m.sent[place].underway++
	return func(value any, err error) { m.over(place, value, err) }, nil
}

func (m *terms) keyOf(r *Request) (key sentKey) {
	for i, seed := range m.seeds {
		var hash maphash.Hash
		hash.SetSeed(seed)
		for _, part := range [...]string{r.account, r.op.ID, r.path, r.call.Key} {
			_, _ = hash.WriteString(part)
			_ = hash.WriteByte(0) // which no part has
		}
		key[i] = hash.Sum64()
	}
	return key
}

// add returns a place for a key. The caller holds mu.
func (m *terms) add(key sentKey, now time.Duration) (place int32) {
	if unused := len(m.free) - 1; unused >= 0 {
		place, m.free = m.free[unused], m.free[:unused]
	} else {
		place = int32(len(m.sent)) //gosec:disable G115 -- there are some 10,000
		m.sent = append(m.sent, sentTerms{})
	}
	m.sent[place] = sentTerms{key: key, since: now}
	m.at[key] = place
	return place
}

// remember notes the terms of the first request with a key. Secrets are not kept, nor are long bodies.
func (m *terms) remember(known *sentTerms, r *Request, body []byte) {
	if r.op.Tells || len(body) > len(known.body.text) {
		known.asked = wire.DigestsOf(m.seeds[0], r.op.Terms, body)
		return
	}
	known.body.length = uint8(copy(known.body.text[:], body)) //gosec:disable G115 -- it is at most 224
}

// differing returns the members in which a request differs from the first one with the same key.
func (m *terms) differing(known *sentTerms, r *Request, body []byte) []string {
	if first := known.body.text[:known.body.length]; len(first) > 0 {
		if bytes.Equal(first, body) {
			return nil
		}
		known.asked, known.body.length = wire.DigestsOf(m.seeds[0], r.op.Terms, first), 0
	}
	return wire.Differing(r.op.Terms, known.asked, wire.DigestsOf(m.seeds[0], r.op.Terms, body))
}

// owner returns the id of the resource that a key created, or "". The caller holds mu.
func (m *terms) owner(known *sentTerms) string {
	if length := int(known.owner.length); length <= len(known.owner.text) {
		return string(known.owner.text[:length])
	}
	return m.long[known.key]
}

// setOwner sets the id of the resource that a key created. The caller holds mu.
func (m *terms) setOwner(known *sentTerms, id string) {
	known.owner.length = uint8(min(len(id), len(known.owner.text)+1)) //gosec:disable G115 -- it is at most 41
	if copied := copy(known.owner.text[:], id); copied < len(id) {
		m.long[known.key] = strings.Clone(id)
	}
}

// reused returns the error that the service would return for this mistake.
func reused(r *Request, others []string, owner string) error {
	refusal := &errors.IdempotencyKeyReused{Refusal: errors.Refusal{
		CallInfo: errors.CallInfo{Operation: r.op.ID, IdempotencyKey: r.call.Key, Account: r.account},
		Code:     errors.CodeIdempotencyKeyReused,
		Message: fmt.Sprintf("this client has sent the key with other terms (%s), so this request was not sent",
			strings.Join(others, ", ")),
	}}
	switch r.op.Owner {
	case "payoutId":
		refusal.PayoutID = owner
	case "escrowId":
		refusal.EscrowID = owner
	}
	return refusal
}

// over ends a write. If the service refused it and did nothing, the key is free for corrected terms.
func (m *terms) over(place int32, value any, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := &m.sent[place]
	known.underway--
	known.anchored = known.anchored || !withoutEffect(err)
	if err == nil && known.owner.length == 0 {
		m.setOwner(known, textMember(value, "id"))
	}
	switch {
	case known.underway > 0:
	case !known.anchored:
		m.forget(place)
	case !known.queued:
		m.queue(place)
	}
}

// queue adds a place to those that may be forgotten, and forgets the oldest one if there are too many. A place is not
// in the queue while its write is under way. The caller holds mu.
func (m *terms) queue(place int32) {
	m.sent[place].queued = true
	m.order = append(m.order, place)
	for len(m.order) > m.limit {
		oldest := m.order[0]
		m.order = m.order[1:]
		m.sent[oldest].queued = false
		switch {
		case m.sent[oldest].replaced:
			m.vacate(oldest)
		case m.sent[oldest].underway == 0:
			m.forget(oldest)
		}
	}
}

// replace frees a key whose lifetime is over. Its place is in the queue, and is vacated when it leaves the queue. The
// caller holds mu.
func (m *terms) replace(place int32) {
	m.release(place)
	m.sent[place].replaced = true
}

// forget frees a key and its place. The caller holds mu.
func (m *terms) forget(place int32) {
	m.release(place)
	m.vacate(place)
}

// release frees a key. The caller holds mu.
func (m *terms) release(place int32) {
	delete(m.at, m.sent[place].key)
	delete(m.long, m.sent[place].key)
}

// vacate clears a place for another key. The caller holds mu.
func (m *terms) vacate(place int32) {
	m.sent[place] = sentTerms{}
	m.free = append(m.free, place)
}
