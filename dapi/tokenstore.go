package dapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"math"
	jitter "math/rand/v2"
	"net/http"
	"strings"
	"time"

	moneymovement "github.com/moneymovement/moneymovement-go"
	"github.com/moneymovement/moneymovement-go/errors"
	"github.com/moneymovement/moneymovement-go/internal/codec"
	"github.com/moneymovement/moneymovement-go/internal/errorbase"
	"github.com/moneymovement/moneymovement-go/internal/hidden"
	"github.com/moneymovement/moneymovement-go/internal/outcome"
	"github.com/moneymovement/moneymovement-go/internal/sessionfile"
	"github.com/moneymovement/moneymovement-go/internal/transport"
)

// TokenStore keeps a session for other processes with the same credential, and for the next start of the program. They
// then need no login.
//
// Use one store for one credential. If two credentials share a store, each logs in when it finds the session of the
// other. A TokenStore must be safe for concurrent use. Its errors are logged. They fail calls only if
// [Developer].StoreRequired is set. A store for many processes should be a [SessionLocker] as well.
type TokenStore interface {
	// Load returns the stored session, or the zero Session if there is none.
	Load(ctx context.Context) (Session, error)
	// Save replaces the stored session.
	Save(ctx context.Context, session Session) error
}

// Session is the result of a login. The access token is valid for 60 minutes, the refresh token for 60 days. Printing
// or encoding a Session does not show its tokens. [Session.Export] returns the bytes to store, and [ImportSession]
// reads them.
type Session struct {
	AccessToken      moneymovement.Secret
	RefreshToken     moneymovement.Secret
	ExpiresAt        time.Time // when the access token expires
	RefreshExpiresAt time.Time // when the refresh token expires
	// Credential identifies the service, the account and the key of the session: see [Developer.Credential]. The SDK
	// does not use a stored session with another credential, or with none. It would act for another account, or send
	// its tokens to another service.
	Credential string

	// the access token's lifetime from its request on; 0 if another process made the request
	lives  time.Duration
	bearer hidden.Value[[]string] // header value, made once
}

// The stated lifetimes, for a token whose response does not say how long it lives.
const (
	accessLifetime  = 60 * time.Minute
	refreshLifetime = 60 * 24 * time.Hour
)

// sessionOf returns the session of a token response. It counts the lifetimes from the time of the request, so the
// session never seems to live longer than it does. It refuses an access token that cannot be sent in a header.
func sessionOf(operation string, grant *tokenGrant, asked time.Time) (Session, error) {
	if !sendable(grant.AccessToken) {
		return Session{}, &errors.UnexpectedResponse{
			// a login moves no money
			CallInfo: errorbase.With(errors.CallInfo{Operation: operation}, errorbase.Facts{ReadOnly: true}),
			Status:   http.StatusCreated, Err: errUnsendable,
		}
	}
	lives := lifetime(grant.ExpiresIn, accessLifetime)
	return Session{
		lives:            lives,
		AccessToken:      grant.AccessToken,
		RefreshToken:     grant.RefreshToken,
		ExpiresAt:        asked.Add(lives),
		RefreshExpiresAt: asked.Add(lifetime(grant.RefreshExpiresIn, refreshLifetime)),
	}, nil
}

// lifetime returns so many seconds, or the stated lifetime if there are none or too many.
func lifetime(seconds int, stated time.Duration) time.Duration {
	if seconds <= 0 || seconds >= math.MaxInt32 {
		return stated
	}
	return time.Duration(seconds) * time.Second
}

var errUnsendable = errors.New("the access token is empty, or has characters that a header cannot carry")

