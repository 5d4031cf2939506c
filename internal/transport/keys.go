package transport

import (
	"bytes"
	"container/list"
	"fmt"
	"hash/maphash"
	"reflect"
	"strings"
	"sync"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/wire"
)

// Keys remembers what one client did with its idempotency keys: the terms of each key, what the key made, and what is
// known of the payment that it names. If a program uses a key for other terms by mistake, the call is refused before it
// is sent. The flows that make payments compare with it what the service returns.
//
// It is not complete: another process or another client may have used the same key. A key is kept while its payment is
// in doubt. If there are too many such keys, those that the service has forgotten are removed first. Of the other keys,
// those that were used last are kept.
//
// Its lock protects every UsedKey.
type Keys struct {
	sync.Mutex
	seed    maphash.Seed
	known   map[KeyScope]*UsedKey
	certain *list.List // *UsedKey whose payment is not in doubt, the longest unused first
	inDoubt *list.List // *UsedKey whose payment is in doubt, the longest unused first
}

// KeyScope is where a key is unique.
type KeyScope struct {
	Account   string // empty for the credential's own account
	Operation string
	Path      string // below the surface's base path
	Key       string
}

// UsedKey is what is known of one key.
type UsedKey struct {
	Scope KeyScope

	// State is what is known of the payment that the key names.
	State KeyState
	// Flows are the calls of flows that are running. Begun are all that ever ran.
	Flows, Begun int
	// Resource is the id of what the key made, from a response. If Signed is true, an approval of it may have been
	// signed, and it stays as it is.
	Resource string
	Signed   bool
	// Payment is what a flow remembers besides.
	Payment any

	place       *list.Element  // in certain or inDoubt
	first       time.Time      // when this client first used the key
	last        time.Time      // when its last call ended
	writes      int            // that are under way
	maybeStored bool           // the service may know the key
	body        [keptBody]byte // of the first request, if it is of usual length
	length      uint8          // of body; 0 if it is not kept
	digests     *wire.Digests  // of the first request, by Operation.Terms, if its body is not kept
}

// KeyState is what is known about the calls with a key.
type KeyState int

// The states of a key, from the lowest to the highest.
const (
	KeyUnpaid  KeyState = iota // none of the calls can have paid
	KeyInDoubt                 // one of them may have paid
	KeySettled                 // the payment is paid or has ended
)

const (
	// maxInDoubt is how many keys in doubt are kept.
	maxInDoubt = 100_000
	// maxCertain is how many other keys are kept.
	maxCertain = 20_000
	// keptBody is the length up to which a body is kept as it is. Most keys are used once, and their terms are never
	// compared.
	keptBody = 224
	// keyLifetime is how long the service remembers a key.
	keyLifetime = 7 * 24 * time.Hour
)

// NewKeys returns a memory of nothing.
func NewKeys() *Keys {
	return &Keys{seed: maphash.MakeSeed(), known: map[KeyScope]*UsedKey{}, certain: list.New(), inDoubt: list.New()}
}

// Keys returns the client's memory of keys, nil for a client that no constructor made.
func (c *Client) Keys() *Keys {
	if c == nil {
		return nil
	}
	return c.keys
}

// keyScope returns the scope of the request's key.
func (r *Request) keyScope() KeyScope {
	return KeyScope{r.account, r.op.ID, r.path, string(r.call.Key)}
}

// KeyScopeOf returns the scope of a key of an operation. ids are the values of the parameters of its path, in their
// order.
func KeyScopeOf(op *Operation, account, key string, ids ...string) KeyScope {
	r := NewRequest(op, account, Call{CallSettings: moneymovement.CallSettings{Key: moneymovement.Key(key)}})
	for _, id := range ids {
		_, name, _ := strings.Cut(r.path, "{")
		name, _, _ = strings.Cut(name, "}")
		r.PathParam(name, id, Rule{})
	}
	return r.keyScope()
}

// State returns what is known of the payment that a key names, and what was noted with it. A nil Keys knows of none.
func (m *Keys) State(scope KeyScope) (state KeyState, payment any) {
	if m == nil {
		return KeyUnpaid, nil
	}
	m.Lock()
	defer m.Unlock()
	if known := m.Get(scope); known != nil {
		return known.State, known.Payment
	}
	return KeyUnpaid, nil
}

// Note notes what a call showed of the payment that a key names. A nil payment changes nothing.
func (m *Keys) Note(scope KeyScope, state KeyState, payment any) {
	m.Lock()
	defer m.Unlock()
	known := m.Use(scope)
	if payment != nil {
		known.Payment = payment
	}
	m.End(known, state)
}

// Get returns what is known of a key, or nil. The caller holds the lock.
func (m *Keys) Get(scope KeyScope) *UsedKey { return m.known[scope] }

// Use returns what is known of a key, which is little if it is new. The caller holds the lock.
func (m *Keys) Use(scope KeyScope) *UsedKey {
	if known := m.known[scope]; known != nil {
		return known
	}
	now := time.Now()
	known := &UsedKey{Scope: scope, first: now, last: now}
	known.place = m.certain.PushBack(known)
	m.known[scope] = known
	m.trim()
	return known
}

// Full reports that no further key in doubt can be kept. The caller holds the lock.
func (m *Keys) Full() bool {
	for m.inDoubt.Len() >= maxInDoubt { // forget the keys that the service has forgotten
		oldest := keyAt(m.inDoubt.Front())
		if time.Since(oldest.last) <= keyLifetime || oldest.busy() {
			return true
		}
		m.forget(oldest)
	}
	return false
}

