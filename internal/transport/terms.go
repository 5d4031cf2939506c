package transport

import (
	"fmt"
	"hash/maphash"
	"reflect"
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
	asked    []uint64 // by Operation.Terms; 0 for a member that the request does not have
	owner    string   // id of the resource that the key created; "" if no response showed it
	since    time.Time
	underway int
	anchored bool // the service may know the key
	queued   bool // it is in order
}

const (
	maxTerms      = 10_000             // each has about 300 bytes
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
	asked := wire.Digests(m.seed, r.op.Terms, body)
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.sent[scope]
	if known == nil || time.Since(known.since) > termsLifetime && known.underway == 0 {
		known = &sentTerms{scope: scope, asked: asked, since: time.Now()}
		m.sent[scope] = known
	}
	if others := wire.Differing(r.op.Terms, known.asked, asked); others != nil {
		return nil, known.reused(r.op, others)
	}
	known.underway++
	return func(value any, err error) { m.over(known, value, err) }, nil
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
		known.owner = idOf(value)
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

// idOf returns the id of a resource, or "".
func idOf(value any) string {
	v := reflect.ValueOf(value).Elem()
	for i := 0; v.Kind() == reflect.Struct && i < v.NumField(); i++ {
		if field := v.Field(i); v.Type().Field(i).Tag.Get("json") == "id" && field.Kind() == reflect.String {
			return field.String()
		}
	}
	return ""
}
