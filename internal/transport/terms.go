package transport

import (
	"crypto/sha256"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/errors"
)

// terms remembers what explicit idempotency keys went out with, so that a key that a program reuses by mistake for another payment is
// refused here, before it is sent. It is a help and no proof: other processes, and what is forgotten, the service refuses.
//
// Source: Limits, Idempotency.
type terms struct {
	mu    sync.Mutex
	sent  map[termsScope]*sentTerms
	order []termsScope // oldest first
}

// termsScope is where a key has its meaning.
type termsScope struct{ account, operation, path, key string }

type sentTerms struct {
	digest   [sha256.Size]byte
	since    time.Time
	underway int
	anchored bool // the service may know the key by now
}

const (
	maxTerms      = 10_000             // of some 200 bytes each
	termsLifetime = 7 * 24 * time.Hour // of an explicit key
)

func newTerms() *terms { return &terms{sent: map[termsScope]*sentTerms{}} }

// claim notes that a write goes out with its key, and answers what to call when it is over. It refuses other terms under the same key.
func (m *terms) claim(r *Request, body []byte) (over func(error), err error) {
	if !r.call.KeySet || r.op.Repeat != RepeatKey {
		return func(error) {}, nil
	}
	scope := termsScope{account: r.account, operation: r.op.ID, path: r.path, key: r.call.Key}
	digest := sha256.Sum256(body)
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.sent[scope]
	if known == nil || time.Since(known.since) > termsLifetime && known.underway == 0 {
		known = m.note(scope, digest)
	}
	if known.digest != digest {
		return nil, &errors.InvalidInput{Operation: r.op.ID, Fields: []errors.Field{{
			Field: "Idempotency-Key", Code: string(errors.CodeIdempotencyKeyReused), Message: "was sent with other terms before",
		}}}
	}
	known.underway++
	return func(err error) { m.over(scope, known, err) }, nil
}

// note adds an entry and forgets the oldest one that nothing depends on. The caller holds mu.
func (m *terms) note(scope termsScope, digest [sha256.Size]byte) *sentTerms {
	if m.sent[scope] == nil {
		m.order = append(m.order, scope)
	}
	for len(m.order) > maxTerms {
		if oldest := m.sent[m.order[0]]; oldest != nil && oldest.underway > 0 {
			break
		}
		delete(m.sent, m.order[0])
		m.order = m.order[1:]
	}
	known := &sentTerms{digest: digest, since: time.Now()}
	m.sent[scope] = known
	return known
}

// over ends a write. If the service refused it before anything came of it, the key is free for corrected terms.
func (m *terms) over(scope termsScope, known *sentTerms, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known.underway--
	known.anchored = known.anchored || !withoutEffect(err)
	if known.underway == 0 && !known.anchored && m.sent[scope] == known {
		delete(m.sent, scope)
	}
}

// withoutEffect reports errors after which the service does not hold the key for these terms.
func withoutEffect(err error) bool {
	failure, ok := errors.AsType[errors.Failure](err)
	return ok && failure.MoneyMoved() == errors.NotMoved
}