// End notes that a call has ended, and what it showed. The highest state of all calls counts: if one call paid nothing,
// another one may still have paid. The caller holds the lock.
func (m *Keys) End(known *UsedKey, state KeyState) {
	before := m.listOf(known)
	known.State, known.last = max(known.State, state), time.Now()
	if after := m.listOf(known); after == before {
		after.MoveToBack(known.place)
	} else {
		before.Remove(known.place)
		known.place = after.PushBack(known)
	}
	if !known.busy() && !known.maybeStored && !known.Signed && known.State == KeyUnpaid && known.Resource == "" {
		m.forget(known) // nothing came of it
		return
	}
	m.trim()
}

func (u *UsedKey) busy() bool { return u.writes > 0 || u.Flows > 0 }

func keyAt(place *list.Element) *UsedKey {
	return place.Value.(*UsedKey) //nolint:errcheck,forcetypeassert // nothing else is in the lists
}

func (m *Keys) listOf(known *UsedKey) *list.List {
	if known.State == KeyInDoubt {
		return m.inDoubt
	}
	return m.certain
}

// trim forgets the longest unused keys whose payment is not in doubt.
func (m *Keys) trim() {
	for place := m.certain.Front(); place != nil && m.certain.Len() > maxCertain; {
		oldest := keyAt(place)
		place = place.Next()
		if !oldest.busy() {
			m.forget(oldest)
		}
	}
}

func (m *Keys) forget(known *UsedKey) {
	m.listOf(known).Remove(known.place)
	delete(m.known, known.Scope)
}

// claim notes that a write is sent with its key, and returns the function to call when the write has ended. It refuses
// other terms with the same key.
func (m *Keys) claim(r *Request, body []byte) (finish func(value any, err error), err error) {
	if r.call.Key == "" || r.op.Repeat != RepeatKey {
		return func(any, error) {}, nil
	}
	m.Lock()
	defer m.Unlock()
	known := m.Use(r.keyScope())
	if others := m.differing(known, r, body); others != nil {
		if known.writes > 0 || known.Signed || known.State != KeyUnpaid || time.Since(known.first) <= keyLifetime {
			return nil, reused(r, others, known.Resource)
		}
		// the service has forgotten the key, and nothing was signed with it
		known.first, known.length, known.digests, known.Resource = time.Now(), 0, nil, ""
	}
	if known.length == 0 && known.digests == nil {
		m.remember(known, r, body)
	}
	known.writes++
	return func(value any, err error) { m.finish(known, value, err) }, nil
}

// remember notes the terms of the first request with a key. Secrets are not kept, nor are long bodies.
func (m *Keys) remember(known *UsedKey, r *Request, body []byte) {
	if r.op.SecretRequest || len(body) > keptBody || len(body) == 0 {
		known.digests = new(wire.DigestsOf(m.seed, r.op.Terms, body))
		return
	}
	known.length = uint8(copy(known.body[:], body)) //gosec:disable G115 -- it is at most 224
}

// differing returns the members in which a request differs from the first one with the same key.
func (m *Keys) differing(known *UsedKey, r *Request, body []byte) []string {
	first, kept := known.digests, known.body[:known.length]
	switch {
	case len(kept) == 0 && first == nil, len(kept) > 0 && bytes.Equal(kept, body):
		return nil
	case first == nil:
		first = new(wire.DigestsOf(m.seed, r.op.Terms, kept))
	}
	return wire.Differing(r.op.Terms, *first, wire.DigestsOf(m.seed, r.op.Terms, body))
}

// reused returns the error that the service would return for this mistake.
func reused(r *Request, others []string, owner string) error {
	refusal := &errors.IdempotencyKeyReused{Refusal: errors.Refusal{
		CallInfo: errors.CallInfo{Operation: r.op.ID, IdempotencyKey: string(r.call.Key), Account: r.account},
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

// finish ends a write. If the service refused it and did nothing, the key is free for corrected terms.
func (m *Keys) finish(known *UsedKey, value any, err error) {
	m.Lock()
	defer m.Unlock()
	known.writes--
	known.maybeStored = known.maybeStored || !withoutEffect(err)
	echoed := textMember(value, "idempotencyKey")
	ours := err == nil && (echoed == "" || echoed == known.Scope.Key) // a response to another call proves nothing
	if id := textMember(value, "id"); ours && id != "" && !known.Signed {
		known.Resource = id
	}
	if known.writes == 0 && !known.maybeStored {
		known.length, known.digests = 0, nil
	}
	m.End(known, KeyUnpaid)
}

// memberOf names a member of a struct.
type memberOf struct {
	of   reflect.Type
	name string
}

// textMembers remembers which fields are members, because looking through the tags of a struct takes long.
var textMembers sync.Map

// textMember returns the text of a member of a struct, or of what points to one. It is empty if there is no such
// member.
func textMember(value any, name string) string {
	v := reflect.Indirect(reflect.ValueOf(value))
	if v.Kind() != reflect.Struct {
		return ""
	}
	wanted := memberOf{v.Type(), name}
	found, known := textMembers.Load(wanted)
	if !known {
		found = wanted.field()
		textMembers.Store(wanted, found)
	}
	if field, ok := found.(int); ok && field >= 0 {
		return v.Field(field).String()
	}
	return ""
}

// field returns the index of the member's field, or -1.
func (m memberOf) field() int {
	for i := range m.of.NumField() {
		name, _, _ := strings.Cut(m.of.Field(i).Tag.Get("json"), ",")
		if name == m.name && m.of.Field(i).Type.Kind() == reflect.String {
			return i
		}
	}
	return -1
}
