package platform

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
)

// How long a key returns its first response.
const (
	explicitKeyLifetime = 7 * 24 * time.Hour
	derivedKeyLifetime  = 2 * time.Hour
)

// scopedKey is an idempotency key within an account and an operation.
type scopedKey struct {
	Owner, Account, Operation, Key string
}

// fingerprint identifies the content of a request. Two requests with the same fingerprint are the same request.
type fingerprint [sha256.Size]byte

// keyOf returns the caller's key, or a key derived from the request, with the fingerprint of the request and the key's
// lifetime.
func keyOf(c wire.Caller, operation string, request any) (scopedKey, fingerprint, time.Duration, error) {
	canonical, err := json.Marshal([]any{c.Owner, c.Account, operation, request}, json.Deterministic(true))
	if err != nil {
		return scopedKey{}, fingerprint{}, 0, err
	}
	requested := fingerprint(sha256.Sum256(canonical))
	a := scopedKey{Owner: c.Owner, Account: c.Account, Operation: operation, Key: c.IdempotencyKey}
	if a.Key != "" {
		return a, requested, explicitKeyLifetime, nil
	}
	a.Key = "derived-" + hex.EncodeToString(requested[:16])
	return a, requested, derivedKeyLifetime, nil
}

// idempotencyRecord holds the value of a key until the key expires.
type idempotencyRecord[T any] struct {
	Anchor  scopedKey
	Terms   fingerprint
	Expires time.Time
	Value   T
}

// RecordID implements [store.Named].
func (r *idempotencyRecord[T]) RecordID() string { return r.Anchor.String() }

// String returns the anchor as one text. The key is last, because it may have any character.
func (a scopedKey) String() string {
	return a.Owner + "/" + a.Account + "/" + a.Operation + "/" + a.Key
}

// idempotencyRecords are the records of one kind of write. Expired records count as absent. They are deleted together,
// each time the table has doubled.
type idempotencyRecords[T any] struct {
	known map[digest]*idempotencyRecord[T]
	feed  *store.Writer[*idempotencyRecord[T]]
	sweep int

	// Keys whose value was deleted before they expired.
	spent      map[digest]spentKey
	spentFeed  *store.Writer[*spentRecord]
	spentSweep int
}

// loadIdempotencyRecords returns the stored records.
func loadIdempotencyRecords[T any](k *store.Keeper, kind string) *idempotencyRecords[T] {
	r := &idempotencyRecords[T]{known: map[digest]*idempotencyRecord[T]{}, spent: map[digest]spentKey{}}
	r.feed = store.OpenWriter(k, kind, func(record *idempotencyRecord[T]) { r.known[record.Anchor.digest()] = record })
	r.spentFeed = store.OpenWriter(k, kind+"_spent", func(record *spentRecord) { r.spent[record.Digest] = record.Key })
	return r
}

func (r *idempotencyRecords[T]) clear() {
	r.feed.Clear()
	r.spentFeed.Clear()
	r.known, r.sweep, r.spent, r.spentSweep = map[digest]*idempotencyRecord[T]{}, 0, map[digest]spentKey{}, 0
}

// spentRecord is the stored form of a spent key.
type spentRecord struct {
	Digest digest
	Key    spentKey
}

// RecordID implements [store.Named].
func (r *spentRecord) RecordID() string { return hex.EncodeToString(r.Digest[:]) }

// digest is a short form of an anchor.
type digest [16]byte

func (a scopedKey) digest() digest {
	sum := sha256.Sum256([]byte(a.String()))
	return digest(sum[:16])
}

// spentKey is the rest of a record whose value was deleted.
type spentKey struct {
	Terms   digest // the first half
	Expires int64  // in Unix milliseconds
}

// checkSpent refuses a key whose resource was deleted before the key expired. For the same terms the refusal is gone:
// the host cannot return the first response, and must not create the resource again.
func (r *idempotencyRecords[T]) checkSpent(a scopedKey, requested fingerprint, now time.Time) error {
	if len(r.spent) == 0 {
		return nil
	}
	switch spent, ok := r.spent[a.digest()]; {
	case !ok || now.UnixMilli() >= spent.Expires:
		return nil
	case spent.Terms != digest(requested[:16]):
		return wire.IdempotencyKeyReused("", "")
	default:
		return wire.Gone("The payout of this key is finished, and the host has forgotten it " +
			"(setting forgetFinishedAfter).")
	}
}

// forget deletes the value of a key if match accepts it. The key itself is known until it expires.
func (r *idempotencyRecords[T]) forget(a scopedKey, match func(T) bool, now time.Time) {
	at := a.digest()
	record, ok := r.known[at]
	if !ok || !match(record.Value) {
		return
	}
	delete(r.known, at)
	r.feed.Delete(record)
	if !now.Before(record.Expires) {
		return
	}
	if len(r.spent) >= max(r.spentSweep, 1024) {
		for at, spent := range r.spent {
			if now.UnixMilli() >= spent.Expires {
				delete(r.spent, at)
				r.spentFeed.Delete(&spentRecord{at, spent})
			}
		}
		r.spentSweep = 2 * len(r.spent)
	}
	spent := &spentRecord{at, spentKey{digest(record.Terms[:16]), record.Expires.UnixMilli()}}
	r.spent[spent.Digest] = spent.Key
	r.spentFeed.Put(spent)
}

// find returns the value of a key. same is false if the key has other terms.
func (r *idempotencyRecords[T]) find(a scopedKey, requested fingerprint, now time.Time) (value T, found, same bool) {
	record, ok := r.known[a.digest()]
	if !ok || !now.Before(record.Expires) {
		return value, false, false
	}
	return record.Value, true, record.Terms == requested
}

func (r *idempotencyRecords[T]) put(
	a scopedKey, requested fingerprint, value T, now time.Time, lifetime time.Duration,
) {
	if len(r.known) >= max(r.sweep, 1024) {
		for key, record := range r.known {
			if !now.Before(record.Expires) {
				delete(r.known, key)
				r.feed.Delete(record)
			}
		}
		r.sweep = 2 * len(r.known)
	}
	created := &idempotencyRecord[T]{Anchor: a, Terms: requested, Expires: now.Add(lifetime), Value: value}
	r.known[a.digest()] = created
	r.feed.Put(created)
}

// size returns how many keys are known.
func (r *idempotencyRecords[T]) size() int { return len(r.known) + len(r.spent) }
