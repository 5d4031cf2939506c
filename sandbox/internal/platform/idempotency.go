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

// anchor is an idempotency key within an account and an operation, with the terms of its request.
type anchor struct {
	Owner, Account, Operation, Key string
}

// terms identify the content of a request. Two requests with equal terms are the same request.
type terms [sha256.Size]byte

// anchorOf returns the caller's key, or a key derived from the request, with its lifetime.
func anchorOf(c wire.Caller, operation string, request any) (anchor, terms, time.Duration, error) {
	canonical, err := json.Marshal([]any{c.Owner, c.Account, operation, request}, json.Deterministic(true))
	if err != nil {
		return anchor{}, terms{}, 0, err
	}
	asked := terms(sha256.Sum256(canonical))
	a := anchor{Owner: c.Owner, Account: c.Account, Operation: operation, Key: c.IdempotencyKey}
	if a.Key != "" {
		return a, asked, explicitKeyLifetime, nil
	}
	a.Key = "derived-" + hex.EncodeToString(asked[:16])
	return a, asked, derivedKeyLifetime, nil
}

// record holds the value of a key until the key expires.
type record[T any] struct {
	Anchor  anchor
	Terms   terms
	Expires time.Time
	Value   T
}

// RecordID implements [store.Named].
func (r *record[T]) RecordID() string { return r.Anchor.text() }

// text returns the anchor as one text. The key is last, because it may have any character.
func (a anchor) text() string {
	return a.Owner + "/" + a.Account + "/" + a.Operation + "/" + a.Key
}

// records are the idempotency records of one kind of write. Expired records count as absent. They are deleted together,
// each time the table has doubled.
type records[T any] struct {
	kept  map[digest]*record[T]
	feed  *store.Feed[*record[T]]
	sweep int

	// Keys whose value was deleted before they expired.
	spent      map[digest]spentKey
	spentFeed  *store.Feed[*spentRecord]
	spentSweep int
}

// openRecords returns the stored records.
func openRecords[T any](k *store.Keeper, kind string) *records[T] {
	r := &records[T]{kept: map[digest]*record[T]{}, spent: map[digest]spentKey{}}
	r.feed = store.Follow(k, kind, func(kept *record[T]) { r.kept[kept.Anchor.digest()] = kept })
	r.spentFeed = store.Follow(k, kind+"_spent", func(kept *spentRecord) { r.spent[kept.Digest] = kept.Key })
	return r
}

func (r *records[T]) clear() {
	r.feed.Clear()
	r.spentFeed.Clear()
	r.kept, r.sweep, r.spent, r.spentSweep = map[digest]*record[T]{}, 0, map[digest]spentKey{}, 0
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

func (a anchor) digest() digest {
	sum := sha256.Sum256([]byte(a.text()))
	return digest(sum[:16])
}

// spentKey is the rest of a record whose value was deleted.
type spentKey struct {
	Terms   digest // the first half
	Expires int64  // in Unix milliseconds
}

// forgotten refuses a key whose value was deleted before the key expired. For the same terms the refusal is gone: the
// host cannot return the first response, and must not create the resource again.
func (r *records[T]) forgotten(a anchor, asked terms, now time.Time) error {
	if len(r.spent) == 0 {
		return nil
	}
	switch spent, ok := r.spent[a.digest()]; {
	case !ok || now.UnixMilli() >= spent.Expires:
		return nil
	case spent.Terms != digest(asked[:16]):
		return wire.IdempotencyKeyReused("", "")
	default:
		return wire.Gone("The payout of this key is finished, and the host has forgotten it " +
			"(setting forgetFinishedAfter).")
	}
}

// forget deletes the value of a key, if it is the given value. The key itself is known until it expires.
func (r *records[T]) forget(a anchor, isMeant func(T) bool, now time.Time) {
	at := a.digest()
	kept, ok := r.kept[at]
	if !ok || !isMeant(kept.Value) {
		return
	}
	delete(r.kept, at)
	r.feed.Delete(kept)
	if !now.Before(kept.Expires) {
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
	spent := &spentRecord{at, spentKey{digest(kept.Terms[:16]), kept.Expires.UnixMilli()}}
	r.spent[spent.Digest] = spent.Key
	r.spentFeed.Put(spent)
}

// find returns the value of a key. same is false if the key has other terms.
func (r *records[T]) find(a anchor, asked terms, now time.Time) (value T, found, same bool) {
	kept, ok := r.kept[a.digest()]
	if !ok || !now.Before(kept.Expires) {
		return value, false, false
	}
	return kept.Value, true, kept.Terms == asked
}

func (r *records[T]) keep(a anchor, asked terms, value T, now time.Time, lifetime time.Duration) {
	if len(r.kept) >= max(r.sweep, 1024) {
		for key, kept := range r.kept {
			if !now.Before(kept.Expires) {
				delete(r.kept, key)
				r.feed.Delete(kept)
			}
		}
		r.sweep = 2 * len(r.kept)
	}
	made := &record[T]{Anchor: a, Terms: asked, Expires: now.Add(lifetime), Value: value}
	r.kept[a.digest()] = made
	r.feed.Put(made)
}

// size returns how many keys are known.
func (r *records[T]) size() int { return len(r.kept) + len(r.spent) }
