package dapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	jitter "math/rand/v2"
	"strings"
	"time"

	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// SessionLocker is a [TokenStore] with a lock, so that one process at a time logs in or refreshes the token. The others
// wait, and take the new session from the store: a fleet of processes needs one login. The stores of the modules
// fleet/redis and payments/postgres/fleetpostgres have it.
//
// The lock has an owner and an end. A process that dies leaves the lock behind, and it ends by itself.
type SessionLocker interface {
	TokenStore
	// Lock takes the lock for the owner, for a time from now on by the store's clock. If the owner holds the lock
	// already, Lock extends it. If another owner holds it, Lock changes nothing and returns false at once.
	Lock(ctx context.Context, owner string, lasts time.Duration) (bool, error)
	// Unlock ends the lock if the owner holds it.
	Unlock(ctx context.Context, owner string) error
}

// TokenStoreUnavailable is the error of calls that need a new token while the [TokenStore] cannot be reached and
// [Developer].StoreRequired is set.
type TokenStoreUnavailable struct {
	Err error // what the store returned
}

// Error returns one line that is safe to log.
func (e *TokenStoreUnavailable) Error() string {
	reason := strings.Join(strings.Fields(e.Err.Error()), " ") // that of a database can have several lines
	return errorbase.Text(e, "the token store cannot be used, and StoreRequired allows no login without it: "+reason)
}

// Unwrap returns Err.
func (e *TokenStoreUnavailable) Unwrap() error { return e.Err }

const (
	// lockLasts is how long the lock of a process that died keeps the others from a renewal.
	lockLasts = 15 * time.Second
	// lockExtended is how often a renewal extends its lock.
	lockExtended = lockLasts / 3
	// lockLooks are the pauses between two looks at the store, while another process renews the session.
	lockLookFirst, lockLookMost = 20 * time.Millisecond, 500 * time.Millisecond
	// aloneWithin spreads the logins of many processes whose store is away.
	aloneWithin = time.Second
	// unlockTimeout bounds the call that ends a lock. If it fails, the lock ends by itself.
	unlockTimeout = 5 * time.Second
)

// obtainOnce gets a session as one of many processes: a newer one from the store, or one that it gets while it holds
// the lock. After it has the lock, it looks at the store again, because another process may have just left.
func (s *session) obtainOnce(ctx context.Context, store SessionLocker, current Session) (Session, error) {
	owner := rand.Text()
	for pause := lockLookFirst; ; pause = min(2*pause, lockLookMost) {
		locked, err := store.Lock(ctx, owner, lockLasts)
		if err != nil {
			return s.obtainAlone(ctx, current, fmt.Errorf("lock of the session: %w", err))
		}
		if locked {
			return s.obtainLocked(ctx, store, owner, current)
		}
		pause := pause/2 + jitter.N(pause/2) //gosec:disable G404 -- spreads processes, and hides nothing
		if err = transport.Pause(ctx, pause); err != nil {
			return Session{}, err
		}
		stored, err := s.stored(ctx)
		if err != nil {
			return s.obtainAlone(ctx, current, err)
		}
		if stored.newerThan(current) && stored.usable(time.Now()) {
			return stored, nil
		}
	}
}

func (s *session) obtainLocked(
	ctx context.Context, store SessionLocker, owner string, current Session,
) (Session, error) {
	extending, stop := context.WithCancel(ctx)
	extended := make(chan struct{})
	go func() {
		defer close(extended)
		s.extend(extending, store, owner)
	}()
	defer func() {
		stop()
		<-extended // otherwise it could take the lock again
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), unlockTimeout)
		defer cancel()
		if err := store.Unlock(ctx, owner); err != nil {
			s.logStore(ctx, "moneymovement could not end the lock of the session, which now ends by itself", err)
		}
	}()
	stored, err := s.stored(ctx)
	if err != nil {
		return s.obtainAlone(ctx, current, err)
	}
	return s.obtainFrom(ctx, current, stored)
}

// extend keeps the lock while a login takes long, for example because it waits for its rate window.
func (s *session) extend(ctx context.Context, store SessionLocker, owner string) {
	for transport.Pause(ctx, lockExtended) == nil {
		if _, err := store.Lock(ctx, owner, lockLasts); err != nil && ctx.Err() == nil {
			s.logStore(ctx, "moneymovement could not extend the lock of the session", err)
		}
	}
}

// obtainAlone gets a session without the store, or fails if the developer does not want that. Many processes may have
// lost the store at the same time, so each waits for a moment of its own.
func (s *session) obtainAlone(ctx context.Context, current Session, away error) (Session, error) {
	if s.developer.StoreRequired {
		return Session{}, &TokenStoreUnavailable{Err: away}
	}
	s.logStore(ctx, "moneymovement renews the session without the token store", away)
	pause := jitter.N(aloneWithin) //gosec:disable G404 -- spreads processes, and hides nothing
	if err := transport.Pause(ctx, pause); err != nil {
		return Session{}, err
	}
	return s.obtainFrom(ctx, current, Session{})
}

func (s *session) logStore(ctx context.Context, message string, err error) {
	s.logger.LogAttrs(ctx, slog.LevelWarn, message, slog.String("error", err.Error()))
}
