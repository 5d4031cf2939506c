package fleetpostgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/moneymovement/moneymovement-go/dapi"
	"github.com/moneymovement/moneymovement-go/fleet"
	"github.com/moneymovement/moneymovement-go/payments/postgres/internal/sqlname"
)

// TokenStore keeps the session of one credential in a database, with a lock for its renewal. All processes of a
// credential then need one login. It is safe for concurrent use.
type TokenStore struct {
	db         DB
	schema     string
	named      sqlname.Schema
	credential string
	protection fleet.Protection
}

var _ dapi.SessionLocker = (*TokenStore)(nil)

// TokenStoreOption changes a [TokenStore].
type TokenStoreOption func(*TokenStore)

// WithSchema sets the schema, which [Migrate] made. The default is [DefaultSchema].
func WithSchema(schema string) TokenStoreOption {
	return func(s *TokenStore) { s.schema = schema }
}

// WithEncryption encrypts the session before it is stored: see [fleet.Encrypted], which says what the key is.
func WithEncryption(key []byte) TokenStoreOption {
	return func(s *TokenStore) { s.protection = fleet.Encrypted(key) }
}

// WithoutEncryption stores the session as it is: see [fleet.Unencrypted], which says what that allows to others.
func WithoutEncryption() TokenStoreOption {
	return func(s *TokenStore) { s.protection = fleet.Unencrypted() }
}

// NewTokenStore returns a store for [dapi.Developer].Store. credential is the result of [dapi.Developer.Credential],
// and names the session in the table. Call [Migrate] before. It needs [WithEncryption] or [WithoutEncryption]. The
// error says that it has neither, that the key has another length, or that the schema has no name.
func NewTokenStore(db DB, credential string, options ...TokenStoreOption) (*TokenStore, error) {
	s := &TokenStore{db: db, credential: credential}
	for _, option := range options {
		option(s)
	}
	if err := s.protection.Err(); err != nil {
		return nil, err
	}
	named, err := schemaOf(s.schema)
	if err != nil {
		return nil, err
	}
	s.named = named
	return s, nil
}

// Load implements [dapi.TokenStore]. If the stored value cannot be read, Load returns the zero session, and the next
// login replaces the value.
func (s *TokenStore) Load(ctx context.Context) (dapi.Session, error) {
	var data []byte
	err := s.db.QueryRow(ctx, s.named.In("SELECT session FROM {schema}.fleet_session WHERE credential = $1"),
		s.credential).Scan(&data)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && len(data) == 0 {
		return dapi.Session{}, nil
	}
	if err != nil {
		return dapi.Session{}, withAdvice(err)
	}
	session, err := s.protection.Open(data, s.credential)
	if err != nil {
		return dapi.Session{}, nil //nolint:nilerr // the error of the value, not of the store
	}
	return session, nil
}

// Save implements [dapi.TokenStore].
func (s *TokenStore) Save(ctx context.Context, session dapi.Session) error {
	data, err := s.protection.Seal(session, s.credential)
	if err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, s.named.In("INSERT INTO {schema}.fleet_session (credential, session) VALUES ($1, $2) "+
		"ON CONFLICT (credential) DO UPDATE SET session = excluded.session"), s.credential, data)
	return withAdvice(err)
}

// Lock implements [dapi.SessionLocker].
func (s *TokenStore) Lock(ctx context.Context, owner string, lasts time.Duration) (bool, error) {
	done, err := s.db.Exec(ctx, s.named.In("INSERT INTO {schema}.fleet_session AS s "+
		"(credential, lock_owner, lock_ends) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 microsecond') "+
		"ON CONFLICT (credential) DO UPDATE SET lock_owner = excluded.lock_owner, lock_ends = excluded.lock_ends "+
		"WHERE s.lock_owner IS NULL OR s.lock_owner = excluded.lock_owner OR s.lock_ends <= clock_timestamp()"),
		s.credential, owner, lasts.Microseconds())
	return err == nil && done.RowsAffected() == 1, withAdvice(err)
}

// Unlock implements [dapi.SessionLocker].
func (s *TokenStore) Unlock(ctx context.Context, owner string) error {
	_, err := s.db.Exec(ctx, s.named.In("UPDATE {schema}.fleet_session SET lock_owner = NULL, lock_ends = NULL "+
		"WHERE credential = $1 AND lock_owner = $2"), s.credential, owner)
	return withAdvice(err)
}