// sendable reports that a header can carry the token.
func sendable(secret moneymovement.Secret) bool {
	token := secret.Reveal()
	return token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

// fresh reports that the access token need not be renewed yet.
func (s *Session) fresh(now time.Time) bool {
	ahead := refreshBefore
	if s.lives > 0 {
		ahead = min(ahead, s.lives/refreshShare)
	}
	return !s.AccessToken.IsZero() && now.Add(ahead).Before(s.ExpiresAt)
}

// usable reports that the access token has not expired.
func (s *Session) usable(now time.Time) bool {
	return !s.AccessToken.IsZero() && now.Before(s.ExpiresAt)
}

func (s *Session) refreshable(now time.Time) bool {
	return !s.RefreshToken.IsZero() && now.Before(s.RefreshExpiresAt)
}

func (s Session) newerThan(other Session) bool {
	return !s.AccessToken.Equal(other.AccessToken) && s.ExpiresAt.After(other.ExpiresAt)
}

func (s Session) withBearer() Session {
	s.bearer = hidden.Hide([]string{"Bearer " + s.AccessToken.Reveal()})
	return s
}

// exportedSession is the format of Export.
type exportedSession struct {
	AccessToken      string    `json:"accessToken"`
	RefreshToken     string    `json:"refreshToken"`
	ExpiresAt        time.Time `json:"expiresAt"`
	RefreshExpiresAt time.Time `json:"refreshExpiresAt"`
	Credential       string    `json:"credential,omitempty"`
}

// Export returns the session with its tokens as bytes, for a [TokenStore] to keep. The bytes are as secret as a
// password: store them where only your program can read them.
func (s Session) Export() ([]byte, error) {
	return codec.Marshal(exportedSession{s.AccessToken.Reveal(), s.RefreshToken.Reveal(), s.ExpiresAt,
		s.RefreshExpiresAt, s.Credential})
}

// ImportSession reads the bytes of [Session.Export]. It fails with *errors.InvalidInput if they have another format. A
// missing field is empty.
func ImportSession(data []byte) (Session, error) {
	var exported exportedSession
	if err := codec.Unmarshal(data, &exported); err != nil {
		return Session{}, &errors.InvalidInput{CallInfo: errors.CallInfo{Operation: "ImportSession"},
			Fields: []errors.Field{{
				// the cause could quote a token
				Field: "session", Code: "unreadable",
				Message: fmt.Sprintf("is not in the format of Session.Export (%d bytes)", len(data)),
			}}}
	}
	return Session{
		AccessToken:  moneymovement.NewSecret(exported.AccessToken),
		RefreshToken: moneymovement.NewSecret(exported.RefreshToken),
		ExpiresAt:    exported.ExpiresAt, RefreshExpiresAt: exported.RefreshExpiresAt, Credential: exported.Credential,
	}, nil
}

// String returns a text without the tokens, for logs.
func (s Session) String() string {
	if s.AccessToken.IsZero() {
		return "dapi.Session(none)"
	}
	return "dapi.Session(redacted, access until " + s.ExpiresAt.UTC().Format(time.RFC3339) + ")"
}

// NewFileTokenStore returns a [TokenStore] that keeps a session in a file that only its owner can read (mode 0600).
// Processes that share the file lock it. Load and Save wait at most ten seconds for the lock.
//
// The file holds two sessions. Save writes the new one beside the old one, and Load returns the newest one that is
// complete. So if a process is killed or a machine loses power, the file still has the new session or the old one.
// Save makes no temporary file, and removes or replaces none: the path can be a symbolic link to an existing file, or a
// file that is mounted by itself. If a link leads to no file, Save fails. If the system supports it, Save also syncs
// the folder to the disk.
//
// Save fails for a file that holds something else than sessions. A file of sessions that has no complete one, which a
// full disk may leave, is written again.
//
// # Unix
//
// On Unix systems, which include macOS, Load and Save fail for
//
//   - a file that other users can read or write,
//   - a file that belongs neither to the user of the process nor to root,
//   - a file that is not a regular file,
//   - a file below a folder, at any level, in which every user can replace files,
//   - a file on a volume that does not support permission bits or locks.
//
// # Other systems
//
// On Windows, Load and Save check only the format and the length of the file. The folder decides who can read its
// files, so use a folder in the user's profile.
//
// On js/wasm, wasip1, Solaris and AIX, processes cannot lock the file. If two processes save at the same time, the file
// has the session of one of them, or none.
func NewFileTokenStore(path string) TokenStore { return fileTokenStore{sessionfile.New(path)} }

type fileTokenStore struct{ file *sessionfile.File }

// Load implements TokenStore.
func (f fileTokenStore) Load(ctx context.Context) (Session, error) {
	if err := outcome.RequireContext(ctx, "NewFileTokenStore"); err != nil {
		return Session{}, err
	}
	data, err := f.file.Load(ctx)
	if err != nil || data == nil {
		return Session{}, err
	}
	return ImportSession(data)
}

// Save implements TokenStore.
func (f fileTokenStore) Save(ctx context.Context, session Session) error {
	if err := outcome.RequireContext(ctx, "NewFileTokenStore"); err != nil {
		return err
	}
	data, err := session.Export()
	if err != nil {
		return err
	}
	return f.file.Save(ctx, data)
}

// stored returns the session of this credential from the store, or the zero Session. It fails if the store does.
func (s *session) stored(ctx context.Context) (Session, error) {
	if s.developer.Store == nil {
		return Session{}, nil
	}
	const message = "moneymovement could not load the session from the token store"
	stored, err := s.developer.Store.Load(ctx)
	if err != nil {
		s.logStore(ctx, message, err)
		return Session{}, err
	}
	switch {
	case stored.Credential == "" && (!stored.AccessToken.IsZero() || !stored.RefreshToken.IsZero()):
		err = errors.New("the stored session has no credential, so it was not used")
	case stored.Credential != "" && stored.Credential != s.credential:
		err = errors.New("the stored session has another credential, so it was not used: " +
			"use one store for each credential")
	case !stored.AccessToken.IsZero() && !sendable(stored.AccessToken):
		err = errUnsendable
	}
	if err != nil {
		s.logStore(ctx, message, err)
		return Session{}, nil // a new session replaces it
	}
	return stored, nil
}

func (s *session) save(ctx context.Context, renewed Session) {
	if s.developer.Store == nil {
		return
	}
	if err := s.developer.Store.Save(ctx, renewed); err != nil {
		s.logStore(ctx, "moneymovement could not save the session to the token store", err)
	}
}

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
	// lockPollFirst and lockPollMost bound the pauses between two reads of the store, while another process renews the
	// session.
	lockPollFirst, lockPollMost = 20 * time.Millisecond, 500 * time.Millisecond
	// withoutStoreWithin spreads the logins of many processes whose store is unavailable.
	withoutStoreWithin = time.Second
	// unlockTimeout bounds the call that ends a lock. If it fails, the lock ends by itself.
	unlockTimeout = 5 * time.Second
)

