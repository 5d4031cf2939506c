// Package session has the credentials of every surface. The platform API has accounts with developer keys, the login
// by a signed challenge, access and refresh tokens, and the checks of the key that every request repeats. The app API
// has app keys with their scopes and spend limits. The reference endpoints have access tokens. Each credential is valid
// on its own surface only.
package session

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moneymovement/moneymovement-go/sandbox/internal/clock"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/store"
	"github.com/moneymovement/moneymovement-go/sandbox/internal/wire"
	"github.com/moneymovement/moneymovement-go/signing"
	"github.com/moneymovement/moneymovement-go/signing/wallet"
)

// KeyRegistry holds the integrators' accounts and their developer keys. It is safe
// for concurrent use.
type KeyRegistry struct {
	clock *clock.Clock

	mu      sync.RWMutex
	keeper  *store.Keeper
	owners  *store.Table[owner] // by email
	keys    *store.Table[Key]   // by id
	deleted *store.Table[tombstone]
}

// owner is an integrator's account.
type owner struct{ ID string }

// tombstone stores the public key of a deleted developer key, which is its id. The login of a deleted key is refused in
// another way than that of an unknown key.
type tombstone struct{}

// NewKeyRegistry returns a Registry with the stored accounts and keys.
func NewKeyRegistry(clk *clock.Clock, backend store.Store) *KeyRegistry {
	r := &KeyRegistry{clock: clk, keeper: store.NewKeeper(backend)}
	r.owners = store.Open[owner](r.keeper, "session.owner")
	r.keys = store.Open[Key](r.keeper, "session.key")
	r.deleted = store.Open[tombstone](r.keeper, "session.deleted_key")
	return r
}

// Revision is a number that grows with each change of the accounts and keys.
func (r *KeyRegistry) Revision() int64 { return r.keeper.Revision() }

// commit stores what has changed, and releases the lock.
func (r *KeyRegistry) commit() {
	defer r.mu.Unlock()
	r.keeper.Commit()
}

// Reset deletes every account and key except these, which do not change.
func (r *KeyRegistry) Reset(keep ...Key) {
	r.mu.Lock()
	defer r.commit()
	r.owners.Clear()
	r.keys.Clear()
	r.deleted.Clear()
	for _, key := range keep {
		r.owners.Put(key.Email, &owner{key.Owner})
		r.keys.Put(key.ID, &key)
	}
}

// Register adds a developer key. It refuses with validation_failed, or with developer_key_already_exists if the account
// has a key with this public key.
func (r *KeyRegistry) Register(registration Registration) (Key, error) {
	key, err := registration.key()
	if err != nil {
		return Key{}, err
	}
	r.mu.Lock()
	defer r.commit()
	key.Owner = r.accountOf(key.Email)
	if r.find(key.Owner, key.PublicKey) != nil {
		return Key{}, wire.DeveloperKeyAlreadyExists()
	}
	r.add(key)
	return *key, nil
}

// RegisterOnce is Register, but it returns the key that the account has already.
func (r *KeyRegistry) RegisterOnce(registration Registration) (Key, error) {
	key, err := registration.key()
	if err != nil {
		return Key{}, err
	}
	r.mu.Lock()
	defer r.commit()
	key.Owner = r.accountOf(key.Email)
	if existing := r.find(key.Owner, key.PublicKey); existing != nil {
		return *existing, nil
	}
	r.add(key)
	return *key, nil
}

// add must be called with the lock held.
func (r *KeyRegistry) add(key *Key) {
	key.ID, key.CreatedAt = "dk_"+rand.Text(), r.clock.Now()
	r.deleted.Delete(tombstoneOf(key.Owner, key.PublicKey))
	r.keys.Put(key.ID, key)
}

