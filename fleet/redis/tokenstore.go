package fleetredis

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/fleet"
)

// TokenStore keeps the session of one credential on a Redis server, with a lock for its renewal. All processes of a
// credential then need one login. It is safe for concurrent use.
type TokenStore struct {
	client     redis.UniversalClient
	credential string
	session    string // the names of the two keys
	lock       string
	protection fleet.Protection
	lockIt     *redis.Script
	unlock     *redis.Script
}

var _ dapi.SessionLocker = (*TokenStore)(nil)

// TokenStoreOption changes a [TokenStore].
type TokenStoreOption func(*TokenStore)

// WithPrefix sets what the names of the keys begin with. The default is [DefaultPrefix].
func WithPrefix(prefix string) TokenStoreOption {
	return func(s *TokenStore) { s.name(prefix) }
}

// WithEncryption encrypts the session before it is stored: see [fleet.Encrypted], which says what the key is.
func WithEncryption(key []byte) TokenStoreOption {
	return func(s *TokenStore) { s.protection = fleet.Encrypted(key) }
}

// WithoutEncryption stores the session as it is: see [fleet.Unencrypted], which says what that allows to others.
func WithoutEncryption() TokenStoreOption {
	return func(s *TokenStore) { s.protection = fleet.Unencrypted() }
}

// Each script compares the owner and changes the lock in one step.
const (
	lockScript = `local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`
	unlockScript = `if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
end
return 1`
)

// NewTokenStore returns a store for [dapi.Developer].Store. credential is the result of [dapi.Developer.Credential],
// and names the session on the server. It needs [WithEncryption] or [WithoutEncryption]. The error says that it has
// neither, or that the key has another length.
func NewTokenStore(
	client redis.UniversalClient, credential string, options ...TokenStoreOption,
) (*TokenStore, error) {
	s := &TokenStore{
		client: client, credential: credential,
		lockIt: redis.NewScript(lockScript), unlock: redis.NewScript(unlockScript),
	}
	s.name(DefaultPrefix)
	for _, option := range options {
		option(s)
	}
	if err := s.protection.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *TokenStore) name(prefix string) {
	s.session, s.lock = prefix+"session:{"+s.credential+"}", prefix+"sessionlock:{"+s.credential+"}"
}

// Load implements [dapi.TokenStore]. If the stored value cannot be read, Load returns the zero session, and the next
// login replaces the value.
func (s *TokenStore) Load(ctx context.Context) (dapi.Session, error) {
	data, err := s.client.Get(ctx, s.session).Bytes()
	if errors.Is(err, redis.Nil) || redis.HasErrorPrefix(err, "WRONGTYPE") {
		return dapi.Session{}, nil
	}
	if err != nil {
		return dapi.Session{}, err
	}
	session, err := s.protection.Open(data, s.credential)
	if err != nil {
		return dapi.Session{}, nil //nolint:nilerr // the error of the value, not of the store
	}
	return session, nil
}

// Save implements [dapi.TokenStore]. The value ends with the refresh token.
func (s *TokenStore) Save(ctx context.Context, session dapi.Session) error {
	data, err := s.protection.Seal(session, s.credential)
	if err != nil {
		return err
	}
	ends := session.ExpiresAt
	if session.RefreshExpiresAt.After(ends) {
		ends = session.RefreshExpiresAt
	}
	return s.client.Set(ctx, s.session, data, max(time.Until(ends), time.Second)).Err()
}

// Lock implements [dapi.SessionLocker].
func (s *TokenStore) Lock(ctx context.Context, owner string, lasts time.Duration) (bool, error) {
	return s.lockIt.Run(ctx, s.client, []string{s.lock}, owner, max(lasts.Milliseconds(), 1)).Bool()
}

// Unlock implements [dapi.SessionLocker].
func (s *TokenStore) Unlock(ctx context.Context, owner string) error {
	return s.unlock.Run(ctx, s.client, []string{s.lock}, owner).Err()
}
