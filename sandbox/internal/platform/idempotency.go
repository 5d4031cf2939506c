package platform

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/caller"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
)

// How long a key replays. Source: Limits, Idempotency.
const (
	explicitKeyLifetime = 7 * 24 * time.Hour
	derivedKeyLifetime  = 2 * time.Hour
)

// anchor is what an idempotency key holds on to: a key within (account, operation), and the terms it stands for.
type anchor struct {
	owner, account, operation, key string
}

// terms identify what was asked; two requests with equal terms are the same request.
type terms [sha256.Size]byte

// anchorOf takes the caller's key, or derives one from the request. The lifetime is how long it replays.
func anchorOf(c caller.Caller, operation string, request any) (anchor, terms, time.Duration, error) {
	canonical, err := json.Marshal([]any{c.Owner, c.Account, operation, request}, json.Deterministic(true))
	if err != nil {
		return anchor{}, terms{}, 0, err
	}
	asked := terms(sha256.Sum256(canonical))
	a := anchor{owner: c.Owner, account: c.Account, operation: operation, key: c.IdempotencyKey}
	if a.key != "" {
		return a, asked, explicitKeyLifetime, nil
	}
	a.key = "derived-" + hex.EncodeToString(asked[:16])
	return a, asked, derivedKeyLifetime, nil
}

// record is what a key stands for until it expires.
type record[T any] struct {
	terms   terms
	expires time.Time
	value   T
}

// records are the idempotency records of one kind of write. Expired ones count as absent, and are dropped all at once
// each time the table has doubled.
type records[T any] struct {
	kept  map[anchor]record[T]
	sweep int

	// Keys whose value was forgotten before they expired.
	spent      map[digest]spentKey
	spentSweep int
}

// digest stands for an anchor in less room.
type digest [16]byte

func (a anchor) digest() digest {
	sum := sha256.Sum256([]byte(a.owner + "\x00" + a.account + "\x00" + a.operation + "\x00" + a.key))
	return digest(sum[:16])
}

// spentKey is what is left of the record of a key whose value was forgotten.
type spentKey struct {
	terms   digest // the first half
	expires int64  // in Unix milliseconds
}

// forgotten refuses a key whose value was forgotten before the key expired: the same terms are gone, since what they made
// can neither be answered nor made again.
func (r *records[T]) forgotten(a anchor, asked terms, now time.Time) error {
	if len(r.spent) == 0 {
		return nil
	}
	switch spent, ok := r.spent[a.digest()]; {
	case !ok || now.UnixMilli() >= spent.expires:
		return nil
	case spent.terms != digest(asked[:16]):
		return refuse.IdempotencyKeyReused("", "")
	default:
		return refuse.Gone("The payout of this key finished, and the host has forgotten it as its setting forgetFinishedAfter says.")
	}
}

// forget drops the value of a key, if it is the one that is meant. The key itself stays known until it expires.
func (r *records[T]) forget(a anchor, isMeant func(T) bool, now time.Time) {
	kept, ok := r.kept[a]
	if !ok || !isMeant(kept.value) {
		return
	}
	delete(r.kept, a)
	if !now.Before(kept.expires) {
		return
	}
	if r.spent == nil {
		r.spent = map[digest]spentKey{}
	}
	if len(r.spent) >= max(r.spentSweep, 1024) {
		maps.DeleteFunc(r.spent, func(_ digest, spent spentKey) bool { return now.UnixMilli() >= spent.expires })
		r.spentSweep = 2 * len(r.spent)
	}
	r.spent[a.digest()] = spentKey{digest(kept.terms[:16]), kept.expires.UnixMilli()}
}

// find returns what the key stands for. Same is false when it stands for other terms.
func (r *records[T]) find(a anchor, asked terms, now time.Time) (value T, found, same bool) {
	kept, ok := r.kept[a]
	if !ok || !now.Before(kept.expires) {
		return value, false, false
	}
	return kept.value, true, kept.terms == asked
}

func (r *records[T]) keep(a anchor, asked terms, value T, now time.Time, lifetime time.Duration) {
	if r.kept == nil {
		r.kept = map[anchor]record[T]{}
	}
	if len(r.kept) >= max(r.sweep, 1024) {
		for key, kept := range r.kept {
			if !now.Before(kept.expires) {
				delete(r.kept, key)
			}
		}
		r.sweep = 2 * len(r.kept)
	}
	r.kept[a] = record[T]{terms: asked, expires: now.Add(lifetime), value: value}
}

// size is how many keys are known.
func (r *records[T]) size() int { return len(r.kept) + len(r.spent) }