// Delete deletes a key. Its sessions end at once. An unknown id is refused with developer_key_not_found.
func (r *KeyRegistry) Delete(id string) error {
	r.mu.Lock()
	defer r.commit()
	key := r.keys.Get(id)
	if key == nil {
		return wire.DeveloperKeyNotFound()
	}
	r.keys.Delete(id)
	r.deleted.Put(tombstoneOf(key.Owner, key.PublicKey), &tombstone{})
	return nil
}

// Keys returns every key, oldest first.
func (r *KeyRegistry) Keys() []Key {
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

// Records returns how many accounts, keys and deleted keys there are.
func (r *KeyRegistry) Records() int {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.owners.Len() + r.keys.Len() + r.deleted.Len()
}

// Check makes the checks of every request, refresh and co-signing: the key still exists, the source address is in its
// allowlist, and its scopes cover the route.
func (r *KeyRegistry) Check(keyID string, source netip.Addr, scope string) (Key, error) {
	r.mu.RLock()
	key := r.keys.Get(keyID)
	r.mu.RUnlock()
	switch {
	case key == nil, !key.allowsSource(source):
		return Key{}, wire.Forbidden()
	case !key.hasScope(scope):
		return Key{}, wire.MissingScope(scope, key.Scopes)
	default:
		return *key, nil
	}
}

// KeyOf returns the id of the account's key with this public key.
func (r *KeyRegistry) KeyOf(owner string, publicKey []byte) (id string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	key := r.find(owner, publicKey)
	if key == nil {
		return "", false
	}
	return key.ID, true
}

// keyStatus says whether a public key is registered.
type keyStatus int

const (
	unknownAccount keyStatus = iota
	notRegistered
	deletedBefore
	registered
)

// lookup finds the key of an account by its public key.
func (r *KeyRegistry) lookup(email string, publicKey []byte) (Key, keyStatus) {
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

// find must be called with the lock held.
func (r *KeyRegistry) find(owner string, publicKey []byte) *Key {
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

// canVerify reports whether the host can verify signatures of a public key.
func canVerify(der []byte) bool {
	var refused *signing.KeyRefused
	return !errors.As(wallet.Verify(der, nil, nil), &refused)
}

// Account returns the id of an integrator's account and its email as it is stored. For a new email it creates an
// account.
func (r *KeyRegistry) Account(email string) (id, canonical string) {
	canonical = CanonicalEmail(email)
	r.mu.Lock()
	defer r.commit()
	return r.accountOf(canonical), canonical
}

// accountOf must be called with the lock held.
func (r *KeyRegistry) accountOf(email string) string {
	if existing := r.owners.Get(email); existing != nil {
		return existing.ID
	}
	opened := &owner{"acc_" + rand.Text()}
	r.owners.Put(email, opened)
	return opened.ID
}

// OwnerOf returns the id of the integrator's account that has the email.
func (r *KeyRegistry) OwnerOf(email string) (id string, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if existing := r.owners.Get(CanonicalEmail(email)); existing != nil {
		return existing.ID, true
	}
	return "", false
}

// The scopes of a developer key. The description says that there are four, and does not name them.
const (
	ScopeRead     = "read"
	ScopeContacts = "contacts:write"
	ScopePayouts  = "payouts:write"
	ScopeAccounts = "accounts:write"
)

// Scopes returns all four scopes.
func Scopes() []string {
	return []string{ScopeRead, ScopeContacts, ScopePayouts, ScopeAccounts}
}

// Key is a developer key. Keys are immutable.
type Key struct {
	ID        string // dk_
	Owner     string // id of the account
	Email     string // of the account
	PublicKey []byte // DER SubjectPublicKeyInfo
	Scopes    []string
	Allowlist []netip.Prefix // empty for every address
	CreatedAt time.Time
}

// allowsSource reports whether requests may come from source.
func (k *Key) allowsSource(source netip.Addr) bool {
	if len(k.Allowlist) == 0 {
		return true
	}
	source = source.Unmap().WithZone("")
	return slices.ContainsFunc(k.Allowlist, func(p netip.Prefix) bool { return p.Contains(source) })
}

// hasScope reports whether the key has the scope of a route. A route may need no scope.
func (k *Key) hasScope(scope string) bool {
	return scope == "" || slices.Contains(k.Scopes, scope)
}

// The limits of a developer key.
const (
	maxPublicKey = 4096
	maxAllowlist = 64
)

// Registration is a request for a developer key, as the service's own application would make it.
type Registration struct {
	// Email names the account. If the host does not know it, it creates the account.
	Email string `json:"email"`
	// PublicKey is the DER SubjectPublicKeyInfo in base64, at most 4,096 characters.
	PublicKey string `json:"publicKey"`
	// Scopes are the scopes of the key, all four if empty.
	Scopes []string `json:"scopes,omitzero"`
	// Allowlist has 1 to 64 addresses or CIDR networks. Without it, every address is allowed.
	Allowlist []string `json:"allowlist,omitzero"`
}

// key checks a registration. Refusals name the fields.
func (r Registration) key() (*Key, error) {
	var wrong []wire.Field
	refuseField := func(field, code, message string) {
		wrong = append(wrong, wire.Field{Field: field, Code: code, Message: message})
	}

	key := &Key{Email: CanonicalEmail(r.Email), Scopes: slices.Clone(r.Scopes)}
	if key.Email == "" {
		refuseField("email", "missing", "email is required: a key belongs to an account.")
	}
	der, err := base64.StdEncoding.DecodeString(r.PublicKey)
	switch {
	case r.PublicKey == "":
		refuseField("publicKey", "missing", "publicKey is required.")
	case len(r.PublicKey) > maxPublicKey:
		refuseField("publicKey", "string_too_long",
			fmt.Sprintf("A public key has at most %d characters.", maxPublicKey))
	case err != nil:
		refuseField("publicKey", "bytes_invalid_encoding", "A public key must be DER in standard base64.")
	case !canVerify(der):
		refuseField("publicKey", "value_error",
			"A public key must be ECDSA P-256 or secp256k1, Ed25519, or RSA with at least 2048 bits.")
	}
	key.PublicKey = der

	if r.Scopes == nil {
		key.Scopes = Scopes()
	}
	for i, scope := range r.Scopes {
		if !slices.Contains(Scopes(), scope) {
			refuseField(fmt.Sprintf("scopes.%d", i), "enum", "There is no such scope.")
		}
	}
	if r.Allowlist != nil && len(r.Allowlist) == 0 || len(r.Allowlist) > maxAllowlist {
		refuseField("allowlist", "too_long", fmt.Sprintf("An allowlist has 1 to %d entries.", maxAllowlist))
	}
	for i, entry := range r.Allowlist {
		network, ok := parseNetwork(entry)
		if !ok {
			refuseField(fmt.Sprintf("allowlist.%d", i), "value_error", "An entry is an address or a CIDR network.")
		}
		key.Allowlist = append(key.Allowlist, network)
	}
	if len(wrong) > 0 {
		return nil, wire.ValidationFailed("", wrong...)
	}
	return key, nil
}

// parseNetwork reads an address or a CIDR network. An IPv4 address that is mapped into IPv6 becomes IPv4 again, like
// source addresses.
func parseNetwork(entry string) (netip.Prefix, bool) {
	if network, err := netip.ParsePrefix(entry); err == nil {
		if mapped := network.Bits() - 96; network.Addr().Is4In6() && mapped >= 0 {
			network = netip.PrefixFrom(network.Addr().Unmap(), mapped)
		}
		return network.Masked(), true
	}
	address, err := netip.ParseAddr(entry)
	if err != nil || address.Zone() != "" {
		return netip.Prefix{}, false
	}
	address = address.Unmap()
	return netip.PrefixFrom(address, address.BitLen()), true
}

// CanonicalEmail returns an email as it is stored.
func CanonicalEmail(email string) string {
	return strings.ToLower(strings.TrimSpace(email))
}