// obtainShared gets a session as one of many processes: a newer one from the store, or one that it gets while it holds
// the lock. After it has the lock, it reads the store again, because another process may just have released the lock.
func (s *session) obtainShared(ctx context.Context, store SessionLocker, current Session) (Session, error) {
	owner := rand.Text()
	for pause := lockPollFirst; ; pause = min(2*pause, lockPollMost) {
		locked, err := store.Lock(ctx, owner, lockLasts)
		if err != nil {
			return s.obtainWithoutStore(ctx, current, fmt.Errorf("lock of the session: %w", err))
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
			return s.obtainWithoutStore(ctx, current, err)
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
		return s.obtainWithoutStore(ctx, current, err)
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

// obtainWithoutStore gets a session without the store, or fails if the developer does not want that. Many processes may
// have lost the store at the same time, so each waits for a moment of its own.
func (s *session) obtainWithoutStore(ctx context.Context, current Session, unavailable error) (Session, error) {
	if s.developer.StoreRequired {
		return Session{}, &TokenStoreUnavailable{Err: unavailable}
	}
	s.logStore(ctx, "moneymovement renews the session without the token store", unavailable)
	pause := jitter.N(withoutStoreWithin) //gosec:disable G404 -- spreads processes, and hides nothing
	if err := transport.Pause(ctx, pause); err != nil {
		return Session{}, err
	}
	return s.obtainFrom(ctx, current, Session{})
}

func (s *session) logStore(ctx context.Context, message string, err error) {
	s.logger.LogAttrs(ctx, slog.LevelWarn, message, slog.String("error", err.Error()))
}
