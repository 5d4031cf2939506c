package session

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Registry holds the integrators' accounts and their developer keys. It is safe
// for concurrent use.
type Registry struct {
	clock *clock.Clock

	mu      sync.RWMutex
	keeper  *store.Keeper
	owners  *store.Table[owner] // by email
	keys    *store.Table[Key]   // by id
	deleted *store.Table[tombstone]
}

// owner is an integrator's account.
type owner struct{ ID string }

// tombstone remembers the public half that it is named after, since the login of a
// deleted key is refused otherwise than that of an unknown one.
type tombstone struct{}

// NewRegistry returns the accounts and keys that are kept.
func NewRegistry(clk *clock.Clock, kept store.Store) *Registry {
	r := &Registry{clock: clk, keeper: store.NewKeeper(kept)}
	r.owners = store.Open[owner](r.keeper, "session.owner")
	r.keys = store.Open[Key](r.keeper, "session.key")
	r.deleted = store.Open[tombstone](r.keeper, "session.deleted_key")
	return r
}

// leave keeps what has changed, and gives the lock back.
func (r *Registry) leave() {
	defer r.mu.Unlock()
	r.keeper.Commit()
}

// Reset forgets every account and key but these, which stay as they are.
func (r *Registry) Reset(kept ...Key) {
	r.mu.Lock()
	defer r.leave()
	r.owners.Clear()
	r.keys.Clear()
	r.deleted.Clear()
	for _, key := range kept {
		r.owners.Put(key.Email, &owner{key.Owner})
		r.keys.Put(key.ID, &key)
	}
}

// Register adds a developer key. It is refused with validation_failed, or with
// developer_key_already_exists if the public half belongs to a key of the account.
func (r *Registry) Register(registration Registration) (Key, error) {
	key, err := registration.key()
	if err != nil {
		return Key{}, err
	}
	r.mu.Lock()
	defer r.leave()
	key.Owner = r.accountOf(key.Email)
	if r.find(key.Owner, key.PublicKey) != nil {
		return Key{}, refuse.DeveloperKeyAlreadyExists()
	}
	key.ID, key.CreatedAt = "dk_"+rand.Text(), r.clock.Now()
	r.deleted.Delete(tombstoneOf(key.Owner, key.PublicKey))
	r.keys.Put(key.ID, key)
	return *key, nil
}

// Delete deletes a key; the sessions that it minted stop at once. An unknown id
// is refused with developer_key_not_found.
func (r *Registry) Delete(id string) error {
	r.mu.Lock()
	defer r.leave()
	key := r.keys.Get(id)
	if key == nil {
		return refuse.DeveloperKeyNotFound()
	}
	r.keys.Delete(id)
	r.deleted.Put(tombstoneOf(key.Owner, key.PublicKey), &tombstone{})
	return nil
}

// Keys returns every key, oldest first.
func (r *Registry) Keys() []Key {
	r.mu.RLock()
	defer r.mu.RUnlock()
	keys := make([]Key, 0, r.keys.Len())
	for _, key := range r.keys.All() {
		keys = append(keys, *key)
	}
	slices.SortFunc(keys, func(a, b Key) int {
		if byAge := a.CreatedAt.Compare(b.CreatedAt); byAge != 0 {
			return byAge
		}
		return strings.Compare(a.ID, b.ID)
	})
	return keys
}

// Records is how many accounts there are, with their keys and those that were deleted.
func (r *Registry) Records() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.owners.Len() + r.keys.Len() + r.deleted.Len()
}

// Check is what every request, every refresh and every co-signing repeats: the
// key still exists, the source address lies in its allowlist, its scopes cover
// the route.
func (r *Registry) Check(keyID string, source netip.Addr, scope string) (Key, error) {
	r.mu.RLock()
	key := r.keys.Get(keyID)
	r.mu.RUnlock()
	switch {
	case key == nil, !key.allows(source):
		return Key{}, refuse.Forbidden()
	case !key.holds(scope):
		return Key{}, refuse.MissingScope(scope, key.Scopes)
	default:
		return *key, nil
	}
}

// KeyOf returns the id of the account's key that has this public half.
func (r *Registry) KeyOf(owner string, publicKey []byte) (id string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	key := r.find(owner, publicKey)
	if key == nil {
		return "", false
	}
	return key.ID, true
}

// standing is what the registry knows of a public half that wants to log in.
type standing int

const (
	unknownAccount standing = iota
	notRegistered
	deletedBefore
	registered
)

// lookUp finds the key of an account by its public half.
func (r *Registry) lookUp(email string, publicKey []byte) (Key, standing) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	account := r.owners.Get(email)
	if account == nil {
		return Key{}, unknownAccount
	}
	if key := r.find(account.ID, publicKey); key != nil {
		return *key, registered
	}
	if r.deleted.Get(tombstoneOf(account.ID, publicKey)) != nil {
		return Key{}, deletedBefore
	}
	return Key{}, notRegistered
}

// find needs the lock to be held.
func (r *Registry) find(owner string, publicKey []byte) *Key {
	for _, key := range r.keys.All() {
		if key.Owner == owner && bytes.Equal(key.PublicKey, publicKey) {
			return key
		}
	}
	return nil
}

func tombstoneOf(owner string, publicKey []byte) (id string) {
	digest := sha256.Sum256(publicKey)
	return owner + "/" + hex.EncodeToString(digest[:])
}

// usable reports whether signatures by a public half can be verified at all.
func usable(der []byte) bool {
	var refused *signing.KeyRefused
	return !errors.As(wallet.Verify(der, nil, nil), &refused)
}
