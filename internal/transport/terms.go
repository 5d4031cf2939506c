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
	order []*sentTerms // oldest first, with those that were freed since
}

// termsScope is where a key has its meaning.
type termsScope struct{ account, operation, path, key string }

type sentTerms struct {
	scope    termsScope
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
		return nil, &errors.InvalidInput{Head: r.unsent(), Fields: []errors.Field{{
			Field: "Idempotency-Key", Code: string(errors.CodeIdempotencyKeyReused), Message: "was sent with other terms before",
		}}}
	}
	known.underway++
	return func(err error) { m.over(known, err) }, nil
}

// note adds an entry and forgets the oldest one that nothing depends on. The caller holds mu.
func (m *terms) note(scope termsScope, digest [sha256.Size]byte) *sentTerms {
	known := &sentTerms{scope: scope, digest: digest, since: time.Now()}
	m.sent[scope] = known
	m.order = append(m.order, known)
	for len(m.order) > maxTerms && m.order[0].underway == 0 && m.order[0] != known {
		m.forget(m.order[0])
		m.order = m.order[1:]
	}
	return known
}

// over ends a write. If the service refused it before anything came of it, the key is free for corrected terms.
func (m *terms) over(known *sentTerms, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known.underway--
	known.anchored = known.anchored || !withoutEffect(err)
	if known.underway == 0 && !known.anchored {
		m.forget(known)
	}
}

// forget frees a key, unless it has gone out anew since. The caller holds mu.
func (m *terms) forget(known *sentTerms) {
	if m.sent[known.scope] == known {
		delete(m.sent, known.scope)
	}
}
