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
type terms struct {
	seed  maphash.Seed
	mu    sync.Mutex
	sent  map[termsScope]*sentTerms
	order []*sentTerms // entries of finished writes, oldest first
}

// termsScope is where a key is unique.
type termsScope struct{ account, operation, path, key string }

type sentTerms struct {
	scope    termsScope
	body     []byte   // of the first request, until asked is needed
	asked    []uint64 // by Operation.Terms; 0 for a member that the request does not have
	owner    string   // id of the resource that the key created; "" if no response showed it
	since    time.Time
	underway int
	anchored bool // the service may know the key
	queued   bool // it is in order
}

const (
	maxTerms      = 10_000             // each has about 300 bytes, and its body
	maxTermsBody  = 512                // of a longer body, only the digests are kept
	termsLifetime = 7 * 24 * time.Hour // of a caller's key
)

func newTerms() *terms { return &terms{seed: maphash.MakeSeed(), sent: map[termsScope]*sentTerms{}} }

// claim notes that a write is sent with its key, and returns the function to call when the write has ended. It refuses
// other terms with the same key.
func (m *terms) claim(r *Request, body []byte) (over func(value any, err error), err error) {
	if !r.call.KeySet || r.op.Repeat != RepeatKey {
		return func(any, error) {}, nil
	}
	scope := termsScope{account: r.account, operation: r.op.ID, path: r.path, key: r.call.Key}
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.sent[scope]
	if known == nil || time.Since(known.since) > termsLifetime && known.underway == 0 {
		known = &sentTerms{scope: scope, body: body, since: time.Now()}
		m.sent[scope] = known
		if len(body) > maxTermsBody || r.op.Tells {
			known.digest(m.seed, r.op)
		}
	} else if !bytes.Equal(known.body, body) {
		known.digest(m.seed, r.op)
		if others := wire.Differing(r.op.Terms, known.asked, wire.Digests(m.seed, r.op.Terms, body)); others != nil {
			return nil, known.reused(r.op, others)
		}
	}
	known.underway++
	return func(value any, err error) { m.over(known, value, err) }, nil
}

// digest keeps the digests of the terms in place of the body. Most keys are used once, and need no digests.
func (known *sentTerms) digest(seed maphash.Seed, op *Operation) {
	if known.body != nil {
		known.asked, known.body = wire.Digests(seed, op.Terms, known.body), nil
	}
}

// reused returns the error that the service would return for this mistake.
func (known *sentTerms) reused(op *Operation, others []string) error {
	reused := &errors.IdempotencyKeyReused{Refusal: errors.Refusal{
		CallInfo: errors.CallInfo{Operation: op.ID, IdempotencyKey: known.scope.key, Account: known.scope.account},
		Code:     errors.CodeIdempotencyKeyReused,
		Message: fmt.Sprintf("this client has sent the key with other terms (%s), so this request was not sent",
			strings.Join(others, ", ")),
	}}
	switch op.Owner {
	case "payoutId":
		reused.PayoutID = known.owner
	case "escrowId":
		reused.EscrowID = known.owner
	}
	return reused
}

// over ends a write. If the service refused it and did nothing, the key is free for corrected terms.
func (m *terms) over(known *sentTerms, value any, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known.underway--
	known.anchored = known.anchored || !withoutEffect(err)
	if err == nil && known.owner == "" {
		known.owner = textMember(value, "id")
	}
	switch {
	case known.underway > 0:
	case !known.anchored:
		m.forget(known)
	case !known.queued:
		m.queue(known)
	}
}

// queue adds an entry to those that may be forgotten, and forgets the oldest entry if there are too many. An entry is
// not in the queue while its write is under way. The caller holds mu.
func (m *terms) queue(known *sentTerms) {
	known.queued = true
	m.order = append(m.order, known)
	for len(m.order) > maxTerms {
		oldest := m.order[0]
		m.order = m.order[1:]
		oldest.queued = false
		if oldest.underway == 0 {
			m.forget(oldest)
		}
	}
}

// forget frees a key, unless a newer write uses it. The caller holds mu.
func (m *terms) forget(known *sentTerms) {
	if m.sent[known.scope] == known {
		delete(m.sent, known.scope)
	}
}
