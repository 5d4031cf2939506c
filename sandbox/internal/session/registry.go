package session

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/refuse"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// Registry holds the integrators' accounts and their developer keys. It is safe
// for concurrent use.
type Registry struct {
	clock *clock.Clock

	mu      sync.RWMutex
	owners  map[string]string // account ids by email
	keys    map[string]*Key   // by id
	deleted map[deletedKey]struct{}
}

// deletedKey remembers a public half, since the login of a deleted key is
// refused otherwise than that of an unknown one.
type deletedKey struct {
	owner  string
	digest [sha256.Size]byte
}

// NewRegistry returns a registry without accounts.
func NewRegistry(clk *clock.Clock) *Registry {
	r := &Registry{clock: clk}
	r.Reset()
	return r
}

// Reset forgets every account and key but these, which stay as they are.
func (r *Registry) Reset(kept ...Key) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owners = map[string]string{}
	r.keys = map[string]*Key{}
	r.deleted = map[deletedKey]struct{}{}
	for _, key := range kept {
		r.owners[key.Email] = key.Owner
		r.keys[key.ID] = &key
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
	defer r.mu.Unlock()
	key.Owner = r.accountOf(key.Email)
	if r.find(key.Owner, key.PublicKey) != nil {
		return Key{}, refuse.DeveloperKeyAlreadyExists()
	}
	key.ID, key.CreatedAt = "dk_"+rand.Text(), r.clock.Now()
	delete(r.deleted, tombstone(key))
	r.keys[key.ID] = key
	return *key, nil
}

// Delete deletes a key; the sessions that it minted stop at once. An unknown id
// is refused with developer_key_not_found.
func (r *Registry) Delete(id string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := r.keys[id]
	if key == nil {
		return refuse.DeveloperKeyNotFound()
	}
	delete(r.keys, id)
	r.deleted[tombstone(key)] = struct{}{}
	return nil
}

// Keys answers every key, oldest first.
func (r *Registry) Keys() []Key {
	r.mu.RLock()
	defer r.mu.RUnlock()
	keys := make([]Key, 0, len(r.keys))
	for _, key := range r.keys {
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
	return len(r.owners) + len(r.keys) + len(r.deleted)
}

// Check is what every request, every refresh and every co-signing repeats: the
// key still exists, the source address lies in its allowlist, its scopes cover
// the route. Source: Authentication, Platform API.
func (r *Registry) Check(keyID string, source netip.Addr, scope string) (Key, error) {
	r.mu.RLock()
	key := r.keys[keyID]
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

// KeyOf answers the id of the account's key that has this public half.
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
	owner := r.owners[email]
	if owner == "" {
		return Key{}, unknownAccount
	}
	if key := r.find(owner, publicKey); key != nil {
		return *key, registered
	}
	if _, ok := r.deleted[tombstone(&Key{Owner: owner, PublicKey: publicKey})]; ok {
		return Key{}, deletedBefore
	}
	return Key{}, notRegistered
}

// find needs the lock to be held.
func (r *Registry) find(owner string, publicKey []byte) *Key {
	for _, key := range r.keys {
		if key.Owner == owner && bytes.Equal(key.PublicKey, publicKey) {
			return key
		}
	}
	return nil
}

func tombstone(key *Key) deletedKey {
	return deletedKey{key.Owner, sha256.Sum256(key.PublicKey)}
}

// usable tells whether signatures by a public half can be verified at all.
func usable(der []byte) bool {
	var refused *signing.KeyRefused
	return !errors.As(wallet.Verify(der, nil, nil), &refused)
}
